// The loops that are compiled once per instruction set, and what they work on.
#pragma once

#include <stdint.h>

namespace localmap {

// A pair of points, each by its place in its block of rows (tiles.hpp).
struct PairCode {
    uint16_t i, j;
};

struct PairRun {
    const PairCode* codes;
    int64_t count;
};

// The pairs of each kind from one block to another. Sure pairs are near pairs that keep
// PaCMAP's force, however long they become.
struct TilePairs {
    PairRun trusted, near, mid_near, further;
};

// A block's positions and the forces gathered on its points.
struct Side {
    const float* Y;
    float* G;
};

// One iteration's weights; the near force of PaCMAP is multiplied by
// near_plain + near_local / sqrt(t).
struct Weights {
    float near, mid_near, further;
    float near_plain, near_local;
};

struct Adam {
    float rate;  // learning rate with the bias corrections of this iteration
    float beta1, beta2;
};

constexpr int kQueries = 12;  // with kPanel: as many sums as a CPU has registers for
constexpr int kPanel = 16;

struct Rows {
    // Add the forces of a tile to both its sides; returns the loss if asked for.
    double (*pull)(const Side& i, const Side& j, int64_t dim, const TilePairs&,
                   const Weights&, bool with_loss);
    // Move `count` numbers of Y by Adam along their forces G, and clear G.
    void (*move)(const Adam&, float* Y, float* G, float* m, float* v, int64_t count);
    // Squared Euclidean distance of two rows of d numbers, summed in double: rows of
    // integers have exact distances, so equal distances stay equal in any unit.
    double (*squared_distance)(const float* a, const float* b, int64_t d);
    // How many of `count` numbers are less than each of them: its place once they are sorted.
    void (*ranks)(const double* numbers, int64_t count, int32_t* less);
    // Squared distances of up to kQueries queries, rows of d numbers, to the kPanel points
    // of a panel, d x kPanel. Returns a bit for each query with some below its threshold;
    // their `below` has a bit for each of these, and only their distances are whole.
    uint32_t (*distances)(const float* const* queries, int count, const float* panel,
                          int64_t d, const float* thresholds, float* out, uint32_t* below);
    // Sum of the distances from `point` to `count` points stored axis by axis, each
    // axis `stride` numbers long.
    double (*distance_sum)(const float* point, const float* axes, int64_t stride,
                           int64_t dim, int64_t count);
    // out = x C for a row of D numbers and D x d numbers C, summed in order: unlike a
    // product of matrices, the same bits whatever other rows there are.
    void (*project)(const float* x, const float* C, int64_t D, int64_t d, float* out);
    const char* name;
};

// The fastest set this CPU can run.
const Rows& rows();

}  // namespace localmap
