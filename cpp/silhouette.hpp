// Exact silhouette: the mean distance to each label's points, all pairs, no matrix.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "isa.hpp"
#include "parallel.hpp"

namespace localmap {

// `axes` holds the points axis by axis, sorted by label; label l owns the places
// [starts[l], starts[l + 1]). Writes the silhouette of each of `count` places, which come
// in ascending order.
inline void silhouette(const float* axes, std::int64_t n, std::int64_t dim,
                       const std::int64_t* starts, std::int64_t labels,
                       const std::int64_t* places, std::int64_t count, double* out,
                       int threads, Poll poll) {
    const auto distance_sum = rows().distance_sum;
    parallel_for(count, 64, threads, poll, [&](std::int64_t begin, std::int64_t end, int) {
        std::vector<float> point(static_cast<std::size_t>(dim));
        std::int64_t own = 0;
        for (std::int64_t c = begin; c < end; ++c) {
            const std::int64_t i = places[c];
            while (starts[own + 1] <= i) ++own;
            for (std::int64_t a = 0; a < dim; ++a)
                point[static_cast<std::size_t>(a)] = axes[a * n + i];
            double inside = 0.0, outside = std::numeric_limits<double>::infinity();
            for (std::int64_t l = 0; l < labels; ++l) {
                const std::int64_t size = starts[l + 1] - starts[l];
                const double total =
                    distance_sum(point.data(), axes + starts[l], n, dim, size);
                if (l == own)
                    inside = size > 1 ? total / double(size - 1) : 0.0;
                else
                    outside = std::min(outside, total / double(size));
            }
            // A label of one point has silhouette zero, by Rousseeuw's definition.
            const bool alone = starts[own + 1] - starts[own] == 1;
            const double larger = std::max(inside, outside);
            out[c] = alone || larger == 0.0 ? 0.0 : (outside - inside) / larger;
        }
    });
}

}  // namespace localmap
