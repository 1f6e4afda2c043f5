// Rows turned into panels: sixteen points, axis by axis.
#pragma once

#include "isa.hpp"
#include "lanes.hpp"

namespace localmap {
namespace LOCALMAP_ISA {

// The eight numbers of each of eight rows, number by number.
static inline void turn(Lanes* eight) {
    Lanes pairs[8], fours[8];
    for (int i = 0; i < 8; i += 2) {
        pairs[i] = LOCALMAP_SHUFFLE(eight[i], eight[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
        pairs[i + 1] = LOCALMAP_SHUFFLE(eight[i], eight[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
    }
    for (int i = 0; i < 8; i += 4)
        for (int k = 0; k < 2; ++k) {
            const Lanes a = pairs[i + k], b = pairs[i + k + 2];
            fours[i + 2 * k] = LOCALMAP_SHUFFLE(a, b, 0, 1, 8, 9, 4, 5, 12, 13);
            fours[i + 2 * k + 1] = LOCALMAP_SHUFFLE(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
        }
    for (int k = 0; k < 4; ++k) {
        eight[k] = LOCALMAP_SHUFFLE(fours[k], fours[k + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        eight[k + 4] = LOCALMAP_SHUFFLE(fours[k], fours[k + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
}

// Where a row is less than 0, nothing stands: no point is infinitely far away.
static void pack(const float* Z, int64_t d, const int32_t* rows, float* panel) {
    for (int half = 0; half < kPanel; half += kLanes) {
        const float* from[kLanes];
        for (int lane = 0; lane < kLanes; ++lane) {
            const int64_t row = rows[half + lane];
            from[lane] = row < 0 ? nullptr : Z + row * d;
        }
        int64_t k = 0;
        for (; k + kLanes <= d; k += kLanes) {
            Lanes eight[kLanes];
            for (int lane = 0; lane < kLanes; ++lane)
                eight[lane] = from[lane] ? load(from[lane] + k) : all(__builtin_inff());
            turn(eight);
            for (int axis = 0; axis < kLanes; ++axis)
                store(eight[axis], panel + (k + axis) * kPanel + half);
        }
        for (; k < d; ++k)
            for (int lane = 0; lane < kLanes; ++lane)
                panel[k * kPanel + half + lane] =
                    from[lane] ? from[lane][k] : __builtin_inff();
    }
}

}  // namespace LOCALMAP_ISA
}  // namespace localmap
