// Eight float lanes, the unit of all vector arithmetic. Every instruction set works
// on the same eight lanes in the same order and without fused multiply-add, so old
// and new CPUs give the same bits; only the speed differs.
//
// This header is compiled once per instruction set. It includes nothing that has
// inline functions with external linkage: a copy built for a new CPU must not be
// picked by the linker for an old one.
#pragma once

#include <stdint.h>

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

#if defined(__clang__)
#define LOCALMAP_SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define LOCALMAP_SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (Mask){__VA_ARGS__})
#endif

static inline Lanes all(float value) {
    return (Lanes){value, value, value, value, value, value, value, value};
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

// x and y of eight points of the plane. The lanes come out in a fixed order
// (0 1 4 5 2 3 6 7), which no caller needs to know.
static inline void load_points(const float* Y, const int32_t* points, Lanes& x,
                               Lanes& y) {
    const PointBits* at = reinterpret_cast<const PointBits*>(Y);
    const Pairs4 low = {at[points[0]], at[points[1]], at[points[2]], at[points[3]]};
    const Pairs4 high = {at[points[4]], at[points[5]], at[points[6]], at[points[7]]};
    x = LOCALMAP_SHUFFLE((Lanes)low, (Lanes)high, 0, 2, 8, 10, 4, 6, 12, 14);
    y = LOCALMAP_SHUFFLE((Lanes)low, (Lanes)high, 1, 3, 9, 11, 5, 7, 13, 15);
}

// Coordinate `axis` of eight points of a space of `dim` axes.
static inline Lanes load_axis(const float* Y, int64_t dim, int64_t axis,
                              const int32_t* points) {
    Lanes result;
    for (int lane = 0; lane < kLanes; ++lane)
        result[lane] = Y[points[lane] * dim + axis];
    return result;
}

}  // namespace LOCALMAP_ISA
}  // namespace localmap
