// One iteration: the forces on all points, and their move.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "circles.hpp"
#include "isa.hpp"
#include "parallel.hpp"

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

// Counts a piece of work when it ends, also by an error: others wait for the count.
struct Counted {
    std::atomic<std::int64_t>& done;
    ~Counted() { done.fetch_add(1, std::memory_order_release); }
};

// Sum the forces on all points in G; move(first, last) is told of each run of points whose
// sums are complete. Neither rings nor lists write to what another thread reads. Returns
// the loss, if asked for.
template <class Move>
double pull_layout(const Layout& map, const Weights& weights, float* G, bool with_loss,
                   int threads, Poll poll, Move&& move) {
    const std::int64_t rings = map.circles == nullptr ? 0 : map.circles->rings();
    const std::int64_t runs = (map.n + kMoved - 1) / kMoved;
    std::vector<double> losses(static_cast<std::size_t>(rings + runs), 0.0);
    std::vector<Desk> desks(static_cast<std::size_t>(threads));
    std::atomic<std::int64_t> done{0};
    parallel_for(rings + runs, 1, threads, poll,
                 [&](std::int64_t work, std::int64_t, int worker) {
        double& loss = losses[static_cast<std::size_t>(work)];
        if (work < rings) {
            const Counted counted{done};
            loss = map.circles->push(work, map.Y, map.dim, weights.further, G, with_loss,
                                     desks[static_cast<std::size_t>(worker)]);
            return;
        }
        // Work is claimed in order: the rings are all done, or others are at them.
        for (int tries = 0; done.load(std::memory_order_acquire) < rings; ++tries)
            if (tries > 64) std::this_thread::yield();
        const std::int64_t first = (work - rings) * kMoved;
        const std::int64_t last = std::min(map.n, first + kMoved);
        if (rings == 0) std::fill(G + first * map.dim, G + last * map.dim, 0.0f);
        // Half of it: the other half is counted at the other points.
        loss = 0.5 * rows().gather(map.Y, map.dim, first, last, map.lists, weights, G, with_loss);
        move(first, last);
    });
    double total = 0.0;
    for (const double loss : losses) total += loss;
    return total;
}

}  // namespace localmap
