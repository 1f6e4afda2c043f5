// Euclidean distances, eight lanes at a time.
#pragma once

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

}  // namespace LOCALMAP_ISA
}  // namespace localmap
