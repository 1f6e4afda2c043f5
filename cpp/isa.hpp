// The loops that are compiled once per instruction set, and what they work on.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace localmap {

// Numbers that are worked on at once, on every instruction set (lanes.hpp).
constexpr int kLanes = 8;

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

// How often a pair is there, in the lowest bits of an entry of a list (lists.hpp): as a
// trusted near pair, as any other, twice, or as one of each. The last code counts nothing.
constexpr int kCodeBits = 3;
constexpr uint32_t kCodeMask = (1u << kCodeBits) - 1;
constexpr uint32_t kTrusted = 0, kDoubted = 1, kTwiceTrusted = 2, kTwiceDoubted = 3,
                   kBoth = 4, kNobody = 7;
constexpr float kTimesTrusted[kCodeMask + 1] = {1, 0, 2, 0, 1, 0, 0, 0};
constexpr float kTimesDoubted[kCodeMask + 1] = {0, 1, 0, 2, 1, 0, 0, 0};

// Lists of all points, one kind of pair: those of point i are entries[starts[i]] up to
// entries[starts[i + 1]]. No starts: no pairs.
struct Lists {
    const int64_t* starts;
    const uint32_t* entries;
};

// Eight circles side by side, one for each lane (circles.hpp): at each place one point of
// each, axis by axis, each axis `stride` numbers long. The first points of a circle stand
// again behind its last. `force` is what is gathered on them.
struct Ring {
    int64_t dim, places, shortest, stride;  // shortest: points of the smallest circle
    const float* at;
    float* force;
};

// Two points of one circle, by their places and its lane.
struct RingPair {
    uint32_t p, q, lane;
};

// Lanes in which a point is not to be drawn, `shift` places on from another.
struct Refusal {
    int64_t shift;
    uint32_t lanes;
};

constexpr size_t kBesides = 8;  // numbers that are put aside at once

constexpr int kQueries = 12;  // with kPanel: as many sums as a CPU has registers for
constexpr int kPanel = 16;
constexpr size_t kExact = 4;  // rows whose exact distances from one are taken at once
constexpr int kByteRows = 8, kBytePanel = 48;  // columns of bytes multiplied at once

struct Rows {
    // Add to G the forces on points first .. last - 1 by their lists, near, mid-near and
    // further; returns the loss of their pairs, each of which is also another's.
    double (*gather)(const float* Y, int64_t dim, int64_t first, int64_t last,
                     const Lists lists[3], const Weights&, float* G, bool with_loss);
    // Push the points at each place p in [first, last) and those s places on apart, for
    // s = 1, 2, ...: in the lanes that lanes[starts[p]], lanes[starts[p] + 1], ... name, by
    // further pairs of a weight; returns the loss if asked for.
    double (*push)(const Ring&, int64_t first, int64_t last, const int64_t* starts,
                   const uint8_t* lanes, float weight, bool with_loss);
    // The same for pairs that stand for themselves.
    double (*push_pairs)(const Ring&, const RingPair*, int64_t count, float weight);
    // Choose those lanes for the points at one place; returns how many shifts it took, and
    // adds to the counts of partners (push.hpp).
    int64_t (*draw)(const Ring&, int64_t p, float limit, int64_t slots, const Refusal*,
                    int32_t* counts, uint8_t* lanes);
    // Move `count` numbers of Y by Adam along their forces G, and clear G.
    void (*move)(const Adam&, float* Y, float* G, float* m, float* v, int64_t count);
    // Bring the least of some numbers to the front, in no order: at least `keep`, no more than
    // `most`. Tells how many in `count` and returns the greatest of those. `aside` has room
    // for kBesides more than there are.
    uint64_t (*bring_least)(uint64_t* some, size_t all, size_t keep, size_t most,
                            uint64_t* aside, size_t* count);
    // Candidates (knn.hpp) of the points in some lanes of a panel, those up to `last` and not
    // `self`: returns how many. `out` has room for a whole panel, all of which may be written.
    size_t (*collect)(const float* away, const int32_t* points, uint32_t lanes, int32_t self,
                      uint64_t last, uint64_t* out);
    // Rows of d numbers, those that `rows` names, as a panel; nothing where it is below 0.
    void (*pack)(const float* Z, int64_t d, const int32_t* rows, float* panel);
    // Squared distances of up to kQueries queries, rows of d numbers, to the kPanel points
    // of a panel, d x kPanel. Returns a bit for each query with some below its threshold;
    // their `below` has a bit for each of these, and only their distances are whole. If
    // `theirs` are the thresholds of the points, a bit is also for each query below one
    // of them, and `below_theirs` tells whose.
    uint32_t (*distances)(const float* const* queries, int count, const float* panel,
                          int64_t d, const float* thresholds, const float* theirs,
                          float* out, uint32_t* below, uint32_t* below_theirs);
    // Squared Euclidean distance of two rows of d numbers, summed in double: rows of
    // integers have exact distances, so equal distances stay equal in any unit.
    double (*squared_distance)(const float* a, const float* b, int64_t d);
    // The same of kExact rows and one.
    void (*squared_distances)(const float* a, const float* const* others, int64_t d,
                              double* out);
    // How many of `count` numbers are less than each of them: its place once they are sorted.
    void (*ranks)(const double* numbers, int64_t count, int32_t* less);
    // Sum of the distances from `point` to `count` points stored axis by axis, each
    // axis `stride` numbers long.
    double (*distance_sum)(const float* point, const float* axes, int64_t stride,
                           int64_t dim, int64_t count);
    // kQueries rows of D numbers times sixteen columns (placing.hpp).
    void (*project)(const float* const* rows, const float* columns, int64_t D, float* out);
    // How many of up to kQueries rows lie near each of sixteen points (placing.hpp).
    void (*within)(const float* const* queries, const int32_t* found, int count,
                   const float* panel, const int32_t* points, int64_t d, const float* sure,
                   const float* doubtful, int32_t* counts, uint32_t* doubts);
    void (*settle)(const Settling&);
    // Sums of the products of kByteRows columns of bytes with the kBytePanel of a panel,
    // less 128 each (bytes.hpp). For CPUs that multiply bytes.
    void (*byte_products)(const uint8_t* some, const uint8_t* panel, int64_t quads,
                          int32_t* out);
    const char* name;
};

// The fastest set this CPU can run.
const Rows& rows();

// Whether this CPU has an instruction for sums of products of bytes.
bool multiplies_bytes();

}  // namespace localmap
