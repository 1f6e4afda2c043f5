// LocalMAP's second change: further pairs redrawn from the surroundings in the map.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "grid.hpp"
#include "pairs.hpp"
#include "parallel.hpp"
#include "random.hpp"

namespace localmap {

// Draws per slot before the surroundings are listed and drawn from directly, and draws
// made at a time: independent of each other, so that none waits for another's memory.
constexpr std::int64_t kTriesPerSlot = 8;
constexpr int kDraws = 16;

// Points whose pairs are fetched before their turn comes.
constexpr std::int64_t kAhead = 4;

// The share `locality` of a point's slots is local: the whole part for every point, the
// fraction by a draw that is the point's own and stays the same from redraw to redraw.
inline std::int64_t local_slots(double locality, std::int64_t slots, std::uint64_t key,
                                std::int64_t row) {
    const double draw = Stream(key, Stage::locality, 0, std::uint64_t(row)).unit();
    return static_cast<std::int64_t>(locality * double(slots) + draw);
}

// The points in the cells around one cell, numbered from 0 to count.
class Surroundings {
public:
    void enter(const Grid& grid, std::int64_t cell) {
        parts_ = grid.around(cell, ranges_);
        count_ = 0;
        for (int r = 0; r < parts_; ++r) {
            before_[r] = count_;
            count_ += static_cast<std::uint32_t>(ranges_[r].end - ranges_[r].begin);
        }
    }
    std::uint32_t count() const { return count_; }
    template <class Visit>
    void visit_all(Visit visit) const {
        for (int r = 0; r < parts_; ++r)
            for (std::int32_t at = ranges_[r].begin; at < ranges_[r].end; ++at) visit(at);
    }
    std::int32_t place(std::uint32_t number) const {
        int r = 0;
        for (int next = 1; next < parts_; ++next) r += number >= before_[next] ? 1 : 0;
        return ranges_[r].begin + static_cast<std::int32_t>(number - before_[r]);
    }

private:
    Grid::Range ranges_[Grid::kMostAround];
    std::uint32_t before_[Grid::kMostAround] = {};
    int parts_ = 0;
    std::uint32_t count_ = 0;
};

// kDim is the number of axes, or 0 for as many as `dim` says.
template <int kDim>
inline float squared_away(const float* here, const float* there, std::int64_t dim) {
    float squared = 0.0f;
    for (std::int64_t a = 0; a < (kDim == 0 ? dim : kDim); ++a) {
        const float away = here[a] - there[a];
        squared += away * away;
    }
    return squared;
}

template <int kDim>
void local_further_in(const float* Y, std::int64_t n, std::int64_t dim,
                      const std::int32_t* near, std::int64_t k, std::int64_t slots,
                      float reach, double locality, std::uint64_t key,
                      std::uint64_t iteration, std::int32_t* out, int threads, Poll poll) {
    const Grid grid(Y, n, dim, reach);
    const float limit = reach * reach;
    parallel_for(n, kRowGrain, threads, poll, [&](std::int64_t begin, std::int64_t end, int) {
        Excluded drawn(k + slots + 1);
        std::vector<std::int32_t> listed;
        Surroundings around;
        // In the order of the grid: the points of a cell share their surroundings.
        std::int64_t cell = -1;
        for (std::int64_t place = begin; place < end; ++place) {
            if (grid.cell(place) != cell) around.enter(grid, cell = grid.cell(place));
            if (place + kAhead < end) {
                const std::int64_t next = grid.point(place + kAhead);
                __builtin_prefetch(near + next * k);
                __builtin_prefetch(out + next * slots, 1);
            }
            const std::int64_t i = grid.point(place);
            const float* here = grid.at(place);
            const std::int64_t wanted = local_slots(locality, slots, key, i);
            if (wanted == 0) continue;
            drawn.clear();
            drawn.insert(static_cast<std::int32_t>(i));
            for (std::int64_t s = 0; s < k; ++s) drawn.insert(near[i * k + s]);

            std::int32_t* const picked = out + i * slots;
            std::int64_t found = 0;
            const std::int64_t tries = kTriesPerSlot * wanted;
            if (around.count() > tries) {
                Stream stream(key, Stage::local_further, iteration, std::uint64_t(i));
                for (std::int64_t t = 0; t < tries && found < wanted; t += kDraws) {
                    std::int32_t within[kDraws];  // no branch: every draw is written,
                    int count = 0;                // those out of reach overwritten
                    for (int draw = 0; draw < kDraws; ++draw) {
                        const std::int32_t at = around.place(stream.below(around.count()));
                        within[count] = grid.point(at);
                        count += squared_away<kDim>(here, grid.at(at), dim) <= limit;
                    }
                    for (int c = 0; c < count && found < wanted; ++c)
                        if (drawn.insert(within[c])) picked[found++] = within[c];
                }
            }
            if (found == wanted) continue;
            // Few points around, or few of them within reach: list those and shuffle.
            listed.clear();
            around.visit_all([&](std::int32_t at) {
                const std::int32_t j = grid.point(at);
                if (squared_away<kDim>(here, grid.at(at), dim) <= limit && !drawn.contains(j))
                    listed.push_back(j);
            });
            Stream stream(key, Stage::local_listed, iteration, std::uint64_t(i));
            for (std::size_t s = 0; s < listed.size() && found < wanted; ++s) {
                const auto left = static_cast<std::uint32_t>(listed.size() - s);
                std::swap(listed[s], listed[s + stream.below(left)]);
                picked[found++] = listed[s];
            }
        }
    });
}

// Rewrite the local slots of each point with distinct random points within `reach` of
// it in the map that are not its near pairs. Where fewer exist, the remaining slots
// keep the partner they have.
inline void local_further(const float* Y, std::int64_t n, std::int64_t dim,
                          const std::int32_t* near, std::int64_t k, std::int64_t slots,
                          float reach, double locality, std::uint64_t key,
                          std::uint64_t iteration, std::int32_t* out, int threads,
                          Poll poll) {
    const auto run = dim == 2 ? local_further_in<2> : local_further_in<0>;
    run(Y, n, dim, near, k, slots, reach, locality, key, iteration, out, threads, poll);
}

}  // namespace localmap
