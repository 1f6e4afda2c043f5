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

// Eight new points that move at once, each in a lane of its own, among partners that stay.
// Axis by axis, lane by lane: `partners` are near + further of them, `plain` and `local`
// the weights of the near ones, `push` of the others; y, m, v and forces are dim x 8. The
// first `trusted` near pairs have no local part in any lane.
struct Settling {
    int64_t dim, near, trusted, further, iterations;
    const float *partners, *plain, *local, *push;
    const float* rates;  // of each iteration
    float beta1, beta2;
    float *y, *m, *v, *forces;
};

constexpr int kQueries = 12;  // with kPanel: as many sums as a CPU has registers for
constexpr int kPlaced = 6;    // rows that are projected or counted at once
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
    // Six rows of D numbers times sixteen columns (placing.hpp).
    void (*project)(const float* const* rows, const float* columns, int64_t D, float* out);
    // How many of some rows lie near each of sixteen points (placing.hpp).
    void (*within)(const float* const* queries, int count, const float* panel, int64_t d,
                   const float* sure, const float* doubtful, int32_t* counts,
                   uint32_t* doubts);
    void (*settle)(const Settling&);
    const char* name;
};

// The fastest set this CPU can run.
const Rows& rows();

}  // namespace localmap
