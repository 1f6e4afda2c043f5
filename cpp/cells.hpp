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
        around_ = k_means(Z, d, sample, coarse, group, threads, poll);
        split(members(sample, group, coarse), double(cells) / double(sampled), threads, poll);
        length_ = std::min(count_, kShortlist * (count_ / coarse + 1));
        lists_ = nearest(around_.data(), d, all_rows(coarse), all(threads, poll), length_,
                         threads, poll);
        cell_ = homes(Z, n, threads, poll);
        pack(threads, poll);
    }

    // The cell of each row of X: the nearest of those around its coarse group.
    std::vector<std::int32_t> homes(const float* X, std::int64_t count, int threads,
                                    Poll poll) const {
        const std::int64_t coarse = static_cast<std::int64_t>(around_.size()) / d_;
        const Panels panels(around_.data(), d_, all_rows(coarse), threads, poll);
        const auto rows = all_rows(count);
        const auto groups =
            members(rows, nearest(X, d_, rows, panels, 1, threads, poll), coarse);
        std::vector<std::int32_t> home(rows.size());
        for (std::size_t g = 0; g < groups.size(); ++g) {
            const std::int32_t* list = &lists_[g * static_cast<std::size_t>(length_)];
            const auto own =
                nearest(X, d_, groups[g], centres(list, length_), 1, threads, poll);
            for (std::size_t r = 0; r < groups[g].size(); ++r)
                home[static_cast<std::size_t>(groups[g][r])] = own[r];
        }
        return home;
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
    void pack(int threads, Poll poll) {
        rows_ = members(all_rows(static_cast<std::int64_t>(cell_.size())), cell_, count_);
        panels_.resize(rows_.size());
        parallel_for(count_, 16, threads, poll, [&](std::int64_t begin, std::int64_t end, int) {
            for (auto c = static_cast<std::size_t>(begin); c < static_cast<std::size_t>(end); ++c)
                panels_[c] = Panels(Z_, d_, rows_[c], 1, nullptr);
        });
    }

    const float* Z_;
    std::int64_t d_, count_ = 0, length_ = 0;
    std::vector<float> around_;        // centres of the coarse groups
    std::vector<std::int32_t> lists_;  // cells around each coarse group
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

// Search `probes` of the cells in `shortlist` for each of some rows that lie together,
// nearest to them first: what the first ones hold keeps most of the others out. `own` says
// that the rows are those of the cells, and a row does not find itself.
inline void search(const Cells& cells, const float* Z, std::int64_t d,
                   const std::vector<std::int32_t>& rows, const std::int32_t* shortlist,
                   std::int64_t length, std::int64_t probes, std::int64_t keep, bool own,
                   Best& best) {
    best.reset(static_cast<std::int64_t>(rows.size()), keep);
    Block block(d);
    const auto visit = [&](std::size_t q, std::int32_t cell) {
        block.add(Z + rows[q] * d, own ? rows[q] : kNoRow, q);
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
    // The home of the rows, first in the list, is searched even where others are nearer.
    auto& at_home = visits[static_cast<std::size_t>(shortlist[0])];
    for (std::size_t q = 0; q < rows.size(); ++q) at_home.push_back(q);
    for (std::size_t c = 0; c < chosen.size(); ++c)
        if (chosen[c] != shortlist[0])
            visits[static_cast<std::size_t>(chosen[c])].push_back(
                c / static_cast<std::size_t>(probes));
    for (std::int64_t l = 0; l < length; ++l) {
        for (const std::size_t q : visits[static_cast<std::size_t>(shortlist[l])])
            visit(q, shortlist[l]);
        leave(shortlist[l]);
    }
}

// Rows in cells, and what it takes to search them.
class Index {
public:
    // `truth` holds the `at` nearest other rows of each row in `sample`; as many cells are
    // searched as hold the share `recall` of them. Without a sample all cells are:
    // exact, and faster than in any other order, because near rows come first and far
    // cells are given up after a few axes.
    Index(const float* Z, std::int64_t n, std::int64_t d, std::int64_t cell_count,
          const std::int32_t* sample, std::int64_t sampled, const std::int32_t* truth,
          std::int64_t at, double recall, int threads, Poll poll)
        : Z_(Z),
          n_(n),
          d_(d),
          cells_(Z, n, d, cell_count, threads, poll),
          probes_(sampled == 0 ? cells_.count()
                               : probes_for(cells_, {sample, sample + sampled}, truth, at,
                                            recall, threads, poll)),
          length_(std::min(cells_.count(), kShortlist * probes_)),
          shortlists_(cells_.shortlists(length_, threads, poll)) {}

    std::int64_t probes() const { return probes_; }

    // The k nearest other rows of each row. Places that the cells cannot fill hold kNoRow
    // and an infinite distance.
    void among_themselves(std::int64_t k, std::int32_t* indices, float* distances,
                          int threads, Poll poll) const {
        const auto rows = [&](std::int64_t c) -> const auto& { return cells_.rows(c); };
        find(Z_, rows, true, k, indices, distances, threads, poll);
    }
    // The same for other rows. What one of them finds depends on that row alone.
    void of(const float* queries, std::int64_t count, std::int64_t k, std::int32_t* indices,
            float* distances, int threads, Poll poll) const {
        const auto by_home = members(
            all_rows(count), cells_.homes(queries, count, threads, poll), cells_.count());
        const auto rows = [&](std::int64_t c) -> const auto& {
            return by_home[static_cast<std::size_t>(c)];
        };
        find(queries, rows, false, k, indices, distances, threads, poll);
    }

private:
    // `rows(c)` names the rows of X whose home is cell c.
    template <class RowsOf>
    void find(const float* X, RowsOf rows_of, bool own, std::int64_t k,
              std::int32_t* indices, float* distances, int threads, Poll poll) const {
        struct Batch {
            std::int64_t cell, begin, end;
        };
        std::vector<Batch> batches;
        for (std::int64_t c = 0; c < cells_.count(); ++c) {
            const auto size = static_cast<std::int64_t>(rows_of(c).size());
            for (std::int64_t begin = 0; begin < size; begin += kBatch)
                batches.push_back({c, begin, std::min(size, begin + kBatch)});
        }
        const std::int64_t keep = std::min(n_, k + kSpare);
        parallel_for(static_cast<std::int64_t>(batches.size()), 1, threads, poll,
                     [&](std::int64_t number, std::int64_t, int) {
                         const Batch& batch = batches[static_cast<std::size_t>(number)];
                         const auto from = rows_of(batch.cell).begin();
                         const std::vector<std::int32_t> rows(from + batch.begin,
                                                              from + batch.end);
                         Best best;
                         search(cells_, X, d_, rows,
                                &shortlists_[static_cast<std::size_t>(batch.cell * length_)],
                                length_, probes_, keep, own, best);
                         Exact exact;
                         for (std::size_t q = 0; q < rows.size(); ++q)
                             exact.write(Z_, d_, X + rows[q] * d_, best.of(q), best.cut(q),
                                         k, indices + rows[q] * k,
                                         distances + rows[q] * k);
                     });
    }

    const float* Z_;
    std::int64_t n_, d_;
    Cells cells_;
    std::int64_t probes_, length_;
    std::vector<std::int32_t> shortlists_;
};

}  // namespace localmap
