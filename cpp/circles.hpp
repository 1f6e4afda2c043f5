// Further pairs by dealing: rows are dealt at random into circles of some hundreds, and a
// point's partners are the next ones of its circle that will do: those within reach that
// are not its near pairs. In a random order the first that will do are a uniform draw of
// all that will.
//
// The point of it: eight circles stand side by side in memory, one for each lane, so that
// a pair is a bit, and eight of them read and write two runs of points in the nearest
// cache, whatever n is.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "isa.hpp"
#include "pairs.hpp"
#include "parallel.hpp"
#include "shuffle.hpp"

namespace localmap {

// Points a circle has at least, where there are as many; where many partners are asked
// for, as many more to choose from.
constexpr std::int64_t kCircle = 512;
constexpr std::int64_t kChoice = 8;

// Points that are fetched before their turn comes.
constexpr std::int64_t kFetched = 16;

// Where the points of a ring, of up to eight circles, sit while it is worked on.
struct Desk {
    Ring ring{};
    std::vector<float> room;
    std::vector<std::int64_t> sizes;  // of the circles

    // Fetch the places of the points; the first of each circle stand behind its last again,
    // as many as shifts reach.
    void seat(const float* Y, std::int64_t dim, const std::int32_t* members,
              std::int64_t reached) {
        const std::int64_t most = *std::max_element(sizes.begin(), sizes.end());
        ring.dim = dim;
        ring.places = most;
        ring.shortest = *std::min_element(sizes.begin(), sizes.end());
        ring.stride = (most + reached) * kLanes;
        room.assign(static_cast<std::size_t>(2 * dim * ring.stride), 0.0f);
        ring.at = room.data();
        ring.force = room.data() + dim * ring.stride;
        for (std::size_t lane = 0; lane < sizes.size(); members += sizes[lane++]) {
            const std::int64_t size = sizes[lane];
            for (std::int64_t p = 0; p < size; ++p) {
                if (p + kFetched < size) __builtin_prefetch(Y + members[p + kFetched] * dim);
                for (std::int64_t a = 0; a < dim; ++a)
                    number(room.data(), a, p, lane) = Y[members[p] * dim + a];
            }
            for (std::int64_t p = size; p < most + reached; ++p)
                for (std::int64_t a = 0; a < dim; ++a)
                    number(room.data(), a, p, lane) = number(room.data(), a, p - size, lane);
        }
    }
    // Take the forces to where they belong.
    void leave(const std::int32_t* members, std::int64_t reached, float* G) const {
        for (std::size_t lane = 0; lane < sizes.size(); members += sizes[lane++]) {
            const std::int64_t size = sizes[lane];
            for (std::int64_t p = 0; p < size; ++p) {
                if (p + kFetched < size)
                    __builtin_prefetch(G + members[p + kFetched] * ring.dim, 1);
                for (std::int64_t a = 0; a < ring.dim; ++a) {
                    float force = 0.0f;
                    for (std::int64_t q = p; q < ring.places + reached; q += size)
                        force += number(ring.force, a, q, lane);
                    G[members[p] * ring.dim + a] = force;
                }
            }
        }
    }
    template <class Number>
    Number& number(Number* from, std::int64_t axis, std::int64_t place, std::size_t lane) const {
        return from[axis * ring.stride + place * kLanes + static_cast<std::int64_t>(lane)];
    }
    float squared(std::int64_t p, std::int64_t q, std::size_t lane) const {
        float result = 0.0f;
        for (std::int64_t a = 0; a < ring.dim; ++a) {
            const float away = number(ring.at, a, p, lane) - number(ring.at, a, q, lane);
            result += away * away;
        }
        return result;
    }
};

class Circles {
public:
    Circles(std::int64_t n, std::int64_t slots)
        : n_(n),
          slots_(slots),
          circles_(std::max<std::int64_t>(1, n / std::max(kCircle, kChoice * slots))),
          members_(static_cast<std::size_t>(n)),
          dealt_(static_cast<std::size_t>((circles_ + kLanes - 1) / kLanes)) {}

    // Rings of circles side by side.
    std::int64_t rings() const { return static_cast<std::int64_t>(dealt_.size()); }

    // Deal anew; `near` lists the pairs that are not to be drawn.
    void deal(const float* Y, std::int64_t dim, const Lists& near, float reach,
              std::uint64_t key, std::uint64_t iteration, int threads, Poll poll) {
        const Shuffle shuffle(n_, key, iteration);
        parallel_for(rings(), 1, threads, poll, [&](std::int64_t r, std::int64_t, int) {
            Desk desk;
            desk.sizes = sizes(r);
            std::int32_t* const members = members_.data() + first(r * kLanes);
            for (std::int64_t p = first(r * kLanes); p < first((r + 1) * kLanes); ++p)
                members_[static_cast<std::size_t>(p)] =
                    static_cast<std::int32_t>(shuffle.row(p));
            const std::int64_t longest = *std::max_element(desk.sizes.begin(), desk.sizes.end());
            desk.seat(Y, dim, members, longest);
            dealt_[static_cast<std::size_t>(r)] =
                draw(desk, refused(desk.sizes, members, near), reach * reach);
        });
    }

    // Write the forces of all further pairs of a ring's points to G; returns the loss.
    double push(std::int64_t r, const float* Y, std::int64_t dim, float weight, float* G,
                bool with_loss, Desk& desk) const {
        const Dealt& dealt = dealt_[static_cast<std::size_t>(r)];
        const std::int32_t* const members = members_.data() + first(r * kLanes);
        desk.sizes = sizes(r);
        desk.seat(Y, dim, members, dealt.reached);
        double loss = rows().push(desk.ring, dealt.starts.data(), dealt.lanes.data(), weight,
                                  with_loss);
        loss += rows().push_pairs(desk.ring, dealt.rest.data(),
                                  static_cast<std::int64_t>(dealt.rest.size()), weight);
        desk.leave(members, dealt.reached, G);
        return weight * loss;
    }

    // The partners of every point, -1 where there are fewer.
    void partners(std::int32_t* out) const {
        std::fill(out, out + n_ * slots_, -1);
        std::vector<std::int64_t> found(static_cast<std::size_t>(n_), 0);
        for (std::int64_t r = 0; r < rings(); ++r) {
            const Dealt& dealt = dealt_[static_cast<std::size_t>(r)];
            const auto add = [&](std::int64_t p, std::int64_t q, std::int64_t lane) {
                const std::int64_t from = first(r * kLanes + lane);
                const std::int64_t size = first(r * kLanes + lane + 1) - from;
                const std::int64_t i = members_[static_cast<std::size_t>(from + p)];
                out[i * slots_ + found[static_cast<std::size_t>(i)]++] =
                    members_[static_cast<std::size_t>(from + q % size)];
            };
            for (std::size_t p = 0; p + 1 < dealt.starts.size(); ++p)
                for (std::int64_t s = dealt.starts[p]; s < dealt.starts[p + 1]; ++s)
                    for (std::int64_t lane = 0; lane < kLanes; ++lane)
                        if (dealt.lanes[static_cast<std::size_t>(s)] >> lane & 1)
                            add(static_cast<std::int64_t>(p),
                                static_cast<std::int64_t>(p) + s - dealt.starts[p] + 1, lane);
            for (const RingPair& pair : dealt.rest) add(pair.p, pair.q, pair.lane);
        }
    }

private:
    struct Dealt {
        std::int64_t reached = 0;  // the largest shift
        std::vector<std::int64_t> starts;
        std::vector<std::uint8_t> lanes;
        std::vector<RingPair> rest;  // pairs that stand for themselves
    };

    std::int64_t first(std::int64_t circle) const {
        return std::min(circle, circles_) * n_ / circles_;
    }
    std::vector<std::int64_t> sizes(std::int64_t ring) const {
        std::vector<std::int64_t> result;
        for (std::int64_t c = ring * kLanes; c < std::min(circles_, (ring + 1) * kLanes); ++c)
            result.push_back(first(c + 1) - first(c));
        return result;
    }

    // For every place the near pairs of its points in their circles, by shift.
    using Refused = std::vector<std::vector<Refusal>>;
    static Refused refused(const std::vector<std::int64_t>& sizes, const std::int32_t* members,
                           const Lists& near) {
        const std::int64_t most = *std::max_element(sizes.begin(), sizes.end());
        Refused result(static_cast<std::size_t>(most));
        for (std::size_t lane = 0; lane < sizes.size(); members += sizes[lane++]) {
            const std::int64_t size = sizes[lane];
            std::vector<std::int32_t> table(hashed_size(size), kFree);
            std::vector<std::int64_t> places(table.size());
            const auto mask = static_cast<std::uint32_t>(table.size() - 1);
            for (std::int64_t p = 0; p < size; ++p) {
                const std::uint32_t at = hashed_place(table, mask, members[p]);
                table[at] = members[p];
                places[at] = p;
            }
            for (std::int64_t p = 0; p < size; ++p)
                for (std::int64_t e = near.starts[members[p]]; e < near.starts[members[p] + 1]; ++e) {
                    const auto j = static_cast<std::int32_t>(near.entries[e] >> kCodeBits);
                    const std::uint32_t at = hashed_place(table, mask, j);
                    if (table[at] != j) continue;
                    const std::int64_t shift = places[at] > p ? places[at] - p : places[at] - p + size;
                    result[static_cast<std::size_t>(p)].push_back({shift, 1u << lane});
                }
        }
        for (auto& row : result) {
            std::sort(row.begin(), row.end(),
                      [](const Refusal& a, const Refusal& b) { return a.shift < b.shift; });
            row.push_back({most + 1, 0});  // never comes
        }
        return result;
    }

    Dealt draw(const Desk& desk, const Refused& refused, float limit) const {
        const std::int64_t places = desk.ring.places;
        Dealt dealt;
        dealt.starts.push_back(0);
        for (std::int64_t p = 0; p < places; ++p) {
            const auto& never = refused[static_cast<std::size_t>(p)];
            std::int32_t counts[kLanes];
            for (std::size_t lane = 0; lane < kLanes; ++lane)  // seats that are empty want none
                counts[lane] = lane < desk.sizes.size() && p < desk.sizes[lane]
                                   ? 0
                                   : static_cast<std::int32_t>(slots_);
            const auto from = static_cast<std::size_t>(dealt.starts.back());
            dealt.lanes.resize(from + static_cast<std::size_t>(places));
            const std::int64_t shifts = rows().draw(desk.ring, p, limit, slots_, never.data(),
                                                    counts, dealt.lanes.data() + from);
            dealt.lanes.resize(from + static_cast<std::size_t>(shifts));
            dealt.starts.push_back(dealt.starts.back() + shifts);
            dealt.reached = std::max(dealt.reached, shifts);
            for (std::size_t lane = 0; lane < desk.sizes.size(); ++lane)
                list_rest(desk, never, limit, p, shifts, lane, slots_ - counts[lane], dealt);
        }
        dealt.lanes.shrink_to_fit();
        return dealt;
    }

    // List the partners of a point that is left alone in its ring. Where too few are within
    // reach, any others make up for them.
    static void list_rest(const Desk& desk, const std::vector<Refusal>& never, float limit,
                          std::int64_t p, std::int64_t shifts, std::size_t lane,
                          std::int64_t wanted, Dealt& dealt) {
        const std::int64_t size = desk.sizes[lane];
        const auto refused = [&](std::int64_t shift) {
            return std::any_of(never.begin(), never.end(), [&](const Refusal& refusal) {
                return refusal.shift == shift && (refusal.lanes >> lane & 1) != 0;
            });
        };
        for (const bool within : {true, false})
            for (std::int64_t shift = within ? shifts + 1 : 1; wanted > 0 && shift < size; ++shift) {
                const std::int64_t q = (p + shift) % size;
                if ((desk.squared(p, q, lane) <= limit) != within || refused(shift)) continue;
                dealt.rest.push_back({static_cast<std::uint32_t>(p), static_cast<std::uint32_t>(q),
                                      static_cast<std::uint32_t>(lane)});
                --wanted;
            }
    }

    std::int64_t n_, slots_, circles_;
    std::vector<std::int32_t> members_;
    std::vector<Dealt> dealt_;
};

}  // namespace localmap
