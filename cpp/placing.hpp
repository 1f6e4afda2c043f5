// New rows, eight lanes at a time: their projection, what their near pairs share with
// them, and their way into a finished map. No lane looks at another, so that what becomes
// of a row does not depend on those it comes with.
#pragma once

#include "adam.hpp"
#include "distance.hpp"
#include "forces.hpp"
#include "isa.hpp"
#include "lanes.hpp"

namespace localmap {
namespace LOCALMAP_ISA {

// Which of some rows lie near each of sixteen points: within `sure` they are counted, those
// between that and `doubtful` get a bit. These distances may be fused: what they leave in
// doubt is settled by exact ones. No point counts itself: `points` and `found` name them.
static void within(const float* const* queries, const int32_t* found, int count,
                   const float* panel, const int32_t* points, int64_t d, const float* sure,
                   const float* doubtful, int32_t* counts, uint32_t* doubts) {
    const Sixteen here = sixteen(sure), there = sixteen(doubtful);
    Mask counted[2], own[2];
    __builtin_memcpy(counted, counts, sizeof counted);
    __builtin_memcpy(own, points, sizeof own);
    for (int first = 0; first < count; first += kSeats) {
        const float* query[kSeats];
        for (int q = 0; q < kSeats; ++q)
            query[q] = queries[first + q < count ? first + q : first];
        Sixteen total[kSeats] = {};
        const float* at = panel;
        for (int64_t k = 0; k < d; ++k, at += kPanel) {
            const Sixteen x = sixteen(at);
#pragma GCC unroll 12
            for (int q = 0; q < kSeats; ++q) add_square(x, query[q][k], total[q]);
        }
#pragma GCC unroll 12
        for (int q = 0; q < kSeats; ++q) {
            if (first + q >= count) break;
            const uint32_t inside = less(total[q], here);
            doubts[first + q] = less(total[q], there) & ~inside;
            for (int half = 0; half < 2; ++half) {  // lanes are -1 where they are set
                counted[half] -= lanes_of(inside >> half * kLanes);
                counted[half] += own[half] == found[first + q];
            }
        }
    }
    __builtin_memcpy(counts, counted, sizeof counted);
}

// Some rows of D numbers times sixteen columns, which are stored row by row, each sum in
// the order of the rows of C: the same bits whatever other rows there are.
static void project(const float* const* rows_in, const float* columns, int64_t D,
                    float* out) {
    for (int first = 0; first < kQueries; first += kSeats) {
        const float* x[kSeats];
        for (int q = 0; q < kSeats; ++q) x[q] = rows_in[first + q];
        Sixteen total[kSeats] = {};
        for (int64_t k = 0; k < D; ++k) {
            const Sixteen column = sixteen(columns + k * kPanel);
#pragma GCC unroll 12
            for (int q = 0; q < kSeats; ++q) add_product(column, x[q][k], total[q]);
        }
        __builtin_memcpy(out + first * kPanel, total, sizeof total);
    }
}

// The axes of eight points: in registers where their number is known.
template <int kDim>
struct Axes {
    Lanes at[kDim];
    Axes(float*, int64_t) {}
    Lanes get(int64_t a) const { return at[a]; }
    void set(int64_t a, Lanes value) { at[a] = value; }
};

template <>
struct Axes<0> {
    float* at;
    Axes(float* room, int64_t) : at(room) {}
    Lanes get(int64_t a) const { return load(at + a * kLanes); }
    void set(int64_t a, Lanes value) { store(value, at + a * kLanes); }
};

template <int kDim>
static void settle_in(const Settling& s) {
    const int64_t dim = kDim == 0 ? s.dim : kDim;
    Axes<kDim> y(s.y, dim), G(s.forces, dim);
    const auto pull = [&](int64_t partner, const auto& kind) {
        const float* const there = s.partners + partner * dim * kLanes;
        Lanes t = all(1.0f);
        for (int64_t a = 0; a < dim; ++a) {
            const Lanes away = y.get(a) - load(there + a * kLanes);
            t += away * away;
        }
        const Lanes force = kind.force(t);
        for (int64_t a = 0; a < dim; ++a)
            G.set(a, G.get(a) + force * (y.get(a) - load(there + a * kLanes)));
    };
    for (int64_t i = 0; i < s.iterations; ++i) {
        for (int64_t a = 0; a < dim; ++a) {
            y.set(a, load(s.y + a * kLanes));
            G.set(a, all(0.0f));
        }
        for (int64_t p = 0; p < s.near; ++p) {
            const Lanes plain = load(s.plain + p * kLanes);
            // A weight of nothing adds nothing: the same bits with and without it.
            if (p < s.trusted)
                pull(p, NearPlain{plain});
            else
                pull(p, Near{plain, load(s.local + p * kLanes)});
        }
        for (int64_t p = 0; p < s.further; ++p)
            pull(s.near + p, Further{load(s.push + p * kLanes)});
        for (int64_t a = 0; a < dim; ++a) store(G.get(a), s.forces + a * kLanes);
        move({s.rates[i], s.beta1, s.beta2}, s.y, s.forces, s.m, s.v, dim * kLanes);
    }
}

static void settle(const Settling& s) {
    if (s.dim == 2) return settle_in<2>(s);
    if (s.dim == 3) return settle_in<3>(s);
    settle_in<0>(s);
}

}  // namespace LOCALMAP_ISA
}  // namespace localmap
