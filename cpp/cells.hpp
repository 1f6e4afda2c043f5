// Nearest neighbours in cells: rows are grouped by k-means, and each row is compared
// with the rows of the cells whose centres are nearest to it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "knn.hpp"
#include "parallel.hpp"

namespace localmap {

constexpr int kMeansRounds = 4;

// A row is compared with the centres near its own cell's centre only: this many for
// each cell that it searches.
constexpr std::int64_t kShortlist = 12;

// Queries searched together: they share cells, and Ctrl-C is heard between them.
constexpr std::int64_t kBatch = 512;

// The `keep` nearest of the points in `panels` for each of some rows of Z, as the panels
// name them; nearest first if `sorted`.
inline std::vector<std::int32_t> nearest(const float* Z, std::int64_t d,
                                         const std::vector<std::int32_t>& rows,
                                         const Panels& panels, std::int64_t keep,
                                         int threads, Poll poll, bool sorted = true) {
    const auto count = static_cast<std::int64_t>(rows.size());
    std::vector<std::int32_t> found(static_cast<std::size_t>(count * keep));
    const std::int64_t tile = tile_of(count, threads);
    parallel_for(count, tile, threads, poll, [&](std::int64_t begin, std::int64_t end, int) {
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
            if (sorted) std::sort(mine, mine + size);
            for (std::size_t s = 0; s < size; ++s)
                found[static_cast<std::size_t>(q * keep) + s] = row_of(mine[s]);
        }
    });
    return found;
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
    for (int round = 0;; ++round) {
        const Panels panels(centres.data(), d, all_rows(cells), 1, nullptr);
        group = nearest(Z, d, rows, panels, 1, threads, poll);
        if (round == kMeansRounds) return centres;
        const auto found = members(rows, group, cells);
        parallel_for(cells, 1, threads, poll, [&](std::int64_t c, std::int64_t, int) {
            const auto& mine = found[static_cast<std::size_t>(c)];
            if (mine.empty()) return;  // an empty cell keeps its centre
            std::vector<double> sum(static_cast<std::size_t>(d), 0.0);
            for (const std::int32_t r : mine)  // in row order: the same bits
                for (std::int64_t k = 0; k < d; ++k)
                    sum[static_cast<std::size_t>(k)] += double(Z[r * d + k]);
            for (std::int64_t k = 0; k < d; ++k)
                centres[static_cast<std::size_t>(c * d + k)] = static_cast<float>(
                    sum[static_cast<std::size_t>(k)] / double(mine.size()));
        });
    }
}

// Centres of cells by k-means in two levels: a few coarse groups, each split in proportion
// to its size. `lists` names the cells around each coarse group, nearest first.
struct Centres {
    std::int64_t d;
    std::vector<float> around;  // of the coarse groups
    std::vector<float> cells;
    std::vector<std::int32_t> lists;

    std::int64_t coarse() const { return static_cast<std::int64_t>(around.size()) / d; }
    std::int64_t count() const { return static_cast<std::int64_t>(cells.size()) / d; }
};

// About `cells` centres for rows like those of the sample.
inline Centres centres_of(const float* sample, std::int64_t sampled, std::int64_t d,
                          std::int64_t cells, int threads, Poll poll) {
    Centres found{d, {}, {}, {}};
    const auto coarse = static_cast<std::int64_t>(std::sqrt(double(cells)));
    const auto rows = all_rows(sampled);
    std::vector<std::int32_t> group;
    found.around = k_means(sample, d, rows, coarse, group, threads, poll);
    const auto groups = members(rows, group, coarse);
    const double cells_per_row = double(cells) / double(sampled);
    std::vector<std::vector<float>> parts(groups.size());
    parallel_for(coarse, 1, threads, poll,
                 [&](std::int64_t begin, std::int64_t end, int worker) {
                     for (auto g = static_cast<std::size_t>(begin);
                          g < static_cast<std::size_t>(end); ++g) {
                         if (groups[g].empty()) continue;
                         const auto share = std::max<std::int64_t>(
                             1, std::llround(double(groups[g].size()) * cells_per_row));
                         std::vector<std::int32_t> unused;
                         parts[g] = k_means(sample, d, groups[g], share, unused, 1,
                                            worker == 0 ? poll : nullptr);
                     }
                 });
    for (const auto& part : parts)
        found.cells.insert(found.cells.end(), part.begin(), part.end());
    const std::int64_t count = found.count();
    const std::int64_t length = std::min(count, kShortlist * (count / coarse + 1));
    const Panels panels(found.cells.data(), d, all_rows(count), threads, poll);
    found.lists =
        nearest(found.around.data(), d, all_rows(coarse), panels, length, threads, poll);
    return found;
}

// Rows of one group that are worked on together: those from `begin` up to `end`.
struct Batch {
    std::int64_t cell, begin, end;
};

// The groups [first, last), of `size(g)` rows each, in batches of at most `most`.
template <class Size>
std::vector<Batch> in_batches(std::int64_t first, std::int64_t last, Size size,
                              std::int64_t most) {
    std::vector<Batch> batches;
    for (std::int64_t g = first; g < last; ++g)
        for (std::int64_t begin = 0; begin < size(g); begin += most)
            batches.push_back({g, begin, std::min<std::int64_t>(size(g), begin + most)});
    return batches;
}

// The cell of each row of X: the nearest of those around its coarse group.
inline void homes(const float* X, std::int64_t n, std::int64_t d, const float* around,
                  std::int64_t coarse, const float* cells, const std::int32_t* lists,
                  std::int64_t length, std::int32_t* home, int threads, Poll poll) {
    const Panels panels(around, d, all_rows(coarse), threads, poll);
    const auto rows = all_rows(n);
    const auto groups = members(rows, nearest(X, d, rows, panels, 1, threads, poll), coarse);
    const auto of = [&](std::int64_t g) -> const auto& {
        return groups[static_cast<std::size_t>(g)];
    };
    std::vector<std::unique_ptr<Panels>> near_by(groups.size());
    parallel_for(coarse, 1, threads, poll, [&](std::int64_t g, std::int64_t, int) {
        const std::int32_t* list = lists + g * length;
        const std::vector<std::int32_t> around_it(list, list + length);
        if (!of(g).empty())
            near_by[static_cast<std::size_t>(g)] =
                std::make_unique<Panels>(cells, d, around_it, 1, nullptr);
    });
    const auto batches = in_batches(
        0, coarse, [&](std::int64_t g) { return static_cast<std::int64_t>(of(g).size()); },
        kTile);
    parallel_for(static_cast<std::int64_t>(batches.size()), 1, threads, poll,
                 [&](std::int64_t number, std::int64_t, int) {
                     const Batch& batch = batches[static_cast<std::size_t>(number)];
                     const std::vector<std::int32_t> some(of(batch.cell).begin() + batch.begin,
                                                          of(batch.cell).begin() + batch.end);
                     const auto own =
                         nearest(X, d, some, *near_by[static_cast<std::size_t>(batch.cell)], 1,
                                 1, nullptr);
                     for (std::size_t r = 0; r < some.size(); ++r) home[some[r]] = own[r];
                 });
}

// How many cells a row must search, by some rows whose true neighbours are known: the
// fewest for which the share `recall` of those neighbours lies in the searched cells.
// `home` are the cells of these rows, `truth` those of the `at` neighbours of each.
inline std::int64_t probes_for(const float* cells, std::int64_t count, std::int64_t d,
                               const float* queries, std::int64_t sampled,
                               const std::int32_t* home, const std::int32_t* truth,
                               std::int64_t at, double recall, int threads, Poll poll) {
    const auto places = [&](const std::int32_t* order) {
        std::vector<std::int64_t> place(static_cast<std::size_t>(count));
        for (std::int64_t r = 0; r < count; ++r) place[static_cast<std::size_t>(order[r])] = r;
        return place;
    };
    const Panels panels(cells, d, all_rows(count), threads, poll);
    const auto of_row = nearest(queries, d, all_rows(sampled), panels, count, threads, poll);
    const auto of_cell =
        nearest(cells, d, {home, home + sampled}, panels, count, threads, poll);
    std::vector<std::int64_t> needed;  // cells to search until a neighbour is found
    for (std::int64_t s = 0; s < sampled; ++s) {
        const auto by_row = places(&of_row[static_cast<std::size_t>(s * count)]);
        const auto by_cell = places(&of_cell[static_cast<std::size_t>(s * count)]);
        for (std::int64_t t = 0; t < at; ++t) {
            const auto theirs = static_cast<std::size_t>(truth[s * at + t]);
            needed.push_back(1 + std::max(by_row[theirs], by_cell[theirs] / kShortlist));
        }
    }
    const auto enough = static_cast<std::size_t>(
        std::ceil(recall * double(needed.size())) - 1.0);
    std::nth_element(needed.begin(), needed.begin() + static_cast<std::ptrdiff_t>(enough),
                     needed.end());
    return std::min(count, needed[enough]);
}

// The cells nearest to each cell, itself first.
inline std::vector<std::int32_t> shortlists(const float* cells, std::int64_t count,
                                            std::int64_t d, std::int64_t length,
                                            int threads, Poll poll) {
    const Panels panels(cells, d, all_rows(count), threads, poll);
    return nearest(cells, d, all_rows(count), panels, length, threads, poll);
}

inline std::int64_t panels_for(std::int64_t rows) { return (rows + kPanel - 1) / kPanel; }

// Rows in cells: those of cell c are order[starts[c]] up to the next start, and stand in
// `packed`, panel by panel, cell by cell. All belong to the caller, and may be files.
class Grouped {
public:
    Grouped(const float* Z, std::int64_t d, const std::int32_t* order,
            const std::int64_t* starts, std::int64_t count, float* packed)
        : Z_(Z), d_(d), order_(order), starts_(starts), count_(count), packed_(packed) {
        first_.resize(static_cast<std::size_t>(count + 1), 0);
        for (std::int64_t c = 0; c < count; ++c)
            first_[static_cast<std::size_t>(c + 1)] =
                first_[static_cast<std::size_t>(c)] + panels_for(size(c));
        rows_.assign(static_cast<std::size_t>(first_.back() * kPanel), kNoRow);
        for (std::int64_t c = 0; c < count; ++c)
            std::copy(order + starts[c], order + starts[c + 1],
                      rows_.begin() + first_[static_cast<std::size_t>(c)] * kPanel);
    }
    std::int64_t count() const { return count_; }
    std::int64_t panels() const { return first_.back(); }
    std::int64_t start(std::int64_t cell) const { return starts_[cell]; }
    std::int64_t size(std::int64_t cell) const { return starts_[cell + 1] - starts_[cell]; }
    const std::int32_t* rows(std::int64_t cell) const { return order_ + starts_[cell]; }
    const float* Z() const { return Z_; }

    // Write the panels of cells [first, last).
    void pack(std::int64_t first, std::int64_t last, int threads, Poll poll) {
        parallel_for(last - first, 16, threads, poll,
                     [&](std::int64_t begin, std::int64_t end, int) {
                         const std::int64_t from = first_[static_cast<std::size_t>(first + begin)];
                         const std::int64_t to = first_[static_cast<std::size_t>(first + end)];
                         for (std::int64_t p = from; p < to; ++p)
                             localmap::rows().pack(Z_, d_, rows_.data() + p * kPanel,
                                                   packed_ + p * kPanel * d_);
                     });
    }
    void scan(const Block& block, std::int32_t cell, Best& best) const {
        const std::int64_t from = first_[static_cast<std::size_t>(cell)];
        const std::int64_t to = first_[static_cast<std::size_t>(cell) + 1];
        block.scan({packed_ + from * kPanel * d_, rows_.data() + from * kPanel}, 0, to - from,
                   best);
    }

private:
    const float* Z_;
    std::int64_t d_;
    const std::int32_t* order_;
    const std::int64_t* starts_;
    std::int64_t count_;
    float* packed_;
    std::vector<std::int64_t> first_;  // panel of each cell
    std::vector<std::int32_t> rows_;   // at each place of the panels
};

// What it takes to search: which cells a row chooses from, and how many of them.
struct Probing {
    const float* centres;
    const std::int32_t* shortlists;  // `length` for each cell
    std::int64_t length, probes;
};

// Search `probes` of the cells in `shortlist` for each of some rows that lie together,
// nearest to them first: what the first ones hold keeps most of the others out. `own` says
// that the rows are those of the cells, and a row does not find itself.
inline void search(const Grouped& cells, const float* X, std::int64_t d,
                   const std::vector<std::int32_t>& rows, const Probing& how,
                   const std::int32_t* shortlist, std::int64_t keep, bool own, Best& best) {
    best.reset(static_cast<std::int64_t>(rows.size()), keep);
    Block block(d);
    const auto visit = [&](std::size_t q, std::int32_t cell) {
        block.add(X + rows[q] * d, own ? rows[q] : kNoRow, q);
        if (!block.full()) return;
        cells.scan(block, cell, best);
        block.clear();
    };
    const auto leave = [&](std::int32_t cell) {
        cells.scan(block, cell, best);
        block.clear();
    };
    const Panels centres(how.centres, d, {shortlist, shortlist + how.length}, 1, nullptr);
    const auto chosen = nearest(X, d, rows, centres, how.probes, 1, nullptr, false);
    // The home of the rows, first in the list, is searched even where others are nearer.
    for (std::size_t q = 0; q < rows.size(); ++q) visit(q, shortlist[0]);
    leave(shortlist[0]);
    std::vector<std::int32_t> place(static_cast<std::size_t>(cells.count()));
    for (std::int64_t l = 0; l < how.length; ++l)
        place[static_cast<std::size_t>(shortlist[l])] = static_cast<std::int32_t>(l);
    // Who visits each cell of the list, one after the other.
    std::vector<std::size_t> ends(static_cast<std::size_t>(how.length) + 1, 0);
    const auto at = [&](std::int32_t cell) {
        return static_cast<std::size_t>(place[static_cast<std::size_t>(cell)]);
    };
    for (const std::int32_t cell : chosen) ++ends[at(cell) + 1];
    for (std::size_t l = 1; l < ends.size(); ++l) ends[l] += ends[l - 1];
    std::vector<std::size_t> visitors(chosen.size());
    for (std::size_t c = 0; c < chosen.size(); ++c)
        visitors[ends[at(chosen[c])]++] = c / static_cast<std::size_t>(how.probes);
    for (std::size_t l = 1; l < static_cast<std::size_t>(how.length); ++l) {
        for (std::size_t v = ends[l - 1]; v < ends[l]; ++v) visit(visitors[v], shortlist[l]);
        leave(shortlist[l]);
    }
}

// The k nearest rows in cells for some rows of X. `size(c)` is how many have cell c as their
// home, `row(c, q)` the q-th of them, `place(c, q)` where its list is written. Places that
// the cells cannot fill hold kNoRow and an infinite distance.
template <class Size, class Row, class Place>
void find(const Grouped& cells, const float* X, std::int64_t n, std::int64_t d,
          const Probing& how, std::int64_t first, std::int64_t last, Size size, Row row,
          Place place, bool own, std::int64_t k, std::int32_t* indices, float* distances,
          int threads, Poll poll) {
    const auto batches = in_batches(first, last, size, kBatch);
    const std::int64_t keep = std::min(n, k + kSpare);
    std::vector<Best> bests(static_cast<std::size_t>(threads));
    parallel_for(static_cast<std::int64_t>(batches.size()), 1, threads, poll,
                 [&](std::int64_t number, std::int64_t, int worker) {
                     const Batch& batch = batches[static_cast<std::size_t>(number)];
                     std::vector<std::int32_t> rows;
                     for (std::int64_t q = batch.begin; q < batch.end; ++q)
                         rows.push_back(row(batch.cell, q));
                     Best& best = bests[static_cast<std::size_t>(worker)];
                     search(cells, X, d, rows, how,
                            how.shortlists + batch.cell * how.length, keep, own, best);
                     Exact exact;
                     for (std::size_t q = 0; q < rows.size(); ++q) {
                         const std::int64_t at =
                             k * place(batch.cell, batch.begin + static_cast<std::int64_t>(q));
                         const std::size_t found = best.cut(q);
                         exact.write(cells.Z(), d, X + rows[q] * d, best.of(q), found, k,
                                     indices + at, distances + at);
                     }
                 });
}

// The k nearest other rows of each row in cells [first, last), cell by cell.
inline void find_in_cells(const Grouped& cells, std::int64_t n, std::int64_t d,
                          const Probing& how, std::int64_t first, std::int64_t last,
                          std::int64_t k, std::int32_t* indices, float* distances,
                          int threads, Poll poll) {
    find(
        cells, cells.Z(), n, d, how, first, last,
        [&](std::int64_t c) { return cells.size(c); },
        [&](std::int64_t c, std::int64_t q) { return cells.rows(c)[q]; },
        [&](std::int64_t c, std::int64_t q) { return cells.start(c) - cells.start(first) + q; },
        true, k, indices, distances, threads, poll);
}

}  // namespace localmap
