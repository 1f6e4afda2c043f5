// Further pairs of eight circles side by side, one for each lane (circles.hpp): the points
// p of all, and those `shift` places on, are two runs of eight numbers an axis. No sum
// runs across lanes.
#pragma once

#include "forces.hpp"
#include "isa.hpp"
#include "lanes.hpp"

namespace localmap {
namespace LOCALMAP_ISA {

// The way from the points at place q to those at place p, by axis.
static inline Lanes away(const Ring& ring, int64_t a, int64_t p, int64_t q) {
    const float* axis = ring.at + a * ring.stride;
    return load(axis + p * kLanes) - load(axis + q * kLanes);
}

template <int kDim>
static double push_in(const Ring& ring, int64_t first, int64_t last, const int64_t* starts,
                      const uint8_t* lanes, float weight, bool with_loss) {
    const int64_t axes = kDim == 0 ? ring.dim : kDim;
    const Further kind = {all(weight)};
    double loss = 0.0;
    for (int64_t p = first; p < last; ++p) {
        Lanes own[kDim == 0 ? 1 : kDim] = {};
        const uint8_t* const chosen = lanes + starts[p];
        const int64_t shifts = starts[p + 1] - starts[p];
        for (int64_t s = 0; s < shifts; ++s) {
            const int64_t q = p + s + 1;
            Lanes t = all(1.0f);
            for (int64_t a = 0; a < axes; ++a) {
                const Lanes d = away(ring, a, p, q);
                t += d * d;
            }
            const Mask these = lanes_of(chosen[s]);
            const Lanes force = only(these, kind.force(t));
            for (int64_t a = 0; a < axes; ++a) {
                const Lanes push = force * away(ring, a, p, q);
                float* const other = ring.force + a * ring.stride + q * kLanes;
                store(load(other) - push, other);
                if constexpr (kDim == 0) {
                    float* const mine = ring.force + a * ring.stride + p * kLanes;
                    store(load(mine) + push, mine);
                } else {
                    own[a] += push;
                }
            }
            if (with_loss) loss += double(sum(only(these, kind.loss(t))));
        }
        if constexpr (kDim != 0)
            for (int64_t a = 0; a < axes; ++a) {
                float* const mine = ring.force + a * ring.stride + p * kLanes;
                store(load(mine) + own[a], mine);
            }
    }
    return loss;
}

static double push(const Ring& ring, int64_t first, int64_t last, const int64_t* starts,
                   const uint8_t* lanes, float weight, bool with_loss) {
    const auto run = ring.dim == 2 ? push_in<2> : ring.dim == 3 ? push_in<3> : push_in<0>;
    return run(ring, first, last, starts, lanes, weight, with_loss);
}

static double push_pairs(const Ring& ring, const RingPair* pairs, int64_t count, float weight) {
    const Further kind = {all(weight)};
    double loss = 0.0;
    for (const RingPair* pair = pairs; pair != pairs + count; ++pair) {
        const int64_t p = pair->p * kLanes + pair->lane, q = pair->q * kLanes + pair->lane;
        const auto away = [&](int64_t a) {
            return ring.at[a * ring.stride + p] - ring.at[a * ring.stride + q];
        };
        float squared = 0.0f;
        for (int64_t a = 0; a < ring.dim; ++a) squared += away(a) * away(a);
        const Lanes t = all(1.0f + squared);
        const float force = kind.force(t)[0];
        for (int64_t a = 0; a < ring.dim; ++a) {
            const float push = force * away(a);
            ring.force[a * ring.stride + p] += push;
            ring.force[a * ring.stride + q] -= push;
        }
        loss += double(kind.loss(t)[0]);
    }
    return loss;
}

// The lanes in which the points at place q lie within reach of those at place p.
static uint32_t in_reach(const Ring& ring, int64_t p, int64_t q, float limit) {
    Lanes squared = all(0.0f);
    for (int64_t a = 0; a < ring.dim; ++a) {
        const Lanes d = away(ring, a, p, q);
        squared += d * d;
    }
    return bits((Mask)(squared <= all(limit)));
}

// Draw partners of the points at place p: shift by shift, those within the limit, in lanes
// that want more and where `refused` (sorted, ended by a shift that never comes) does not
// forbid it. Stops where no more than one lane wants more, or a circle has no more points.
static int64_t draw(const Ring& ring, int64_t p, float limit, int64_t slots,
                    const Refusal* refused, int32_t* counts, uint8_t* lanes) {
    Mask count;
    __builtin_memcpy(&count, counts, sizeof count);
    const Mask wanted = (Mask){} + static_cast<int32_t>(slots);
    int64_t shift = 1;
    for (; shift < ring.shortest; ++shift) {
        const uint32_t wanting = bits(count < wanted);
        if ((wanting & (wanting - 1)) == 0) break;  // one lane, or none
        uint32_t found = in_reach(ring, p, p + shift, limit) & wanting;
        for (; refused->shift <= shift; ++refused)
            if (refused->shift == shift) found &= ~refused->lanes;
        lanes[shift - 1] = static_cast<uint8_t>(found);
        count -= lanes_of(found);
    }
    __builtin_memcpy(counts, &count, sizeof count);
    return shift - 1;
}

}  // namespace LOCALMAP_ISA
}  // namespace localmap
