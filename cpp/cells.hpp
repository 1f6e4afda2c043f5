// Nearest neighbours in cells: rows are grouped by k-means, and each row is compared
// with the rows of the cells whose centres are nearest to it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "knn.hpp"
#include "parallel.hpp"

namespace localmap {

constexpr int kMeansRounds = 4;
constexpr std::int64_t kSamplePerCell = 32;  // rows that place a centre

// A row is compared with the centres near its own cell's centre only: this many for
// each cell that it searches.
constexpr std::int64_t kShortlist = 12;

// Queries searched together: they share cells, and Ctrl-C is heard between them.
constexpr std::int64_t kBatch = 512;

// The `keep` nearest of the points in `panels` for each of some rows of Z, nearest
// first, as the panels name them.
inline std::vector<std::int32_t> nearest(const float* Z, std::int64_t d,
                                         const std::vector<std::int32_t>& rows,
                                         const Panels& panels, std::int64_t keep,
                                         int threads, Poll poll) {
    const auto count = static_cast<std::int64_t>(rows.size());
    std::vector<std::int32_t> found(static_cast<std::size_t>(count * keep));
    parallel_for(count, kTile, threads, poll, [&](std::int64_t begin, std::int64_t end, int) {
        Best best;
        best.reset(end - begin, keep);
        scan_all(
            panels, d, end - begin,
            [&](std::int64_t q) { return Z + rows[static_cast<std::size_t>(begin + q)] * d; },
            [](std::int64_t) { return kNoRow; }, best);
        for (std::int64_t q = begin; q < end; ++q) {
            const auto place = static_cast<std::size_t>(q - begin);
            const std::size_t size = best.cut(place);
            Candidate* mine = best.of(place);
            if (keep > 1) std::sort(mine, mine + size, Best::better);
            for (std::size_t s = 0; s < size; ++s)
                found[static_cast<std::size_t>(q * keep) + s] = mine[s].row;
        }
    });
    return found;
}

// Centre of each of `cells` groups of the given rows (Lloyd's rounds, spread start).
inline std::vector<float> k_means(const float* Z, std::int64_t d,
                                  const std::vector<std::int32_t>& rows, std::int64_t cells,
                                  std::vector<std::int32_t>& group, int threads, Poll poll) {
    const auto count = static_cast<std::int64_t>(rows.size());
    std::vector<float> centres(static_cast<std::size_t>(cells * d));
    for (std::int64_t c = 0; c < cells; ++c) {
        const float* from = Z + rows[static_cast<std::size_t>(c * count / cells)] * d;
        std::copy(from, from + d, centres.begin() + c * d);
    }
    std::vector<double> sums(static_cast<std::size_t>(cells * d));
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(cells));
    for (int round = 0;; ++round) {
        const Panels panels(centres.data(), d, all_rows(cells), 1, nullptr);
        group = nearest(Z, d, rows, panels, 1, threads, poll);
        if (round == kMeansRounds) return centres;
        std::fill(sums.begin(), sums.end(), 0.0);
        std::fill(sizes.begin(), sizes.end(), 0);
        for (std::size_t r = 0; r < rows.size(); ++r) {  // in row order: the same bits
            const float* x = Z + rows[r] * d;
            double* sum = sums.data() + group[r] * d;
            for (std::int64_t k = 0; k < d; ++k) sum[k] += double(x[k]);
            ++sizes[static_cast<std::size_t>(group[r])];
        }
        for (std::int64_t c = 0; c < cells; ++c) {
            const auto size = double(sizes[static_cast<std::size_t>(c)]);
            if (size == 0.0) continue;  // an empty cell keeps its centre
            for (std::int64_t k = 0; k < d; ++k)
                centres[static_cast<std::size_t>(c * d + k)] =
                    static_cast<float>(sums[static_cast<std::size_t>(c * d + k)] / size);
        }
    }
}

// Members of each of `groups` groups, in order.
inline std::vector<std::vector<std::int32_t>> members(const std::vector<std::int32_t>& rows,
                                                      const std::vector<std::int32_t>& group,
                                                      std::int64_t groups) {
    std::vector<std::vector<std::int32_t>> found(static_cast<std::size_t>(groups));
    for (std::size_t r = 0; r < rows.size(); ++r)
        found[static_cast<std::size_t>(group[r])].push_back(rows[r]);
    return found;
}

// Rows grouped by k-means in two levels: a few coarse groups, each split in proportion to
// its size; then every row goes to the nearest of the centres around its coarse group.
class Cells {
public:
    Cells(const float* Z, std::int64_t n, std::int64_t d, std::int64_t cells, int threads,
          Poll poll)
        : Z_(Z), d_(d) {
        const std::int64_t sampled = std::min(n, cells * kSamplePerCell);
        std::vector<std::int32_t> sample(static_cast<std::size_t>(sampled));
        for (std::int64_t s = 0; s < sampled; ++s)
            sample[static_cast<std::size_t>(s)] = static_cast<std::int32_t>(s * n / sampled);
        const auto coarse = static_cast<std::int64_t>(std::sqrt(double(cells)));
        std::vector<std::int32_t> group;
        const auto around = k_means(Z, d, sample, coarse, group, threads, poll);
        split(members(sample, group, coarse), double(cells) / double(sampled), threads, poll);
        const Panels coarse_panels(around.data(), d, all_rows(coarse), threads, poll);
        group = nearest(Z, d, all_rows(n), coarse_panels, 1, threads, poll);
        assign(around, members(all_rows(n), group, coarse), threads, poll);
        pack(threads, poll);
    }

    std::int64_t count() const { return count_; }
    std::int32_t cell(std::int64_t row) const { return cell_[static_cast<std::size_t>(row)]; }
    const std::vector<std::int32_t>& rows(std::int64_t cell) const {
        return rows_[static_cast<std::size_t>(cell)];
    }
    // The cells nearest to each cell, itself first.
    std::vector<std::int32_t> shortlists(std::int64_t length, int threads, Poll poll) const {
        return nearest(centres_.data(), d_, all_rows(count_), all(threads, poll), length,
                       threads, poll);
    }
    // All cells, nearest to each of some rows first.
    std::vector<std::int32_t> ranked(const std::vector<std::int32_t>& rows, int threads,
                                     Poll poll) const {
        return nearest(Z_, d_, rows, all(threads, poll), count_, threads, poll);
    }
    // All cells, nearest to the own cell of each of some rows first.
    std::vector<std::int32_t> ranked_from_homes(std::vector<std::int32_t> rows, int threads,
                                                Poll poll) const {
        for (std::int32_t& row : rows) row = cell(row);
        return nearest(centres_.data(), d_, rows, all(threads, poll), count_, threads, poll);
    }
    Panels centres(const std::int32_t* cells, std::int64_t count) const {
        return Panels(centres_.data(), d_, {cells, cells + count}, 1, nullptr);
    }
    void scan(const Block& block, std::int32_t cell, Best& best) const {
        const Panels& panels = panels_[static_cast<std::size_t>(cell)];
        block.scan(panels, 0, panels.count(), best);
    }

private:
    Panels all(int threads, Poll poll) const {
        return Panels(centres_.data(), d_, all_rows(count_), threads, poll);
    }
    void split(const std::vector<std::vector<std::int32_t>>& groups, double cells_per_row,
               int threads, Poll poll) {
        std::vector<std::vector<float>> parts(groups.size());
        parallel_for(static_cast<std::int64_t>(groups.size()), 1, threads, poll,
                     [&](std::int64_t begin, std::int64_t end, int worker) {
                         for (auto g = static_cast<std::size_t>(begin);
                              g < static_cast<std::size_t>(end); ++g) {
                             if (groups[g].empty()) continue;
                             const auto share = std::max<std::int64_t>(
                                 1, std::llround(double(groups[g].size()) * cells_per_row));
                             std::vector<std::int32_t> unused;
                             parts[g] = k_means(Z_, d_, groups[g], share, unused, 1,
                                                worker == 0 ? poll : nullptr);
                         }
                     });
        for (const auto& part : parts)
            centres_.insert(centres_.end(), part.begin(), part.end());
        count_ = static_cast<std::int64_t>(centres_.size()) / d_;
    }
    void assign(const std::vector<float>& around,
                const std::vector<std::vector<std::int32_t>>& groups, int threads,
                Poll poll) {
        const auto coarse = static_cast<std::int64_t>(groups.size());
        const std::int64_t length = std::min(count_, kShortlist * (count_ / coarse + 1));
        const auto lists = nearest(around.data(), d_, all_rows(coarse), all(threads, poll),
                                   length, threads, poll);
        std::size_t n = 0;
        for (const auto& group : groups) n += group.size();
        cell_.resize(n);
        for (std::int64_t g = 0; g < coarse; ++g) {
            const auto& group = groups[static_cast<std::size_t>(g)];
            const auto own = nearest(Z_, d_, group, centres(&lists[g * length], length), 1,
                                     threads, poll);
            for (std::size_t r = 0; r < group.size(); ++r)
                cell_[static_cast<std::size_t>(group[r])] = own[r];
        }
    }
    void pack(int threads, Poll poll) {
        rows_ = members(all_rows(static_cast<std::int64_t>(cell_.size())), cell_, count_);
        panels_.resize(rows_.size());
        parallel_for(count_, 16, threads, poll, [&](std::int64_t begin, std::int64_t end, int) {
            for (auto c = static_cast<std::size_t>(begin); c < static_cast<std::size_t>(end); ++c)
                panels_[c] = Panels(Z_, d_, rows_[c], 1, nullptr);
        });
    }

    const float* Z_;
    std::int64_t d_, count_ = 0;
    std::vector<float> centres_;
    std::vector<std::int32_t> cell_;
    std::vector<std::vector<std::int32_t>> rows_;  // of each cell
    std::vector<Panels> panels_;                   // of each cell
};

// How many cells a row must search, by the rows whose true neighbours are known: the
// fewest for which the share `recall` of those neighbours lies in the searched cells.
inline std::int64_t probes_for(const Cells& cells, const std::vector<std::int32_t>& sample,
                               const std::int32_t* truth, std::int64_t at, double recall,
                               int threads, Poll poll) {
    const std::int64_t count = cells.count();
    const auto places = [&](const std::int32_t* order) {
        std::vector<std::int64_t> place(static_cast<std::size_t>(count));
        for (std::int64_t r = 0; r < count; ++r) place[static_cast<std::size_t>(order[r])] = r;
        return place;
    };
    const auto of_row = cells.ranked(sample, threads, poll);
    const auto of_cell = cells.ranked_from_homes(sample, threads, poll);
    std::vector<std::int64_t> needed;  // cells to search until a neighbour is found
    for (std::size_t s = 0; s < sample.size(); ++s) {
        const auto by_row = places(&of_row[s * static_cast<std::size_t>(count)]);
        const auto by_cell = places(&of_cell[s * static_cast<std::size_t>(count)]);
        for (std::int64_t t = 0; t < at; ++t) {
            const auto home = static_cast<std::size_t>(
                cells.cell(truth[static_cast<std::int64_t>(s) * at + t]));
            needed.push_back(1 + std::max(by_row[home], by_cell[home] / kShortlist));
        }
    }
    const auto enough = static_cast<std::size_t>(
        std::ceil(recall * double(needed.size())) - 1.0);
    std::nth_element(needed.begin(), needed.begin() + static_cast<std::ptrdiff_t>(enough),
                     needed.end());
    return std::min(count, needed[enough]);
}

// Search `probes` of the cells in `shortlist` for each of some rows of one cell, nearest
// to that cell first: what the first ones hold keeps most of the others out.
inline void search(const Cells& cells, const float* Z, std::int64_t d,
                   const std::vector<std::int32_t>& rows, const std::int32_t* shortlist,
                   std::int64_t length, std::int64_t probes, std::int64_t keep, Best& best) {
    best.reset(static_cast<std::int64_t>(rows.size()), keep);
    Block block(d);
    const auto visit = [&](std::size_t q, std::int32_t cell) {
        block.add(Z + rows[q] * d, rows[q], q);
        if (!block.full()) return;
        cells.scan(block, cell, best);
        block.clear();
    };
    const auto leave = [&](std::int32_t cell) {
        cells.scan(block, cell, best);
        block.clear();
    };
    if (probes == length) {  // every row visits every cell
        for (std::int64_t l = 0; l < length; ++l) {
            for (std::size_t q = 0; q < rows.size(); ++q) visit(q, shortlist[l]);
            leave(shortlist[l]);
        }
        return;
    }
    const auto chosen =
        nearest(Z, d, rows, cells.centres(shortlist, length), probes, 1, nullptr);
    std::vector<std::vector<std::size_t>> visits(static_cast<std::size_t>(cells.count()));
    for (std::size_t c = 0; c < chosen.size(); ++c)
        visits[static_cast<std::size_t>(chosen[c])].push_back(
            c / static_cast<std::size_t>(probes));
    for (std::int64_t l = 0; l < length; ++l) {
        for (const std::size_t q : visits[static_cast<std::size_t>(shortlist[l])])
            visit(q, shortlist[l]);
        leave(shortlist[l]);
    }
}

// The k nearest other rows of each row among the rows of its nearest cells. Places that
// the cells cannot fill hold kNoRow and an infinite distance. Returns the probes used.
// Without a sample all cells are searched: exact, and faster than in any other order,
// because near rows come first and far cells are given up after a few axes.
inline std::int64_t cell_neighbors(const float* Z, std::int64_t n, std::int64_t d,
                                   std::int64_t k, std::int64_t cell_count,
                                   const std::int32_t* sample, std::int64_t sampled,
                                   const std::int32_t* truth, std::int64_t at, double recall,
                                   std::int32_t* indices, float* distances, int threads,
                                   Poll poll) {
    const Cells cells(Z, n, d, cell_count, threads, poll);
    const std::int64_t probes =
        sampled == 0 ? cells.count()
                     : probes_for(cells, {sample, sample + sampled}, truth, at, recall,
                                  threads, poll);
    const std::int64_t length = std::min(cells.count(), kShortlist * probes);
    const auto shortlists = cells.shortlists(length, threads, poll);
    const std::int64_t keep = std::min(n - 1, k + kSpare);
    struct Batch {
        std::int64_t cell, begin, end;
    };
    std::vector<Batch> batches;
    for (std::int64_t c = 0; c < cells.count(); ++c) {
        const auto size = static_cast<std::int64_t>(cells.rows(c).size());
        for (std::int64_t begin = 0; begin < size; begin += kBatch)
            batches.push_back({c, begin, std::min(size, begin + kBatch)});
    }
    parallel_for(static_cast<std::int64_t>(batches.size()), 1, threads, poll,
                 [&](std::int64_t number, std::int64_t, int) {
                     const Batch& batch = batches[static_cast<std::size_t>(number)];
                     const auto from = cells.rows(batch.cell).begin();
                     const std::vector<std::int32_t> rows(from + batch.begin,
                                                          from + batch.end);
                     Best best;
                     search(cells, Z, d, rows, &shortlists[static_cast<std::size_t>(
                                                   batch.cell * length)],
                            length, probes, keep, best);
                     Exact exact;
                     for (std::size_t q = 0; q < rows.size(); ++q)
                         exact.write(Z, d, Z + rows[q] * d, best.of(q), best.cut(q), k,
                                     indices + rows[q] * k, distances + rows[q] * k);
                 });
    return probes;
}

}  // namespace localmap
