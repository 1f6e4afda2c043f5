// Pairs listed at both their points, so that every point sums its own forces: nobody
// else writes to it, and the order of its list is the order of its sum. The same bits on
// any number of threads, and no thread waits for another.
//
// An entry is the other point and, in its three lowest bits, how often the pair is there:
// where i has drawn j and j has drawn i, one entry stands for both.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "isa.hpp"
#include "parallel.hpp"

namespace localmap {

// Entries that may be read, and do not count, after the last one.
constexpr std::int64_t kBeyond = kLanes;

// Count the pairs of every point, both those that it has and those that have it; returns
// how many places the lists of `build_lists` may take, in all.
inline std::int64_t count_pairs(const std::int32_t* pairs, std::int64_t n, std::int64_t k,
                                std::int64_t* starts, int threads, Poll poll) {
    std::vector<std::atomic<std::int32_t>> counts(static_cast<std::size_t>(n));
    parallel_for(n, 4096, threads, poll, [&](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t p = begin * k; p < end * k; ++p)
            counts[static_cast<std::size_t>(pairs[p])].fetch_add(1, std::memory_order_relaxed);
    });
    starts[0] = 0;
    for (std::int64_t i = 0; i < n; ++i)
        starts[i + 1] = starts[i] + k + counts[static_cast<std::size_t>(i)].load();
    return starts[n];
}

// Let entries of one list that name the same point stand as one, where a code can say so.
inline std::int64_t merge_entries(std::uint32_t* list, std::int64_t count) {
    std::sort(list, list + count);
    std::int64_t kept = 0;
    for (std::int64_t e = 0; e < count; ++e) {
        if (kept > 0 && (list[kept - 1] & ~kCodeMask) == (list[e] & ~kCodeMask)) {
            const std::uint32_t one = list[kept - 1] & kCodeMask, other = list[e] & kCodeMask;
            // Sorted: trusted ones come first.
            std::uint32_t both = kNobody;
            if (one == kTrusted && other == kTrusted) both = kTwiceTrusted;
            if (one == kDoubted && other == kDoubted) both = kTwiceDoubted;
            if (one == kTrusted && other == kDoubted) both = kBoth;
            if (both != kNobody) {
                list[kept - 1] = (list[e] & ~kCodeMask) | both;
                continue;
            }
        }
        list[kept++] = list[e];
    }
    return kept;
}

// List n x k partners at both points. `starts` is as `count_pairs` left it, and says in
// the end where each list begins; `entries` has room for all places and kBeyond more. The
// first trusted[i] partners of row i are trusted; without `trusted` none are. Returns how
// many entries there are.
inline std::int64_t build_lists(const std::int32_t* pairs, std::int64_t n, std::int64_t k,
                                const std::uint16_t* trusted, std::int64_t* starts,
                                std::uint32_t* entries, int threads, Poll poll) {
    const auto code = [&](std::int64_t i, std::int64_t s) {
        return trusted != nullptr && s < trusted[i] ? kTrusted : kDoubted;
    };
    const auto entry = [](std::int64_t row, std::uint32_t how) {
        return static_cast<std::uint32_t>(row) << kCodeBits | how;
    };
    {
        std::vector<std::atomic<std::int32_t>> filled(static_cast<std::size_t>(n));
        const auto add = [&](std::int64_t at, std::uint32_t what) {
            const std::int32_t place = filled[static_cast<std::size_t>(at)].fetch_add(
                1, std::memory_order_relaxed);
            entries[starts[at] + place] = what;
        };
        parallel_for(n, 1024, threads, poll, [&](std::int64_t begin, std::int64_t end, int) {
            for (std::int64_t i = begin; i < end; ++i)
                for (std::int64_t s = 0; s < k; ++s) {
                    const std::int64_t j = pairs[i * k + s];
                    add(i, entry(j, code(i, s)));
                    add(j, entry(i, code(i, s)));
                }
        });
    }
    // Whichever thread came first: sorted, a list is what it is.
    std::vector<std::int64_t> counts(static_cast<std::size_t>(n));
    parallel_for(n, 1024, threads, poll, [&](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t i = begin; i < end; ++i)
            counts[static_cast<std::size_t>(i)] =
                merge_entries(entries + starts[i], starts[i + 1] - starts[i]);
    });
    std::int64_t total = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t count = counts[static_cast<std::size_t>(i)], from = starts[i];
        if (from != total)
            std::copy(entries + from, entries + from + count, entries + total);
        starts[i] = total;
        total += count;
    }
    starts[n] = total;
    std::fill(entries + total, entries + total + kBeyond, 0u);
    return total;
}

}  // namespace localmap
