// Near, mid-near and further pairs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "isa.hpp"
#include "parallel.hpp"
#include "random.hpp"

namespace localmap {

// Rows that may not be drawn (again): a hash set that is emptied between rows.
class Excluded {
public:
    explicit Excluded(std::int64_t most) {
        std::size_t size = 16;
        while (static_cast<std::int64_t>(size) < 2 * most + 2) size *= 2;
        slots_.assign(size, kFree);
        mask_ = static_cast<std::uint32_t>(size - 1);
    }
    void clear() { std::fill(slots_.begin(), slots_.end(), kFree); }
    bool contains(std::int32_t row) const { return slots_[place(row)] == row; }
    // False if the row was there already.
    bool insert(std::int32_t row) {
        const std::uint32_t at = place(row);
        if (slots_[at] == row) return false;
        slots_[at] = row;
        return true;
    }

private:
    static constexpr std::int32_t kFree = -1;
    // Where the row is, or the free slot where it belongs.
    std::uint32_t place(std::int32_t row) const {
        std::uint32_t at = (static_cast<std::uint32_t>(row) * 0x9E3779B1u >> 7) & mask_;
        while (slots_[at] != kFree && slots_[at] != row) at = (at + 1) & mask_;
        return at;
    }
    std::vector<std::int32_t> slots_;
    std::uint32_t mask_;
};

constexpr std::int64_t kRowGrain = 256;

// How many of their `among` nearest rows two near partners have in common.
inline void shared_neighbors(const std::int32_t* indices, std::int64_t n, std::int64_t m,
                             std::int64_t among, const std::int32_t* near, std::int64_t k,
                             std::uint8_t* out, int threads, Poll poll) {
    parallel_for(n, kRowGrain, threads, poll, [&](std::int64_t begin, std::int64_t end, int) {
        Excluded mine(among);
        for (std::int64_t i = begin; i < end; ++i) {
            if (i + 1 < end)  // the lists of the next row's partners, before their turn
                for (std::int64_t s = 0; s < k; ++s) {
                    const std::int32_t* next = indices + near[(i + 1) * k + s] * m;
                    __builtin_prefetch(next);
                    __builtin_prefetch(next + among / 2);
                }
            mine.clear();
            for (std::int64_t s = 0; s < among; ++s) mine.insert(indices[i * m + s]);
            for (std::int64_t s = 0; s < k; ++s) {
                const std::int32_t* theirs = indices + near[i * k + s] * m;
                int count = 0;
                for (std::int64_t t = 0; t < among; ++t) count += mine.contains(theirs[t]);
                out[i * k + s] = static_cast<std::uint8_t>(count);
            }
        }
    });
}

// Of each row's `m` nearest rows keep the k with the smallest d_ij^2 / (s_i s_j);
// equal ones stay in their order. `own` are the scales of the rows, `scales` those of the
// rows that `indices` names.
inline void near(const std::int32_t* indices, const float* distances, const double* own,
                 const double* scales, std::int64_t n, std::int64_t m, std::int64_t k, std::int32_t* out,
                 int threads, Poll poll) {
    parallel_for(n, kRowGrain, threads, poll, [&](std::int64_t begin, std::int64_t end, int) {
        std::vector<std::pair<double, std::int64_t>> scaled(static_cast<std::size_t>(m));
        for (std::int64_t i = begin; i < end; ++i) {
            for (std::int64_t s = 0; s < m; ++s) {
                const double distance = distances[i * m + s];
                scaled[static_cast<std::size_t>(s)] = {
                    distance * distance / (own[i] * scales[indices[i * m + s]]), s};
            }
            std::partial_sort(scaled.begin(), scaled.begin() + k, scaled.end());
            for (std::int64_t s = 0; s < k; ++s)
                out[i * k + s] = indices[i * m + scaled[static_cast<std::size_t>(s)].second];
        }
    });
}

constexpr int kMidNearDraws = 6;  // PaCMAP: the second closest of six
// For each of `slots`: draw six other rows, distinct and not mid-near yet, and keep
// the second closest. The caller guarantees slots <= n - 2.
inline void mid_near(const float* Z, std::int64_t n, std::int64_t d, std::int64_t slots,
                     std::uint64_t key, std::int32_t* out, int threads, Poll poll) {
    const auto squared_distance = rows().squared_distance;
    parallel_for(n, kRowGrain, threads, poll, [&](std::int64_t begin, std::int64_t end, int) {
        Excluded drawn(slots + kMidNearDraws);
        for (std::int64_t i = begin; i < end; ++i) {
            Stream stream(key, Stage::mid_near, 0, static_cast<std::uint64_t>(i));
            std::int32_t* picked = out + i * slots;
            for (std::int64_t s = 0; s < slots; ++s) {
                drawn.clear();
                drawn.insert(static_cast<std::int32_t>(i));
                for (std::int64_t before = 0; before < s; ++before)
                    drawn.insert(picked[before]);
                const std::int64_t draws =
                    std::min<std::int64_t>(kMidNearDraws, n - 1 - s);
                double first = std::numeric_limits<double>::infinity();
                double second = first;
                std::int32_t nearest = -1, chosen = -1;
                for (std::int64_t draw = 0; draw < draws;) {
                    const auto j = static_cast<std::int32_t>(
                        stream.below(static_cast<std::uint32_t>(n)));
                    if (!drawn.insert(j)) continue;
                    ++draw;
                    const double distance = squared_distance(Z + i * d, Z + j * d, d);
                    if (draw == 1 || distance < first) {
                        second = first;
                        chosen = nearest;
                        first = distance;
                        nearest = j;
                    } else if (chosen < 0 || distance < second) {
                        second = distance;
                        chosen = j;
                    }
                }
                picked[s] = chosen;
            }
        }
    });
}

// Distinct random rows that are neither the point itself nor one of its near pairs.
// The caller guarantees slots <= n - 1 - k.
inline void further(std::int64_t n, const std::int32_t* near, std::int64_t k,
                    std::int64_t slots, std::uint64_t key, std::int32_t* out,
                    int threads, Poll poll) {
    parallel_for(n, kRowGrain, threads, poll, [&](std::int64_t begin, std::int64_t end, int) {
        Excluded drawn(k + slots + 1);
        for (std::int64_t i = begin; i < end; ++i) {
            Stream stream(key, Stage::further, 0, static_cast<std::uint64_t>(i));
            drawn.clear();
            drawn.insert(static_cast<std::int32_t>(i));
            for (std::int64_t s = 0; s < k; ++s) drawn.insert(near[i * k + s]);
            for (std::int64_t s = 0; s < slots;) {
                const auto j = static_cast<std::int32_t>(
                    stream.below(static_cast<std::uint32_t>(n)));
                if (drawn.insert(j)) out[i * slots + s++] = j;
            }
        }
    });
}

}  // namespace localmap
