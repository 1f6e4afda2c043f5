// Eight float lanes, the unit of all vector arithmetic. Every instruction set works
// on the same eight lanes in the same order. Forces, steps and the distances that leave
// the search use no fused multiply-add, so old and new CPUs give them the same bits.
//
// This header is compiled once per instruction set. It includes nothing that has
// inline functions with external linkage: a copy built for a new CPU must not be
// picked by the linker for an old one.
#pragma once

#include <stdint.h>

#include "isa.hpp"

#if defined(__AVX2__) || defined(__SSE2__)
#include <immintrin.h>
#endif

namespace localmap {
namespace LOCALMAP_ISA {

typedef float Lanes __attribute__((vector_size(32)));
typedef double Pairs4 __attribute__((vector_size(32)));
typedef int32_t Mask __attribute__((vector_size(32)));
// Two neighbouring floats moved as one 8-byte load.
typedef double PointBits __attribute__((may_alias, aligned(4)));

#if defined(__clang__)
#define LOCALMAP_SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define LOCALMAP_SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (Mask){__VA_ARGS__})
#endif

static inline Lanes all(float value) {
    return (Lanes){value, value, value, value, value, value, value, value};
}

// One bit for each lane of a comparison.
static inline uint32_t bits(Mask mask) {
#if defined(__AVX2__)
    return static_cast<uint32_t>(_mm256_movemask_ps((__m256)mask));
#else
    uint32_t result = 0;
    for (int lane = 0; lane < kLanes; ++lane) result |= (mask[lane] ? 1u : 0u) << lane;
    return result;
#endif
}

static inline Lanes root(Lanes value) {
#if defined(__AVX2__)
    return (Lanes)_mm256_sqrt_ps((__m256)value);
#else
    Lanes result;
    for (int lane = 0; lane < kLanes; ++lane)
        result[lane] = __builtin_sqrtf(value[lane]);
    return result;
#endif
}

// One fixed tree: the sum of eight lanes is part of the reproducibility promise.
static inline float sum(Lanes value) {
    const float a = value[0] + value[4], b = value[1] + value[5];
    const float c = value[2] + value[6], d = value[3] + value[7];
    return (a + c) + (b + d);
}

// The same sum of each of eight, a lane for each.
static inline Lanes eight_sums(const Lanes* values) {
    Lanes four[4], two[2];
    for (int i = 0; i < 4; ++i) {  // of i and i + 4: a, b, c, d each
        const Lanes low = LOCALMAP_SHUFFLE(values[i], values[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        const Lanes high = LOCALMAP_SHUFFLE(values[i], values[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
        four[i] = low + high;
    }
    for (int i = 0; i < 2; ++i) {  // of 2 i, 2 i + 1: a + c, b + d each
        const Lanes ab = LOCALMAP_SHUFFLE(four[2 * i], four[2 * i + 1], 0, 1, 8, 9, 4, 5, 12, 13);
        const Lanes cd = LOCALMAP_SHUFFLE(four[2 * i], four[2 * i + 1], 2, 3, 10, 11, 6, 7, 14, 15);
        two[i] = ab + cd;
    }
    return LOCALMAP_SHUFFLE(two[0], two[1], 0, 2, 8, 10, 4, 6, 12, 14) +
           LOCALMAP_SHUFFLE(two[0], two[1], 1, 3, 9, 11, 5, 7, 13, 15);
}

static inline Lanes load(const float* from) {
    Lanes result;
    __builtin_memcpy(&result, from, sizeof result);
    return result;
}

static inline void store(Lanes value, float* to) { __builtin_memcpy(to, &value, sizeof value); }

// A lane for each of eight bits, lowest first.
static inline Mask lanes_of(uint32_t bits) {
    const auto all_bits = static_cast<int32_t>(bits);
    const Mask every = {all_bits, all_bits, all_bits, all_bits,
                        all_bits, all_bits, all_bits, all_bits};
    return (every & (Mask){1, 2, 4, 8, 16, 32, 64, 128}) != 0;
}

// The value where the mask is set, elsewhere nothing.
static inline Lanes only(Mask mask, Lanes value) { return (Lanes)(mask & (Mask)value); }

// Codes of eight entries of a list (isa.hpp), and those of nobody from a place on.
static inline Mask codes_of(const uint32_t* entries) {
    Mask result;
    __builtin_memcpy(&result, entries, sizeof result);
    return result & static_cast<int32_t>(kCodeMask);
}

static inline Mask only_first(int64_t count, Mask code) {
    const auto many = static_cast<int32_t>(count);
    const Mask first = (Mask){0, 1, 2, 3, 4, 5, 6, 7} < many;
    return (code & first) | (~first & static_cast<int32_t>(kNobody));
}

// One of eight numbers for each lane, by its code.
static inline Lanes chosen(Lanes numbers, Mask code) {
#if defined(__AVX2__)
    return (Lanes)_mm256_permutevar8x32_ps((__m256)numbers, (__m256i)code);
#else
    Lanes result;
    for (int lane = 0; lane < kLanes; ++lane) result[lane] = numbers[code[lane]];
    return result;
#endif
}

// x and y of the points of the plane that eight entries of a list name.
static inline void listed_points(const float* Y, const uint32_t* entries, Lanes& x,
                                 Lanes& y) {
    static_assert(sizeof(PointBits) == 1 << kCodeBits);
    const char* from = reinterpret_cast<const char*>(Y);
    auto at = [&](int lane) {
        return *reinterpret_cast<const PointBits*>(from + (entries[lane] & ~kCodeMask));
    };
    const Pairs4 low = {at(0), at(1), at(4), at(5)}, high = {at(2), at(3), at(6), at(7)};
    x = LOCALMAP_SHUFFLE((Lanes)low, (Lanes)high, 0, 2, 8, 10, 4, 6, 12, 14);
    y = LOCALMAP_SHUFFLE((Lanes)low, (Lanes)high, 1, 3, 9, 11, 5, 7, 13, 15);
}

// How far a point is from those of eight entries along one axis.
static inline Lanes listed_axis(const float* Y, int64_t axes, int64_t a, float here,
                                const uint32_t* entries) {
    Lanes result;
    for (int lane = 0; lane < kLanes; ++lane)
        result[lane] = here - Y[int64_t(entries[lane] >> kCodeBits) * axes + a];
    return result;
}

}  // namespace LOCALMAP_ISA
}  // namespace localmap
