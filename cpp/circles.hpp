// Further pairs by dealing: rows are dealt at random into circles of some hundreds, and a
// point's partners are the next ones of its circle that will do: those within reach that
// are not its near pairs. In a random order the first that will do are a uniform draw of
// all that will, but that rows of one run (below) meet somewhat more often than others.
//
// The point of it: eight circles stand side by side in memory, one for each lane, so that
// a pair is a bit, and eight of them read and write two runs of points in the nearest
// cache, whatever n is. A ring of eight circles has its points in runs of a line of memory:
// whoever works on it touches lines that nobody else does. Runs are dealt at random, and
// their points again in their ring.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
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

// Places that are worked on at once, and how many of these come before one whose points
// are asked for: memory answers while others are worked on.
constexpr std::int64_t kRun = 2;
constexpr std::int64_t kAskedBefore = 4;

// Points that are dealt to a ring together: two axes of them are a line of the cache.
constexpr std::int64_t kTogether = 8;

// Numbers of a line of the cache, where it begins.
struct alignas(64) CacheLine {
    float numbers[16];
};

// Where the points of a ring, of up to eight circles, sit while it is worked on. Desks of
// threads stand side by side, and no two on one line.
class alignas(64) Desk {
public:
    Ring ring{};
    std::vector<std::int64_t> sizes;  // of the circles

    // Make room for the circles of `members`; the first of each stand behind its last again,
    // as many as shifts reach.
    void open(std::int64_t dim, const std::int32_t* members, std::int64_t reached) {
        const std::int64_t most = *std::max_element(sizes.begin(), sizes.end());
        ring.dim = dim;
        ring.places = most;
        ring.shortest = *std::min_element(sizes.begin(), sizes.end());
        ring.stride = (most + reached) * kLanes;
        room_.assign(static_cast<std::size_t>((2 * dim * ring.stride + 15) / 16), {});
        at_ = room_.data()->numbers;
        ring.at = at_;
        ring.force = at_ + dim * ring.stride;
        seated_ = 0;
        reached_ = reached;
        for (std::size_t lane = 0; lane < sizes.size(); members += sizes[lane++])
            members_[lane] = members;
    }
    // Fetch the points at places up to `last` and those that shifts reach from there.
    void seat(const float* Y, std::int64_t last) {
        const std::int64_t end = std::min(last, ring.places) + reached_;
        if (ring.dim == 2)
            seat_in<2>(Y, end);
        else
            seat_in<0>(Y, end);
    }
    // Take the forces to where they belong.
    void leave(float* G) const {
        for (std::size_t lane = 0; lane < sizes.size(); ++lane)
            for (std::int64_t q = sizes[lane]; q < ring.places + reached_; ++q)
                for (std::int64_t a = 0; a < ring.dim; ++a)
                    number(ring.force, a, q % sizes[lane], lane) += number(ring.force, a, q, lane);
        if (ring.dim == 2)
            leave_in<2>(G);
        else
            leave_in<0>(G);
    }
    // Ask memory for what `of` holds of the points at a place.
    template <class Number>
    void ask(Number* of, std::int64_t p) const {
        if (p >= ring.shortest) return;
        for (std::size_t lane = 0; lane < sizes.size(); ++lane)
            __builtin_prefetch(of + members_[lane][p] * ring.dim, !std::is_const_v<Number>);
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

private:
    template <int kDim>
    void seat_in(const float* Y, std::int64_t end) {
        const std::int64_t dim = kDim == 0 ? ring.dim : kDim;
        const std::size_t lanes = sizes.size();
        for (std::int64_t p = seated_; p < end; ++p) {
            ask(Y, p + kRun * kAskedBefore);
            for (std::size_t lane = 0; lane < lanes; ++lane) {
                const bool wraps = p >= ring.shortest && p >= sizes[lane];
                for (std::int64_t a = 0; a < dim; ++a)
                    number(at_, a, p, lane) = wraps ? number(at_, a, p - sizes[lane], lane)
                                                    : Y[members_[lane][p] * dim + a];
            }
        }
        seated_ = std::max(seated_, end);
    }
    template <int kDim>
    void leave_in(float* G) const {
        const std::int64_t dim = kDim == 0 ? ring.dim : kDim;
        const std::size_t lanes = sizes.size();
        for (std::int64_t p = 0; p < ring.places; ++p)
            for (std::size_t lane = 0; lane < lanes; ++lane)
                if (p < ring.shortest || p < sizes[lane])
                    for (std::int64_t a = 0; a < dim; ++a)
                        G[members_[lane][p] * dim + a] = number(ring.force, a, p, lane);
    }

    std::vector<CacheLine> room_;
    float* at_ = nullptr;
    const std::int32_t* members_[kLanes] = {};
    std::int64_t reached_ = 0, seated_ = 0;
};

class Circles {
public:
    Circles(std::int64_t n, std::int64_t slots)
        : n_(n),
          slots_(slots),
          rings_(std::max<std::int64_t>(1, n / (kLanes * least(slots)))),
          lanes_(std::clamp<std::int64_t>(n / least(slots), 1, kLanes)),
          members_(static_cast<std::size_t>(n)),
          dealt_(static_cast<std::size_t>(rings_)) {}

    // Rings of circles side by side.
    std::int64_t rings() const { return rings_; }

    // Deal anew; `near` lists the pairs that are not to be drawn.
    void deal(const float* Y, std::int64_t dim, const Lists& near, float reach,
              std::uint64_t key, std::uint64_t iteration, int threads, Poll poll) {
        const Shuffle together(std::max<std::int64_t>(1, n_ / kTogether), key, iteration, rings_);
        parallel_for(rings(), 1, threads, poll, [&](std::int64_t r, std::int64_t, int) {
            Desk desk;
            desk.sizes = sizes(r);
            std::int32_t* const members = members_.data() + first(r);
            const auto rows = rows_of(r, together);
            const auto size = static_cast<std::int64_t>(rows.size());
            const Shuffle shuffle(size, key, iteration, r);
            for (std::int64_t p = 0; p < size; ++p)
                members[p] = rows[static_cast<std::size_t>(shuffle.row(p))];
            const std::int64_t longest = *std::max_element(desk.sizes.begin(), desk.sizes.end());
            desk.open(dim, members, longest);
            desk.seat(Y, longest);
            dealt_[static_cast<std::size_t>(r)] =
                draw(desk, refused(desk.sizes, members, near), reach * reach);
        });
    }

    // Write the forces of all further pairs of a ring's points to G; returns the loss.
    double push(std::int64_t r, const float* Y, std::int64_t dim, float weight, float* G,
                bool with_loss, Desk& desk) const {
        const Dealt& dealt = dealt_[static_cast<std::size_t>(r)];
        const std::int32_t* const members = members_.data() + first(r);
        desk.sizes = sizes(r);
        desk.open(dim, members, dealt.reached);
        double loss = 0.0;
        for (std::int64_t p = 0; p < desk.ring.places; p += kRun) {
            desk.seat(Y, p + kRun);
            for (std::int64_t here = p; here < p + kRun; ++here) desk.ask(G, here);
            loss += rows().push(desk.ring, p, std::min(desk.ring.places, p + kRun),
                                dealt.starts.data(), dealt.lanes.data(), weight, with_loss);
        }
        loss += rows().push_pairs(desk.ring, dealt.rest.data(),
                                  static_cast<std::int64_t>(dealt.rest.size()), weight);
        desk.leave(G);
        return weight * loss;
    }

    // The partners of every point, -1 where there are fewer.
    void partners(std::int32_t* out) const {
        std::fill(out, out + n_ * slots_, -1);
        std::vector<std::int64_t> found(static_cast<std::size_t>(n_), 0);
        for (std::int64_t r = 0; r < rings(); ++r) {
            const Dealt& dealt = dealt_[static_cast<std::size_t>(r)];
            const auto add = [&](std::int64_t p, std::int64_t q, std::int64_t lane) {
                const std::int64_t from = first(r) + before(r, lane);
                const std::int64_t size = before(r, lane + 1) - before(r, lane);
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

    static std::int64_t least(std::int64_t slots) { return std::max(kCircle, kChoice * slots); }

    // The runs of a ring, which are all but the last points of the map: those have no line
    // of their own, and are of the last ring.
    std::int64_t first_run(std::int64_t r) const { return r * (n_ / kTogether) / rings_; }
    std::int64_t first(std::int64_t r) const {
        return r == rings_ ? n_ : kTogether * first_run(r);
    }
    // Points of a ring that come before those of a circle.
    std::int64_t before(std::int64_t r, std::int64_t lane) const {
        return std::min(lane, lanes_) * (first(r + 1) - first(r)) / lanes_;
    }
    std::vector<std::int64_t> sizes(std::int64_t r) const {
        std::vector<std::int64_t> result;
        for (std::int64_t lane = 0; lane < lanes_; ++lane)
            result.push_back(before(r, lane + 1) - before(r, lane));
        return result;
    }
    // The rows of a ring, in order.
    std::vector<std::int32_t> rows_of(std::int64_t r, const Shuffle& together) const {
        std::vector<std::int64_t> runs;
        for (std::int64_t place = first_run(r); place < first_run(r + 1); ++place)
            runs.push_back(together.row(place));
        std::sort(runs.begin(), runs.end());
        std::vector<std::int32_t> result;
        for (const std::int64_t run : runs)
            for (std::int64_t i = kTogether * run; i < kTogether * (run + 1); ++i)
                result.push_back(static_cast<std::int32_t>(i));
        for (std::int64_t i = n_ / kTogether * kTogether; r + 1 == rings_ && i < n_; ++i)
            result.push_back(static_cast<std::int32_t>(i));
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

    std::int64_t n_, slots_, rings_, lanes_;
    std::vector<std::int32_t> members_;
    std::vector<Dealt> dealt_;
};

}  // namespace localmap
