// Euclidean distances, eight lanes at a time.
#pragma once

#include "isa.hpp"
#include "lanes.hpp"

namespace localmap {
namespace LOCALMAP_ISA {

typedef float HalfLanes __attribute__((vector_size(16)));

static inline HalfLanes load_half(const float* from) {
    HalfLanes result;
    __builtin_memcpy(&result, from, sizeof result);
    return result;
}

// Squares of differences, added up in eight lanes.
struct Squares {
#if defined(__AVX512F__)
    __m512d both = _mm512_setzero_pd();
    void add(Lanes away) {
        const __m512d wide = _mm512_maskz_cvtps_pd(0xFF, (__m256)away);
        both += wide * wide;
    }
#else
    Pairs4 both[2] = {};
    void add(Lanes away) {
        HalfLanes parts[2];
        __builtin_memcpy(parts, &away, sizeof parts);
        for (int half = 0; half < 2; ++half) {
            const Pairs4 wide = __builtin_convertvector(parts[half], Pairs4);
            both[half] += wide * wide;
        }
    }
#endif
    // Their sum, and the squares of what is left of two rows from axis k on.
    double sum(const float* a, const float* b, int64_t k, int64_t d) const {
        Pairs4 total[2];
        __builtin_memcpy(total, &both, sizeof total);
        const Pairs4 four = total[0] + total[1];
        double result = (four[0] + four[2]) + (four[1] + four[3]);
        for (; k + 4 <= d; k += 4) {
            const Pairs4 wide = __builtin_convertvector(load_half(a + k) - load_half(b + k), Pairs4);
            const Pairs4 squares = wide * wide;
            for (int lane = 0; lane < 4; ++lane) result += squares[lane];
        }
        for (; k < d; ++k) {
            const double away = a[k] - b[k];
            result += away * away;
        }
        return result;
    }
};

static double squared_distance(const float* a, const float* b, int64_t d) {
    Squares squares;
    int64_t k = 0;
    for (; k + kLanes <= d; k += kLanes) squares.add(load(a + k) - load(b + k));
    return squares.sum(a, b, k, d);
}

// Side by side: none waits for the sums of another.
static void squared_distances(const float* a, const float* const* others, int64_t d,
                              double* out) {
    Squares squares[kExact];
    const float* other[kExact];
    for (size_t t = 0; t < kExact; ++t) other[t] = others[t];
    int64_t k = 0;
    for (; k + kLanes <= d; k += kLanes) {
        const Lanes here = load(a + k);
#pragma GCC unroll 4
        for (size_t t = 0; t < kExact; ++t) squares[t].add(here - load(other[t] + k));
    }
    for (size_t t = 0; t < kExact; ++t) out[t] = squares[t].sum(a, other[t], k, d);
}

// How many of `count` numbers are less than each of them.
static void ranks(const double* numbers, int64_t count, int32_t* less) {
#if defined(__AVX512F__)
    typedef double Some __attribute__((vector_size(64)));
    typedef int64_t Counts __attribute__((vector_size(64)));
#else
    typedef double Some __attribute__((vector_size(32)));
    typedef int64_t Counts __attribute__((vector_size(32)));
#endif
    constexpr int64_t kSome = sizeof(Some) / sizeof(double), kWide = 4;
    // Lanes of some are compared with one after the other: no sum across lanes.
    for (int64_t i = 0; i < count; i += kWide * kSome) {
        const int64_t width = count - i < kWide * kSome ? count - i : kWide * kSome;
        double here[kWide * kSome] = {};
        int64_t there[kWide * kSome];
        __builtin_memcpy(here, numbers + i, static_cast<size_t>(width) * sizeof *here);
        Some ones[kWide];
        Counts found[kWide] = {};
        __builtin_memcpy(ones, here, sizeof ones);
        for (int64_t j = 0; j < count; ++j) {
            const double other = numbers[j];
#pragma GCC unroll 4
            for (int64_t w = 0; w < kWide; ++w) found[w] -= other < ones[w];
        }
        __builtin_memcpy(there, found, sizeof there);
        for (int64_t lane = 0; lane < width; ++lane)
            less[i + lane] = static_cast<int32_t>(there[lane]);
    }
}

static double distance_sum(const float* point, const float* axes, int64_t stride,
                                  int64_t dim, int64_t count) {
    // Float sums stay short, so that a sum over many points keeps double precision.
    constexpr int64_t kRun = 32 * kLanes;
    double total = 0.0;
    int64_t j = 0;
    for (const int64_t whole = count - count % kLanes; j < whole;) {
        const int64_t stop = j + kRun < whole ? j + kRun : whole;
        Lanes run = all(0.0f);
        for (; j < stop; j += kLanes) {
            Lanes squared = all(0.0f);
            for (int64_t a = 0; a < dim; ++a) {
                const Lanes away = load(axes + a * stride + j) - all(point[a]);
                squared += away * away;
            }
            run += root(squared);
        }
        for (int lane = 0; lane < kLanes; ++lane) total += double(run[lane]);
    }
    for (; j < count; ++j) {
        float squared = 0.0f;
        for (int64_t a = 0; a < dim; ++a) {
            const float away = axes[a * stride + j] - point[a];
            squared += away * away;
        }
        total += double(__builtin_sqrtf(squared));
    }
    return total;
}

// Sixteen lanes, a panel's width, and how many queries have sums of them in registers.
#if defined(__AVX512F__)
typedef float Sixteen __attribute__((vector_size(64)));
constexpr int kSeats = 12;

static inline Sixteen sixteen(const float* from) { return (Sixteen)_mm512_loadu_ps(from); }
static inline void add_square(Sixteen x, float query, Sixteen& sum) {
    const __m512 away = _mm512_sub_ps((__m512)x, _mm512_set1_ps(query));
    sum = (Sixteen)_mm512_fmadd_ps(away, away, (__m512)sum);
}
static inline void add_product(Sixteen x, float value, Sixteen& sum) {
    sum += x * (Sixteen)_mm512_set1_ps(value);
}
static inline Sixteen repeated(float x) { return (Sixteen)_mm512_set1_ps(x); }
static inline Sixteen greater_of(Sixteen a, Sixteen b) {
    return (Sixteen)_mm512_maskz_max_ps(0xFFFF, (__m512)a, (__m512)b);
}
typedef __mmask16 Flags;
static inline Flags less(Sixteen sum, Sixteen threshold) {
    return _mm512_cmp_ps_mask((__m512)sum, (__m512)threshold, _CMP_LT_OQ);
}
static inline Flags either(Flags a, Flags b) { return _kor_mask16(a, b); }
#else
struct Sixteen {
    Lanes low, high;
};
constexpr int kSeats = 6;

static inline Sixteen sixteen(const float* from) { return {load(from), load(from + kLanes)}; }
static inline Lanes multiply_add(Lanes a, Lanes b, Lanes sum) {
#if defined(__FMA__)
    return (Lanes)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)sum);
#else
    return a * b + sum;
#endif
}
static inline void add_square(Sixteen x, float query, Sixteen& sum) {
    const Lanes low = x.low - all(query), high = x.high - all(query);
    sum.low = multiply_add(low, low, sum.low);
    sum.high = multiply_add(high, high, sum.high);
}
static inline void add_product(Sixteen x, float value, Sixteen& sum) {
    sum.low += x.low * all(value);
    sum.high += x.high * all(value);
}
static inline Sixteen repeated(float x) { return {all(x), all(x)}; }
static inline Lanes greater_of(Lanes a, Lanes b) { return a > b ? a : b; }
static inline Sixteen greater_of(Sixteen a, Sixteen b) {
    return {greater_of(a.low, b.low), greater_of(a.high, b.high)};
}
typedef uint32_t Flags;
static inline Flags less(Sixteen sum, Sixteen threshold) {
    return bits(sum.low < threshold.low) | bits(sum.high < threshold.high) << kLanes;
}
static inline Flags either(Flags a, Flags b) { return a | b; }
#endif

// Axes after which a block may be given up for the first time: the first principal axes carry
// most of a distance, and a sum that is too long stays so. It is asked again after twice as
// many, and so on: where groups are tight most blocks go at once, elsewhere few ever do.
constexpr int64_t kAxes = 16;

// Squared distances of kCount queries to sixteen points: the inner block of the search.
// Differences are squared as they are. Products, |q|^2 + |x|^2 - 2 q.x, would save one
// of two instructions and lose all digits where groups are tight and far apart. These
// distances only choose candidates; those that leave the search are computed afresh
// (squared_distance), so fused multiply-add is welcome. With kBoth the points look for
// neighbours too, and `theirs` are the thresholds of the panel.
template <int kCount, bool kBoth>
static uint32_t distance_block(const float* const* queries, const float* panel, int64_t d,
                               const float* thresholds, const float* theirs, float* out,
                               uint32_t* below, uint32_t* below_theirs) {
    Sixteen total[kCount] = {};
    const float* query[kCount];
#pragma GCC unroll 12
    for (int q = 0; q < kCount; ++q) query[q] = queries[q];
    const Sixteen limits = kBoth ? sixteen(theirs) : Sixteen{};
    for (int64_t k = 0, some = kAxes; k < d; some *= 2) {
        const int64_t stop = some < d ? some : d;
        for (; k < stop; ++k, panel += kPanel) {
            const Sixteen x = sixteen(panel);
#pragma GCC unroll 12
            for (int q = 0; q < kCount; ++q) add_square(x, query[q][k], total[q]);
        }
        if (k == d) break;
        Flags hope = 0;  // lanes in which someone may still find a neighbour
#pragma GCC unroll 12
        for (int q = 0; q < kCount; ++q) {
            const Sixteen own = repeated(thresholds[q]);
            hope = either(hope, less(total[q], kBoth ? greater_of(own, limits) : own));
        }
        if (hope == 0) return 0;
    }
    uint32_t hits = 0;
#pragma GCC unroll 12
    for (int q = 0; q < kCount; ++q) {
        __builtin_memcpy(out + q * kPanel, &total[q], sizeof total[q]);
        uint32_t some = below[q] = less(total[q], repeated(thresholds[q]));
        if (kBoth) some |= below_theirs[q] = less(total[q], limits);
        hits |= (some != 0 ? 1u : 0u) << q;
    }
    return hits;
}

typedef uint32_t (*DistanceBlock)(const float* const*, const float*, int64_t, const float*,
                                  const float*, float*, uint32_t*, uint32_t*);

template <bool kBoth>
struct Blocks {
    static constexpr DistanceBlock of[] = {
        distance_block<1, kBoth>,  distance_block<2, kBoth>,  distance_block<3, kBoth>,
        distance_block<4, kBoth>,  distance_block<5, kBoth>,  distance_block<6, kBoth>,
#if defined(__AVX512F__)
        distance_block<7, kBoth>,  distance_block<8, kBoth>,  distance_block<9, kBoth>,
        distance_block<10, kBoth>, distance_block<11, kBoth>, distance_block<12, kBoth>,
#endif
    };
};

static uint32_t distances(const float* const* queries, int count, const float* panel,
                          int64_t d, const float* thresholds, const float* theirs,
                          float* out, uint32_t* below, uint32_t* below_theirs) {
    const DistanceBlock* of = theirs == nullptr ? Blocks<false>::of : Blocks<true>::of;
    uint32_t hits = 0;
    for (int first = 0; first < count; first += kSeats) {
        const int some = count - first < kSeats ? count - first : kSeats;
        hits |= of[some - 1](queries + first, panel, d, thresholds + first, theirs,
                             out + first * kPanel, below + first, below_theirs + first)
                << first;
    }
    return hits;
}

}  // namespace LOCALMAP_ISA
}  // namespace localmap
