// Squared distances of a few queries to sixteen points: the inner block of the search.
//
// Differences are squared as they are. Products, |q|^2 + |x|^2 - 2 q.x, would save one
// of two instructions and lose all digits where groups are tight and far apart. These
// distances only choose candidates; those that leave the search are computed afresh
// (squared_distance), so fused multiply-add is welcome.
#pragma once

#include "isa.hpp"
#include "lanes.hpp"

namespace localmap {
namespace LOCALMAP_ISA {

static inline Lanes multiply_add(Lanes a, Lanes b, Lanes sum) {
#if defined(__FMA__)
    return (Lanes)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)sum);
#else
    return a * b + sum;
#endif
}

// `queries` are kQueries rows of d numbers, `panel` is d x kPanel. Writes the squared
// distances and, per query, a bit for each one below its threshold.
static void distances(const float* const* queries, const float* panel, int64_t d,
                      const float* thresholds, float* out, uint32_t* below) {
    Lanes total[kQueries][2];
    for (int q = 0; q < kQueries; ++q) total[q][0] = total[q][1] = all(0.0f);
    const float* x = panel;
    const float* const query[kQueries] = {queries[0], queries[1], queries[2],
                                          queries[3], queries[4], queries[5]};
    for (int64_t k = 0; k < d; ++k, x += kPanel) {
        const Lanes low = load(x), high = load(x + kLanes);
#pragma GCC unroll 6
        for (int q = 0; q < kQueries; ++q) {
            const Lanes value = all(query[q][k]);
            const Lanes first = value - low, second = value - high;
            total[q][0] = multiply_add(first, first, total[q][0]);
            total[q][1] = multiply_add(second, second, total[q][1]);
        }
    }
    for (int q = 0; q < kQueries; ++q) {
        __builtin_memcpy(out + q * kPanel, total[q], sizeof total[q]);
        const Lanes threshold = all(thresholds[q]);
        const Mask low = total[q][0] < threshold, high = total[q][1] < threshold;
#if defined(__AVX2__)
        const uint32_t bits =
            static_cast<uint32_t>(_mm256_movemask_ps((__m256)low)) |
               static_cast<uint32_t>(_mm256_movemask_ps((__m256)high)) << kLanes;
#else
        uint32_t bits = 0;
        for (int lane = 0; lane < kLanes; ++lane)
            bits |= (low[lane] ? 1u : 0u) << lane |
                    (high[lane] ? 1u : 0u) << (lane + kLanes);
#endif
        below[q] = bits;
    }
}

}  // namespace LOCALMAP_ISA
}  // namespace localmap
