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

#if defined(__AVX512F__)
// Two shifts at once, as far as two go, in the plane: the points of one stand behind those
// of the other. The same operations on each lane in the same order as one by one.
static inline int64_t push_twos(const Ring& ring, int64_t p, int64_t shifts,
                                const uint8_t* chosen, float weight, Lanes* own) {
    typedef float Wide __attribute__((vector_size(64)));
    // With masks that choose all: without them GCC warns of its own headers.
    const auto twice = [](const float* from) {
        return (Wide)_mm512_maskz_broadcast_f32x8(0xFFFF, (__m256)load(from));
    };
    const auto first = [](Wide both) {
        return (Lanes)_mm512_maskz_extractf32x8_ps(0xFF, (__m512)both, 0);
    };
    const auto second = [](Wide both) {
        return (Lanes)_mm512_maskz_extractf32x8_ps(0xFF, (__m512)both, 1);
    };
    const FurtherIn<Wide> kind = {(Wide)_mm512_set1_ps(weight)};
    const Wide x = twice(ring.at + p * kLanes), y = twice(ring.at + ring.stride + p * kLanes);
    int64_t s = 0;
    for (; s + 2 <= shifts; s += 2) {
        const int64_t q = (p + s + 1) * kLanes;
        const Wide dx = x - (Wide)_mm512_loadu_ps(ring.at + q);
        const Wide dy = y - (Wide)_mm512_loadu_ps(ring.at + ring.stride + q);
        const Wide t = 1.0f + dx * dx + dy * dy;
        uint16_t these;
        __builtin_memcpy(&these, chosen + s, sizeof these);
        const Wide force = (Wide)_mm512_maskz_mov_ps(these, (__m512)kind.force(t));
        const Wide pushes[2] = {force * dx, force * dy};
        for (int a = 0; a < 2; ++a) {
            float* const other = ring.force + a * ring.stride + q;
            _mm512_storeu_ps(other, _mm512_sub_ps(_mm512_loadu_ps(other), (__m512)pushes[a]));
            own[a] += first(pushes[a]);
            own[a] += second(pushes[a]);
        }
    }
    return s;
}
#endif

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
        int64_t s = 0;
#if defined(__AVX512F__)
        if constexpr (kDim == 2)
            if (!with_loss) s = push_twos(ring, p, shifts, chosen, weight, own);
#endif
        for (; s < shifts; ++s) {
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
