// The loops that are compiled once per instruction set, and what they work on.
#pragma once

#include <stdint.h>

namespace localmap {

// Pairs of one kind, each listed with both its points (compressed rows): the force
// on a point is a sum over its own list, so no two threads write to the same place.
struct PairList {
    const int64_t* starts;    // n + 1
    const int32_t* partners;  // starts[n]
};

// One iteration's weights; the near force of PaCMAP is multiplied by
// near_plain + near_local / sqrt(t).
struct Weights {
    float near, mid_near, further;
    float near_plain, near_local;
};

struct Layout {
    const float* Y;  // n x dim
    int64_t dim;
    PairList near, mid_near, further;
    Weights weights;
};

struct Adam {
    float* m;
    float* v;
    float* Y_next;
    float rate;  // learning rate with the bias corrections of this iteration
    float beta1, beta2;
};

constexpr int kQueries = 6;  // with kPanel: as many sums as a CPU has registers for
constexpr int kPanel = 16;

struct Rows {
    // Gradient of rows [begin, end) into `gradient` (row `begin` first); adds the
    // rows' loss, each pair counted at both its points, to *loss unless null.
    void (*forces)(const Layout&, int64_t begin, int64_t end, float* gradient,
                   double* loss);
    // The same, then Adam: reads Y, writes Y_next.
    void (*step)(const Layout&, const Adam&, int64_t begin, int64_t end, double* loss);
    // Squared Euclidean distance of two rows of d numbers, summed in double: rows of
    // integers have exact distances, so equal distances stay equal in any unit.
    double (*squared_distance)(const float* a, const float* b, int64_t d);
    // Scores of kQueries queries against kPanel points (products.hpp).
    void (*scores)(const float* queries, const float* panel, int64_t d,
                   const float* thresholds, float* out, uint32_t* above);
    // Sum of the distances from `point` to `count` points stored axis by axis, each
    // axis `stride` numbers long.
    double (*distance_sum)(const float* point, const float* axes, int64_t stride,
                           int64_t dim, int64_t count);
    const char* name;
};

// The fastest set this CPU can run.
const Rows& rows();

}  // namespace localmap
