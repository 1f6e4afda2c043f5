// Scores of a few queries against sixteen points: the inner block of the search.
//
// The score of point x for query q is q.x - |x|^2 / 2, so the largest score is the
// smallest distance. Scores only choose candidates; the distances that leave the
// search are computed afresh (squared_distance), so fused multiply-add is welcome.
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

// `queries` is d x kQueries, `panel` (1 + d) x kPanel with -|x|^2 / 2 in its first row.
// Writes the scores and, per query, a bit for each score above its threshold.
static void scores(const float* queries, const float* panel, int64_t d,
                   const float* thresholds, float* out, uint32_t* above) {
    Lanes total[kQueries][2];
    for (int q = 0; q < kQueries; ++q) {
        total[q][0] = load(panel);
        total[q][1] = load(panel + kLanes);
    }
    const float* x = panel + kPanel;
    for (int64_t k = 0; k < d; ++k, x += kPanel, queries += kQueries) {
        const Lanes low = load(x), high = load(x + kLanes);
#pragma GCC unroll 6
        for (int q = 0; q < kQueries; ++q) {
            const Lanes value = all(queries[q]);
            total[q][0] = multiply_add(value, low, total[q][0]);
            total[q][1] = multiply_add(value, high, total[q][1]);
        }
    }
    for (int q = 0; q < kQueries; ++q) {
        __builtin_memcpy(out + q * kPanel, total[q], sizeof total[q]);
        const Lanes threshold = all(thresholds[q]);
        uint32_t bits = 0;
        const Mask low = total[q][0] > threshold, high = total[q][1] > threshold;
#if defined(__AVX2__)
        bits = static_cast<uint32_t>(_mm256_movemask_ps((__m256)low)) |
               static_cast<uint32_t>(_mm256_movemask_ps((__m256)high)) << kLanes;
#else
        for (int lane = 0; lane < kLanes; ++lane)
            bits |= (low[lane] ? 1u : 0u) << lane |
                    (high[lane] ? 1u : 0u) << (lane + kLanes);
#endif
        above[q] = bits;
    }
}

}  // namespace LOCALMAP_ISA
}  // namespace localmap
