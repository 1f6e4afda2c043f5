// Euclidean distances, eight lanes at a time.
#pragma once

#include "isa.hpp"
#include "lanes.hpp"

namespace localmap {
namespace LOCALMAP_ISA {

static double squared_distance(const float* a, const float* b, int64_t d) {
    typedef double Four __attribute__((vector_size(32)));
    typedef float HalfLanes __attribute__((vector_size(16)));
    Four total[2] = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    int64_t k = 0;
    for (; k + kLanes <= d; k += kLanes) {
        HalfLanes away[2];
        const Lanes both = load(a + k) - load(b + k);
        __builtin_memcpy(away, &both, sizeof both);
        for (int half = 0; half < 2; ++half) {
            const Four wide = __builtin_convertvector(away[half], Four);
            total[half] += wide * wide;
        }
    }
    const Four four = total[0] + total[1];
    double result = (four[0] + four[2]) + (four[1] + four[3]);
    for (; k < d; ++k) {
        const double away = a[k] - b[k];
        result += away * away;
    }
    return result;
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

static inline Lanes multiply_add(Lanes a, Lanes b, Lanes sum) {
#if defined(__FMA__)
    return (Lanes)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)sum);
#else
    return a * b + sum;
#endif
}

// Axes after which a block may be given up: the first principal axes carry most of a
// distance, and a sum that is too long stays so.
constexpr int64_t kAxes = 16;

// Squared distances of a few queries to sixteen points: the inner block of the search.
// Differences are squared as they are. Products, |q|^2 + |x|^2 - 2 q.x, would save one
// of two instructions and lose all digits where groups are tight and far apart. These
// distances only choose candidates; those that leave the search are computed afresh
// (squared_distance), so fused multiply-add is welcome.
//
// `queries` are kQueries rows of d numbers, `panel` is d x kPanel. Writes the squared
// distances and, per query, a bit for each one below its threshold; the distances are
// whole only where some bit is set.
static void distances(const float* const* queries, const float* panel, int64_t d,
                      const float* thresholds, float* out, uint32_t* below) {
    Lanes total[kQueries][2];
    for (int q = 0; q < kQueries; ++q) total[q][0] = total[q][1] = all(0.0f);
    const float* x = panel;
    const float* const query[kQueries] = {queries[0], queries[1], queries[2],
                                          queries[3], queries[4], queries[5]};
    for (int64_t k = 0; k < d;) {
        const int64_t stop = k + kAxes < d ? k + kAxes : d;
        for (; k < stop; ++k, x += kPanel) {
            const Lanes low = load(x), high = load(x + kLanes);
#pragma GCC unroll 6
            for (int q = 0; q < kQueries; ++q) {
                const Lanes value = all(query[q][k]);
                const Lanes first = value - low, second = value - high;
                total[q][0] = multiply_add(first, first, total[q][0]);
                total[q][1] = multiply_add(second, second, total[q][1]);
            }
        }
        Mask hope = {};  // lanes in which some query may still find a neighbour
#pragma GCC unroll 6
        for (int q = 0; q < kQueries; ++q) {
            const Lanes threshold = all(thresholds[q]);
            hope |= (total[q][0] < threshold) | (total[q][1] < threshold);
        }
        if (bits(hope) == 0) {
            for (int q = 0; q < kQueries; ++q) below[q] = 0;
            return;
        }
    }
    for (int q = 0; q < kQueries; ++q) {
        __builtin_memcpy(out + q * kPanel, total[q], sizeof total[q]);
        const Lanes threshold = all(thresholds[q]);
        below[q] = bits(total[q][0] < threshold) | bits(total[q][1] < threshold) << kLanes;
    }
}

}  // namespace LOCALMAP_ISA
}  // namespace localmap
