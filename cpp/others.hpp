// The nearest rows in cells for rows that are not among them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cells.hpp"

namespace localmap {

// Rows searched together, at most. Few share a home; those of homes side by side share most
// of their cells, and a cell is compared with several at a time.
constexpr std::int64_t kOthers = 1024;

// Cells that a row searches first: what they hold keeps most of the others out.
constexpr std::int64_t kFirst = 4;

// Some rows in the order of their homes, and the cells that each is to search: its home,
// then the others, nearest first. Whatever rows come with it, a row meets the same cells
// in the same order, and finds the same.
class Others {
public:
    Others(const Grouped& cells, std::int64_t d, const Probing& how, const float* queries,
           const std::int32_t* home)
        : cells_(cells), d_(d), how_(how), queries_(queries), home_(home) {}

    void search(const std::int32_t* rows, std::int64_t count, std::int64_t keep, Best& best) {
        rows_ = rows;
        best.reset(count, keep);
        first_.clear();
        rest_.clear();
        for (std::int64_t begin = 0, end; begin < count; begin = end) {
            for (end = begin; end < count && home_[rows[end]] == home_[rows[begin]];) ++end;
            choose(begin, end);
        }
        visit(first_, best);
        visit(rest_, best);
    }

private:
    struct Visit {
        std::int32_t cell, place;  // of the row among those searched
    };
    // The cells of rows [begin, end), which share a home.
    void choose(std::int64_t begin, std::int64_t end) {
        const std::int32_t cell = home_[rows_[begin]];
        const std::int32_t* list = how_.shortlists + cell * how_.length;
        const Panels centres(how_.centres, d_, {list, list + how_.length}, 1, nullptr);
        const auto chosen = nearest(queries_, d_, {rows_ + begin, rows_ + end}, centres,
                                    how_.probes, 1, nullptr);
        for (std::int64_t q = begin; q < end; ++q) {
            const auto place = static_cast<std::int32_t>(q);
            std::int64_t visits = 0;
            const auto add = [&](std::int32_t next) {
                (visits++ < kFirst ? first_ : rest_).push_back({next, place});
            };
            add(cell);  // searched even where others are nearer
            for (std::int64_t c = (q - begin) * how_.probes; c < (q - begin + 1) * how_.probes;
                 ++c)
                if (chosen[static_cast<std::size_t>(c)] != cell)
                    add(chosen[static_cast<std::size_t>(c)]);
        }
    }
    // Search cell by cell.
    void visit(const std::vector<Visit>& visits, Best& best) {
        // Places in the order of their cells, and where those of each end.
        ends_.assign(static_cast<std::size_t>(cells_.count()) + 1, 0);
        for (const Visit& one : visits) ++ends_[static_cast<std::size_t>(one.cell) + 1];
        for (std::size_t c = 1; c < ends_.size(); ++c) ends_[c] += ends_[c - 1];
        places_.resize(visits.size());
        for (const Visit& one : visits)
            places_[ends_[static_cast<std::size_t>(one.cell)]++] =
                static_cast<std::size_t>(one.place);
        Block block(d_);
        std::size_t v = 0;
        for (std::int32_t cell = 0; cell < cells_.count(); ++cell)
            for (const std::size_t end = ends_[static_cast<std::size_t>(cell)]; v < end;) {
                block.add(queries_ + rows_[places_[v]] * d_, kNoRow, places_[v]);
                if (++v < end && !block.full()) continue;
                cells_.scan(block, cell, best);
                block.clear();
            }
    }

    const Grouped& cells_;
    std::int64_t d_;
    const Probing& how_;
    const float* queries_;
    const std::int32_t *home_, *rows_ = nullptr;
    std::vector<Visit> first_, rest_;
    std::vector<std::size_t> ends_, places_;
};

// The k nearest rows of each of other rows, whose cells are `home`. What one of them finds
// depends on that row alone. Places that the cells cannot fill hold kNoRow and an infinite
// distance.
inline void find_for_others(const Grouped& cells, std::int64_t n, std::int64_t d,
                            const Probing& how, const float* queries, std::int64_t count,
                            const std::int32_t* home, std::int64_t k, std::int32_t* indices,
                            float* distances, int threads, Poll poll) {
    auto rows = all_rows(count);
    std::sort(rows.begin(), rows.end(), [&](std::int32_t a, std::int32_t b) {
        return home[a] < home[b] || (home[a] == home[b] && a < b);
    });
    const std::int64_t keep = std::min(n, k + kSpare);
    std::vector<Best> bests(static_cast<std::size_t>(threads));
    parallel_for(count, equal_parts(count, kOthers, threads), threads, poll,
                 [&](std::int64_t begin, std::int64_t end, int worker) {
        Best& best = bests[static_cast<std::size_t>(worker)];
        Exact exact;
        Others(cells, d, how, queries, home)
            .search(rows.data() + begin, end - begin, keep, best);
        for (std::int64_t q = begin; q < end; ++q) {
            const std::int64_t row = rows[static_cast<std::size_t>(q)];
            const auto place = static_cast<std::size_t>(q - begin);
            const std::size_t found = best.cut(place);
            exact.write(cells.Z(), d, queries + row * d, best.of(place), found, k,
                        indices + row * k, distances + row * k);
        }
    });
}

}  // namespace localmap
