// Rows that were found tell those that found them: where i lists j, and j is nearer to i
// than the last in j's own list, i belongs there too. A search in cells misses rows just
// beyond the last cell that it looked into, and mostly from one side only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "parallel.hpp"

namespace localmap {

struct Missed {
    std::int32_t at;  // whose list lacks it
    float distance;
    std::int32_t row;
    bool operator<(const Missed& other) const {
        return std::tie(at, distance, row) < std::tie(other.at, other.distance, other.row);
    }
};

// Lists of k rows each, nearest first; a row of -1 marks an empty place at infinity.
// What the lists of rows [first, last) lack, sorted.
inline std::vector<Missed> missed_by(std::int64_t n, std::int64_t k,
                                     const std::int32_t* indices, const float* distances,
                                     std::int64_t first, std::int64_t last, int threads,
                                     Poll poll) {
    std::vector<float> farthest(static_cast<std::size_t>(last - first));
    for (std::int64_t i = first; i < last; ++i)
        farthest[static_cast<std::size_t>(i - first)] = distances[i * k + k - 1];
    const auto lacks = [&](std::int64_t j, std::int32_t i) {
        const std::int32_t* list = indices + j * k;
        int there = 0;  // all are looked at: a search would guess wrong at every step
        for (std::int64_t t = 0; t < k; ++t) there |= list[t] == i;
        return there == 0;
    };
    constexpr std::int64_t kAhead = 8;  // lists asked for before their turn
    std::vector<std::vector<Missed>> by_worker(static_cast<std::size_t>(threads));
    parallel_for(n, 1024, threads, poll, [&](std::int64_t begin, std::int64_t end, int worker) {
        auto& missed = by_worker[static_cast<std::size_t>(worker)];
        for (std::int64_t i = begin; i < end; ++i)
            for (std::int64_t s = i * k; s < (i + 1) * k; ++s) {
                if (s + kAhead < end * k && indices[s + kAhead] >= 0)
                    for (std::int64_t t = 0; t < k; t += 16)
                        __builtin_prefetch(indices + indices[s + kAhead] * k + t);
                const std::int32_t j = indices[s];
                if (j >= first && j < last &&
                    distances[s] < farthest[static_cast<std::size_t>(j - first)] &&
                    lacks(j, static_cast<std::int32_t>(i)))
                    missed.push_back({j, distances[s], static_cast<std::int32_t>(i)});
            }
    });
    std::vector<Missed> missed;
    for (const auto& some : by_worker) missed.insert(missed.end(), some.begin(), some.end());
    std::sort(missed.begin(), missed.end());  // no matter which worker met them
    return missed;
}

// Let the missed rows, sorted, into the lists that lack them.
inline void let_in(std::int64_t k, std::int32_t* indices, float* distances,
                   const Missed* from, const Missed* to) {
    std::vector<std::pair<float, std::int32_t>> merged;
    while (from != to) {
        const std::int64_t list = from->at * k;
        merged.clear();
        for (std::int64_t s = list; s < list + k; ++s)
            merged.emplace_back(distances[s], indices[s]);
        for (; from != to && from->at * k == list; ++from)
            merged.emplace_back(from->distance, from->row);
        std::inplace_merge(merged.begin(), merged.begin() + k, merged.end(),
                           [](const auto& a, const auto& b) { return a.first < b.first; });
        for (std::int64_t s = 0; s < k; ++s)
            std::tie(distances[list + s], indices[list + s]) =
                merged[static_cast<std::size_t>(s)];
    }
}

}  // namespace localmap
