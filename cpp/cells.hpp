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

// Queries searched together: many, so that they share cells; but no more than take
// about a tenth of a second, so that Ctrl-C is heard.
inline std::int64_t batch_size(std::int64_t n, std::int64_t d, std::int64_t cells,
                               std::int64_t probes) {
    constexpr double kNumbers = 1e9;
    const double per_query = double(probes) * double(n) / double(cells) * double(d);
    return std::max<std::int64_t>(
        kTile, std::min<std::int64_t>(4096, std::int64_t(kNumbers / per_query)));
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
    group.assign(rows.size(), 0);
    std::vector<double> sums(static_cast<std::size_t>(cells * d));
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(cells));
    for (int round = 0;; ++round) {
        const Panels panels(centres.data(), d, all_rows(cells), 1, nullptr);
        parallel_for(count, kTile, threads, poll,
                     [&](std::int64_t begin, std::int64_t end, int) {
                         Best best;
                         best.reset(end - begin, 1);
                         scan_all(
                             panels, d, end - begin,
                             [&](std::int64_t q) {
                                 return Z + rows[static_cast<std::size_t>(begin + q)] * d;
                             },
                             [](std::int64_t) { return kNoRow; }, best);
                         for (std::int64_t q = begin; q < end; ++q) {
                             const auto place = static_cast<std::size_t>(q - begin);
                             best.cut(place);
                             group[static_cast<std::size_t>(q)] = best.of(place)->row;
                         }
                     });
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

// About `cells` centres in two levels: a few coarse groups, each split in proportion to
// its size. Centres of one coarse group stand side by side.
inline std::vector<float> cell_centres(const float* Z, std::int64_t n, std::int64_t d,
                                       std::int64_t cells, int threads, Poll poll) {
    const std::int64_t sampled = std::min(n, cells * kSamplePerCell);
    std::vector<std::int32_t> sample(static_cast<std::size_t>(sampled));
    for (std::int64_t s = 0; s < sampled; ++s)
        sample[static_cast<std::size_t>(s)] = static_cast<std::int32_t>(s * n / sampled);
    const auto coarse = static_cast<std::int64_t>(std::sqrt(double(cells)));
    std::vector<std::int32_t> group;
    k_means(Z, d, sample, coarse, group, threads, poll);
    std::vector<std::vector<std::int32_t>> members(static_cast<std::size_t>(coarse));
    for (std::size_t s = 0; s < sample.size(); ++s)
        members[static_cast<std::size_t>(group[s])].push_back(sample[s]);
    std::vector<std::vector<float>> split(members.size());
    parallel_for(coarse, 1, threads, poll, [&](std::int64_t begin, std::int64_t end,
                                               int worker) {
        for (std::int64_t c = begin; c < end; ++c) {
            const auto& mine = members[static_cast<std::size_t>(c)];
            if (mine.empty()) continue;
            const auto size = static_cast<std::int64_t>(mine.size());
            const std::int64_t share = std::max<std::int64_t>(
                1, (size * cells + sampled / 2) / sampled);
            std::vector<std::int32_t> unused;
            split[static_cast<std::size_t>(c)] =
                k_means(Z, d, mine, share, unused, 1, worker == 0 ? poll : nullptr);
        }
    });
    std::vector<float> centres;
    for (const auto& part : split) centres.insert(centres.end(), part.begin(), part.end());
    return centres;
}

// Rows grouped by their nearest centre, each group's rows packed in panels of its own.
class Cells {
public:
    Cells(const float* Z, std::int64_t n, std::int64_t d, std::int64_t cells, int threads,
          Poll poll)
        : Z_(Z), d_(d), centres_(centre_panels(Z, n, d, cells, threads, poll)),
          cell_(static_cast<std::size_t>(n)), panels_(pack(n, threads, poll)) {}

    std::int64_t count() const { return count_; }
    // Rows in the order of their cells.
    const std::vector<std::int32_t>& rows() const { return by_cell_; }
    std::int32_t cell(std::int64_t row) const { return cell_[static_cast<std::size_t>(row)]; }

    // The `probes` nearest cells of each of some rows, in no order, into `best`.
    void rank(const std::int32_t* rows, std::int64_t count, std::int64_t probes,
              Best& best) const {
        best.reset(count, probes);
        scan_all(
            centres_, d_, count, [&](std::int64_t q) { return Z_ + rows[q] * d_; },
            [](std::int64_t) { return kNoRow; }, best);
        for (std::int64_t q = 0; q < count; ++q) best.cut(static_cast<std::size_t>(q));
    }
    void scan(const Block& block, std::int32_t cell, Best& best) const {
        const auto c = static_cast<std::size_t>(cell);
        block.scan(panels_, first_panel_[c], first_panel_[c + 1], best);
    }

private:
    Panels centre_panels(const float* Z, std::int64_t n, std::int64_t d,
                         std::int64_t cells, int threads, Poll poll) {
        const auto centres = cell_centres(Z, n, d, cells, threads, poll);
        count_ = static_cast<std::int64_t>(centres.size()) / d;
        return Panels(centres.data(), d, all_rows(count_), threads, poll);
    }
    Panels pack(std::int64_t n, int threads, Poll poll) {
        parallel_for(n, kTile, threads, poll, [&](std::int64_t begin, std::int64_t end, int) {
            std::vector<std::int32_t> rows(static_cast<std::size_t>(end - begin));
            for (std::int64_t i = begin; i < end; ++i)
                rows[static_cast<std::size_t>(i - begin)] = static_cast<std::int32_t>(i);
            Best best;
            rank(rows.data(), end - begin, 1, best);
            for (std::int64_t i = begin; i < end; ++i)
                cell_[static_cast<std::size_t>(i)] =
                    best.of(static_cast<std::size_t>(i - begin))->row;
        });
        std::vector<std::int64_t> sizes(static_cast<std::size_t>(count_), 0);
        for (const std::int32_t cell : cell_) ++sizes[static_cast<std::size_t>(cell)];
        first_panel_.assign(sizes.size() + 1, 0);
        for (std::size_t c = 0; c < sizes.size(); ++c)
            first_panel_[c + 1] = first_panel_[c] + (sizes[c] + kPanel - 1) / kPanel;
        std::vector<std::int32_t> placed(
            static_cast<std::size_t>(first_panel_.back() * kPanel), kNoRow);
        std::vector<std::int64_t> next(first_panel_.begin(), first_panel_.end() - 1);
        for (std::int64_t& place : next) place *= kPanel;
        for (std::size_t i = 0; i < cell_.size(); ++i)
            placed[static_cast<std::size_t>(next[static_cast<std::size_t>(cell_[i])]++)] =
                static_cast<std::int32_t>(i);
        by_cell_.reserve(cell_.size());
        for (const std::int32_t row : placed)
            if (row != kNoRow) by_cell_.push_back(row);
        return Panels(Z_, d_, std::move(placed), threads, poll);
    }

    const float* Z_;
    std::int64_t d_, count_ = 0;
    Panels centres_;
    std::vector<std::int32_t> cell_, by_cell_;
    std::vector<std::int64_t> first_panel_;
    Panels panels_;
};

// How many cells a row must probe, by the rows whose true neighbours are known: the
// fewest for which the share `recall` of those neighbours lies in the probed cells.
inline std::int64_t probes_for(const Cells& cells, const std::int32_t* sample,
                               std::int64_t count, const std::int32_t* truth,
                               std::int64_t at, double recall) {
    std::vector<std::int64_t> found(static_cast<std::size_t>(cells.count()) + 1, 0);
    std::vector<std::int64_t> rank(static_cast<std::size_t>(cells.count()));
    for (std::int64_t s = 0; s < count; ++s) {
        Best best;
        cells.rank(sample + s, 1, cells.count(), best);
        std::sort(best.of(0), best.of(0) + cells.count(), Best::better);
        for (std::int64_t r = 0; r < cells.count(); ++r)
            rank[static_cast<std::size_t>(best.of(0)[r].row)] = r;
        for (std::int64_t t = 0; t < at; ++t)
            ++found[static_cast<std::size_t>(
                rank[static_cast<std::size_t>(cells.cell(truth[s * at + t]))] + 1)];
    }
    const double wanted = recall * double(count * at);
    std::int64_t total = 0, probes = 0;
    while (probes < cells.count() && double(total) < wanted)
        total += found[static_cast<std::size_t>(++probes)];
    return probes;
}

// The k nearest other rows of each row among the rows of its nearest cells. Places that
// the cells cannot fill hold kNoRow and an infinite distance. Returns the probes used.
inline std::int64_t cell_neighbors(const float* Z, std::int64_t n, std::int64_t d,
                                   std::int64_t k, std::int64_t cell_count,
                                   const std::int32_t* sample, std::int64_t sampled,
                                   const std::int32_t* truth, std::int64_t at, double recall,
                                   std::int32_t* indices, float* distances, int threads,
                                   Poll poll) {
    const Cells cells(Z, n, d, cell_count, threads, poll);
    const std::int64_t probes = probes_for(cells, sample, sampled, truth, at, recall);
    const std::int64_t keep = std::min(n - 1, k + kSpare);
    // Batches of rows that lie together: they probe the same cells, so a cell's panels
    // are read once for many of them.
    const std::int64_t batched = batch_size(n, d, cells.count(), probes);
    parallel_for(n, batched, threads, poll, [&](std::int64_t begin, std::int64_t end, int) {
        const std::int32_t* batch = cells.rows().data() + begin;
        const auto count = static_cast<std::size_t>(end - begin);
        std::vector<std::pair<std::int32_t, std::int32_t>> visits;  // cell, query
        visits.reserve(count * static_cast<std::size_t>(probes + 1));
        // A row's own cell comes first: what it finds there keeps most others out.
        for (std::size_t q = 0; q < count; ++q)
            visits.emplace_back(cells.cell(batch[q]), static_cast<std::int32_t>(q));
        Best best;
        cells.rank(batch, end - begin, probes, best);
        for (std::size_t q = 0; q < count; ++q)
            for (std::int64_t p = 0; p < probes; ++p)
                if (best.of(q)[p].row != cells.cell(batch[q]))
                    visits.emplace_back(best.of(q)[p].row, static_cast<std::int32_t>(q));
        std::sort(visits.begin() + static_cast<std::ptrdiff_t>(count), visits.end());
        best.reset(end - begin, keep);
        Block block(d);
        for (std::size_t v = 0; v < visits.size(); ++v) {
            const auto [cell, q] = visits[v];
            block.add(Z + batch[q] * d, batch[q], static_cast<std::size_t>(q));
            if (!block.full() && v + 1 < visits.size() && visits[v + 1].first == cell)
                continue;
            cells.scan(block, cell, best);
            block.clear();
        }
        Exact exact;
        for (std::size_t q = 0; q < count; ++q) {
            const std::int64_t row = batch[q];
            const std::size_t found = best.cut(q);
            exact.write(Z, d, Z + row * d, best.of(q), found, k, indices + row * k,
                        distances + row * k);
        }
    });
    return probes;
}

}  // namespace localmap
