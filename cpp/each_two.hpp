// Nearest neighbours by comparing each two rows once: what one finds the other finds too.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "knn.hpp"
#include "parallel.hpp"
#include "progress.hpp"

namespace localmap {

// Rows side by side that meet others together: whole blocks of queries, whole panels.
constexpr std::int64_t kRun = kQueries * 12;
static_assert(kRun % kPanel == 0, "a run is whole panels");

// Two runs, whose rows are compared; `before` is how many meetings each has had by then.
struct Meeting {
    std::int64_t a, b, before_a, before_b;
};

// All meetings of runs, those side by side first: what they find keeps most of the others
// out. Few of those that follow each other have a run in common, so that few have to wait.
// A run that meets itself counts that twice.
inline std::vector<Meeting> meetings_of(std::int64_t runs) {
    std::vector<Meeting> all;
    std::vector<std::int64_t> had(static_cast<std::size_t>(runs), 0);
    for (std::int64_t apart = 0; apart < runs; ++apart)
        for (const std::int64_t odd : {0, 1})
            for (std::int64_t a = 0; a + apart < runs; ++a) {
                if (apart == 0 ? odd : a / apart % 2 != odd) continue;
                const std::int64_t b = a + apart;
                auto &of_a = had[static_cast<std::size_t>(a)],
                     &of_b = had[static_cast<std::size_t>(b)];
                all.push_back({a, b, of_a, of_b});
                ++of_a;
                ++of_b;
            }
    return all;
}

// The k nearest other rows of each row of Z, sorted by distance, then by row. `order` names
// each row once: where rows that lie together stand together, most pairs are given up early.
inline void compare_each_two(const float* Z, std::int64_t n, std::int64_t d,
                             const std::int32_t* order, std::int64_t k,
                             std::int32_t* indices, float* distances, int threads,
                             Poll poll) {
    const std::int64_t keep = std::min(n, k + kSpare);
    const std::int64_t runs = (n + kRun - 1) / kRun;
    const auto meetings = meetings_of(runs);
    const Panels panels(Z, d, {order, order + n}, threads, poll);
    std::vector<Best> bests(static_cast<std::size_t>(runs));
    std::vector<std::int32_t> first_row(static_cast<std::size_t>(runs));
    std::vector<Progress> met(static_cast<std::size_t>(runs));
    const auto rows_of = [&](std::int64_t run) { return std::min(kRun, n - run * kRun); };
    parallel_for(runs, 1, threads, poll, [&](std::int64_t run, std::int64_t, int) {
        const std::int32_t* mine = order + run * kRun;
        first_row[static_cast<std::size_t>(run)] = *std::min_element(mine, mine + rows_of(run));
        bests[static_cast<std::size_t>(run)].reset(kRun, keep);
    });
    parallel_for(static_cast<std::int64_t>(meetings.size()), 1, threads, poll,
                 [&](std::int64_t number, std::int64_t, int) {
        const Meeting& now = meetings[static_cast<std::size_t>(number)];
        const auto a = static_cast<std::size_t>(now.a), b = static_cast<std::size_t>(now.b);
        const Counted of_a{met[a]}, of_b{met[b]};
        met[a].wait_for(now.before_a);  // claimed in order: others are at it
        met[b].wait_for(now.before_b);
        const std::int64_t first = now.b * kRun;
        const auto place_of = [&](std::int64_t at) {
            return static_cast<std::size_t>(at - first);
        };
        Block block(d);
        for (std::int64_t q = 0; q < rows_of(now.a); ++q) {
            const std::int32_t row = order[now.a * kRun + q];
            block.add(Z + row * d, row, static_cast<std::size_t>(q));
            if (!block.full() && q + 1 < rows_of(now.a)) continue;
            block.scan(
                panels.view(), first / kPanel, (first + rows_of(now.b) + kPanel - 1) / kPanel,
                bests[a], first_row[b],
                [&](std::int64_t p) {
                    return a == b ? nullptr
                                  : bests[b].thresholds(place_of(p * kPanel), first_row[a]);
                },
                [&](std::size_t place, Candidate found) {
                    bests[b].add(place - static_cast<std::size_t>(first), found);
                });
            block.clear();
        }
    });
    parallel_for(runs, 1, threads, poll, [&](std::int64_t run, std::int64_t, int) {
        Exact exact;
        Best& best = bests[static_cast<std::size_t>(run)];
        for (std::int64_t q = 0; q < rows_of(run); ++q) {
            const std::int64_t row = order[run * kRun + q];
            const auto place = static_cast<std::size_t>(q);
            const std::size_t found = best.cut(place);
            exact.write(Z, d, Z + row * d, best.of(place), found, k, indices + row * k,
                        distances + row * k);
        }
    });
}

}  // namespace localmap
