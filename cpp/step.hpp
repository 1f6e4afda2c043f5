// Iterations: the forces on all points, and their move. Threads start once for many.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "circles.hpp"
#include "isa.hpp"
#include "parallel.hpp"
#include "progress.hpp"

namespace localmap {

// Points that are moved together.
constexpr std::int64_t kMoved = 512;

// A map and the pairs of its points.
struct Layout {
    const float* Y;
    std::int64_t n, dim;
    Lists lists[3];          // near, mid-near, further
    const Circles* circles;  // further pairs that are dealt, or none
};

// Pieces of work that a thread takes from its own share of them while there are any, and then
// from the others': what it worked on before is in its caches.
class Shares {
public:
    Shares(std::int64_t pieces, int threads)
        : pieces_(pieces), taken_(static_cast<std::size_t>(threads)) {}

    // A piece that nobody has; as often as there are pieces.
    std::int64_t take(int worker) {
        const auto threads = static_cast<int>(taken_.size());
        for (int one = worker;; one = (one + 1) % threads) {
            const std::int64_t piece =
                first(one) + taken_[static_cast<std::size_t>(one)].fetch_add(
                                 1, std::memory_order_relaxed);
            if (piece < first(one + 1)) return piece;
        }
    }

private:
    std::int64_t first(int one) const {
        return one * pieces_ / static_cast<std::int64_t>(taken_.size());
    }
    std::int64_t pieces_;
    std::vector<std::atomic<std::int64_t>> taken_;
};

// Sum the forces on all points in G, once with each of `weights`, the map of the first being
// map.Y; move(k, first, last) is told of each run of points whose sums with weights[k] are
// complete, and map_of(k) says where all have gone by then. Neither rings nor lists write to
// what another thread reads. Returns the last loss, if asked for.
template <class Map, class Move>
double pull_layout(const Layout& map, const std::vector<Weights>& weights, float* G,
                   bool with_loss, int threads, Poll poll, Map&& map_of, Move&& move) {
    threads = std::max(1, threads);
    const std::int64_t rings = map.circles == nullptr ? 0 : map.circles->rings();
    const std::int64_t runs = (map.n + kMoved - 1) / kMoved, each = rings + runs;
    std::vector<double> losses(static_cast<std::size_t>(each), 0.0);
    std::vector<Desk> desks(static_cast<std::size_t>(threads));
    std::vector<Shares> shares;
    for (std::size_t k = 0; k < weights.size(); ++k) shares.emplace_back(runs, threads);
    Progress pushed, moved;
    parallel_for(each * static_cast<std::int64_t>(weights.size()), 1, threads, poll,
                 [&](std::int64_t work, std::int64_t, int worker) {
        const std::int64_t k = work / each;
        std::int64_t place = work % each;
        if (place >= rings) place = rings + shares[static_cast<std::size_t>(k)].take(worker);
        const Weights& w = weights[static_cast<std::size_t>(k)];
        const bool asked = with_loss && k + 1 == static_cast<std::int64_t>(weights.size());
        double& loss = losses[static_cast<std::size_t>(place)];
        const Counted counted{place < rings ? pushed : moved};
        moved.wait_for(k * runs);  // claimed in order: others are at it
        const float* const Y = map_of(k);
        if (place < rings) {
            loss = map.circles->push(place, Y, map.dim, w.further, G, asked,
                                     desks[static_cast<std::size_t>(worker)]);
            return;
        }
        pushed.wait_for((k + 1) * rings);
        const std::int64_t first = (place - rings) * kMoved;
        const std::int64_t last = std::min(map.n, first + kMoved);
        if (rings == 0) std::fill(G + first * map.dim, G + last * map.dim, 0.0f);
        // Half of it: the other half is counted at the other points.
        loss = 0.5 * rows().gather(Y, map.dim, first, last, map.lists, w, G, asked);
        move(k, first, last);
    });
    double total = 0.0;
    for (const double loss : losses) total += loss;
    return total;
}

}  // namespace localmap
