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
    std::int32_t a, b;
    std::int64_t round, before_a, before_b;
    double apart;
};

// Counts a meeting when it ends, also by an error: others wait for the count.
struct Met {
    Progress &a, &b;
    ~Met() {
        a.add();
        if (&a != &b) b.add();
    }
};

// All meetings of runs, near ones first: what they find keeps most of the others out. In a
// round each run meets one other, so that few have to wait.
inline std::vector<Meeting> meetings_of(const float* Z, std::int64_t n, std::int64_t d,
                                        const std::int32_t* order, int threads, Poll poll) {
    const std::int64_t runs = (n + kRun - 1) / kRun;
    std::vector<double> means(static_cast<std::size_t>(runs * d), 0.0);
    parallel_for(runs, 1, threads, poll, [&](std::int64_t run, std::int64_t, int) {
        const std::int64_t first = run * kRun, last = std::min(n, first + kRun);
        for (std::int64_t i = first; i < last; ++i)
            for (std::int64_t k = 0; k < d; ++k)
                means[static_cast<std::size_t>(run * d + k)] +=
                    double(Z[order[i] * d + k]) / double(last - first);
    });
    std::vector<Meeting> all;
    for (std::int32_t a = 0; a < runs; ++a)
        for (std::int32_t b = a; b < runs; ++b) all.push_back({a, b, 0, 0, 0, 0.0});
    parallel_for(static_cast<std::int64_t>(all.size()), 256, threads, poll,
                 [&](std::int64_t begin, std::int64_t end, int) {
        for (auto m = static_cast<std::size_t>(begin); m < static_cast<std::size_t>(end); ++m)
            for (std::int64_t k = 0; k < d; ++k) {
                const double away = means[static_cast<std::size_t>(all[m].a * d + k)] -
                                    means[static_cast<std::size_t>(all[m].b * d + k)];
                all[m].apart += away * away;
            }
    });
    std::stable_sort(all.begin(), all.end(), [](const Meeting& one, const Meeting& other) {
        return one.apart < other.apart;
    });
    std::vector<std::int64_t> rounds(static_cast<std::size_t>(runs), 0), had = rounds;
    for (Meeting& one : all) {
        auto& of_a = rounds[static_cast<std::size_t>(one.a)];
        auto& of_b = rounds[static_cast<std::size_t>(one.b)];
        one.round = std::max(of_a, of_b);
        of_a = of_b = one.round + 1;
        one.before_a = had[static_cast<std::size_t>(one.a)]++;
        if (one.a != one.b) one.before_b = had[static_cast<std::size_t>(one.b)]++;
    }
    std::stable_sort(all.begin(), all.end(), [](const Meeting& one, const Meeting& other) {
        return one.round < other.round;
    });
    return all;
}

// The k nearest other rows of each row of Z, sorted by distance, then by row. `order` names
// each row once: where rows that lie together stand together, most pairs are given up early.
inline void compare_each_two(const float* Z, std::int64_t n, std::int64_t d,
                             const std::int32_t* order, std::int64_t k,
                             std::int32_t* indices, float* distances, int threads,
                             Poll poll) {
    const std::int64_t keep = std::min(n, k + kSpare);
    const auto meetings = meetings_of(Z, n, d, order, threads, poll);
    const std::int64_t runs = (n + kRun - 1) / kRun;
    const Panels panels(Z, d, {order, order + n}, threads, poll);
    std::vector<Best> bests(static_cast<std::size_t>(runs));
    std::vector<Progress> met(static_cast<std::size_t>(runs));
    const auto rows_of = [&](std::int64_t run) { return std::min(kRun, n - run * kRun); };
    parallel_for(runs, 1, threads, poll, [&](std::int64_t run, std::int64_t, int) {
        bests[static_cast<std::size_t>(run)].reset(kRun, keep, true);
    });
    parallel_for(static_cast<std::int64_t>(meetings.size()), 1, threads, poll,
                 [&](std::int64_t number, std::int64_t, int) {
        const Meeting& now = meetings[static_cast<std::size_t>(number)];
        const auto a = static_cast<std::size_t>(now.a), b = static_cast<std::size_t>(now.b);
        const Met counted{met[a], met[b]};
        met[a].wait_for(now.before_a);  // claimed in order: others are at it
        if (a != b) met[b].wait_for(now.before_b);
        const std::int64_t first = now.b * kRun;
        const std::int64_t last_panel = (first + rows_of(now.b) + kPanel - 1) / kPanel;
        Block block(d);
        for (std::int64_t q = 0; q < rows_of(now.a); ++q) {
            const std::int32_t row = order[now.a * kRun + q];
            block.add(Z + row * d, row, static_cast<std::size_t>(q));
            if (!block.full() && q + 1 < rows_of(now.a)) continue;
            if (a == b)
                block.scan(panels.view(), first / kPanel, last_panel, bests[a]);
            else
                block.scan(
                    panels.view(), first / kPanel, last_panel, bests[a],
                    [&](std::int64_t p) {
                        return bests[b].thresholds(
                            static_cast<std::size_t>(p * kPanel - first));
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
