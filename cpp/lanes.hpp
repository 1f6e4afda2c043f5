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

constexpr int kLanes = 8;

typedef float Lanes __attribute__((vector_size(32)));
typedef double Pairs4 __attribute__((vector_size(32)));
typedef int32_t Mask __attribute__((vector_size(32)));
// Two neighbouring floats moved as one 8-byte load.
typedef double PointBits __attribute__((may_alias, aligned(4)));
typedef float Point __attribute__((vector_size(8), may_alias, aligned(4)));

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

static inline Lanes load(const float* from) {
    Lanes result;
    __builtin_memcpy(&result, from, sizeof result);
    return result;
}

static inline Point& point(float* Y, int64_t row) {
    return reinterpret_cast<Point*>(Y)[row];
}

static inline Point as_point(PointBits bits) {
    Point result;
    __builtin_memcpy(&result, &bits, sizeof result);
    return result;
}

// x and y of eight points of the plane, chosen by one side of their pairs. The lanes
// come out in the order 0 1 4 5 2 3 6 7.
static inline void load_points(const float* Y, const PairCode* codes,
                               uint16_t PairCode::*side, Lanes& x, Lanes& y) {
    const PointBits* at = reinterpret_cast<const PointBits*>(Y);
    const Pairs4 low = {at[codes[0].*side], at[codes[1].*side], at[codes[2].*side],
                        at[codes[3].*side]};
    const Pairs4 high = {at[codes[4].*side], at[codes[5].*side], at[codes[6].*side],
                         at[codes[7].*side]};
    x = LOCALMAP_SHUFFLE((Lanes)low, (Lanes)high, 0, 2, 8, 10, 4, 6, 12, 14);
    y = LOCALMAP_SHUFFLE((Lanes)low, (Lanes)high, 1, 3, 9, 11, 5, 7, 13, 15);
}

// The way back: eight points in their own order.
static inline void store_points(Lanes x, Lanes y, PointBits* points) {
    const Pairs4 low = (Pairs4)LOCALMAP_SHUFFLE(x, y, 0, 8, 1, 9, 4, 12, 5, 13);
    const Pairs4 high = (Pairs4)LOCALMAP_SHUFFLE(x, y, 2, 10, 3, 11, 6, 14, 7, 15);
    for (int lane = 0; lane < 4; ++lane) {
        points[lane] = low[lane];
        points[lane + 4] = high[lane];
    }
}

// Lanes as pull_plane leaves them (kDim 2), or as they are, in the order of the pairs.
template <int kDim>
static inline Lanes in_order(Lanes value) {
    if constexpr (kDim != 2) return value;
    return LOCALMAP_SHUFFLE(value, value, 0, 1, 4, 5, 2, 3, 6, 7);
}

}  // namespace LOCALMAP_ISA
}  // namespace localmap
