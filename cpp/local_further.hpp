// LocalMAP's second change: further pairs redrawn from the surroundings in the map.
#pragma once

#include <cstdint>
#include <vector>

#include "grid.hpp"
#include "pairs.hpp"
#include "parallel.hpp"
#include "random.hpp"

namespace localmap {

// Draws per slot before the surroundings are listed and drawn from directly.
constexpr std::int64_t kTriesPerSlot = 8;

// The share `locality` of a point's slots is local: the whole part for every point, the
// fraction by a draw that is the point's own and stays the same from redraw to redraw.
inline std::int64_t local_slots(double locality, std::int64_t slots, std::uint64_t key,
                                std::int64_t row) {
    const double draw = Stream(key, Stage::locality, 0, std::uint64_t(row)).unit();
    return static_cast<std::int64_t>(locality * double(slots) + draw);
}

// Rewrite the local slots of each point with distinct random points within `reach` of
// it in the map that are not its near pairs. Where fewer exist, the remaining slots
// keep the partner they have.
inline void local_further(const float* Y, std::int64_t n, std::int64_t dim,
                          const std::int32_t* near, std::int64_t k,
                          std::int64_t slots, float reach, double locality,
                          std::uint64_t key, std::uint64_t iteration, std::int32_t* out,
                          int threads, Poll poll) {
    const Grid grid(Y, n, dim, reach);
    const float reach_squared = reach * reach;
    auto within = [&](std::int64_t i, std::int64_t j) {
        float squared = 0.0f;
        for (std::int64_t a = 0; a < dim; ++a) {
            const float away = Y[i * dim + a] - Y[j * dim + a];
            squared += away * away;
        }
        return squared <= reach_squared;
    };
    parallel_for(n, kRowGrain, threads, poll, [&](std::int64_t begin, std::int64_t end, int) {
        Excluded drawn(k + slots + 1);
        std::vector<std::int32_t> listed;
        Grid::Range ranges[Grid::kMostAround];
        // In the order of the grid: a block's points share their surroundings.
        for (std::int64_t place = begin; place < end; ++place) {
            const std::int64_t i = grid.point(place);
            const std::int64_t wanted = local_slots(locality, slots, key, i);
            if (wanted == 0) continue;
            Stream stream(key, Stage::local_further, iteration,
                          static_cast<std::uint64_t>(i));
            drawn.clear();
            drawn.insert(static_cast<std::int32_t>(i));
            for (std::int64_t s = 0; s < k; ++s) drawn.insert(near[i * k + s]);
            const int count = grid.around(i, ranges);
            std::uint32_t candidates = 0;
            for (int r = 0; r < count; ++r)
                candidates += static_cast<std::uint32_t>(ranges[r].end - ranges[r].begin);

            std::int32_t* const picked = out + i * slots;
            std::int64_t found = 0;
            const std::int64_t tries = kTriesPerSlot * wanted;
            if (candidates > tries) {
                for (std::int64_t t = 0; t < tries && found < wanted; ++t) {
                    auto draw = static_cast<std::int32_t>(stream.below(candidates));
                    int r = 0;
                    while (draw >= ranges[r].end - ranges[r].begin)
                        draw -= ranges[r].end - ranges[r].begin, ++r;
                    const std::int32_t j = grid.point(ranges[r].begin + draw);
                    if (within(i, j) && drawn.insert(j)) picked[found++] = j;
                }
            }
            if (found == wanted) continue;
            // Few points around, or few of them within reach: list those and shuffle.
            listed.clear();
            for (int r = 0; r < count; ++r)
                for (std::int32_t p = ranges[r].begin; p < ranges[r].end; ++p) {
                    const std::int32_t j = grid.point(p);
                    if (within(i, j) && !drawn.contains(j)) listed.push_back(j);
                }
            for (std::size_t s = 0; s < listed.size() && found < wanted; ++s) {
                const auto left = static_cast<std::uint32_t>(listed.size() - s);
                std::swap(listed[s], listed[s + stream.below(left)]);
                picked[found++] = listed[s];
            }
        }
    });
}

}  // namespace localmap
