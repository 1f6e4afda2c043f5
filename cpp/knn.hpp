// Nearest neighbours by blocks of distances, fused with the selection of the best.
//
// The same few pieces serve the exact search (all rows against all panels), the choice
// of cells (rows against panels of centroids) and the search in cells (cells.hpp).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "isa.hpp"
#include "parallel.hpp"

namespace localmap {

constexpr std::int32_t kNoRow = -1;

// Points in panels of sixteen, axis by axis, as `distances` reads them: `rows` names the
// point at each place, kNoRow where a panel is filled up.
struct PanelView {
    const float* data;
    const std::int32_t* rows;
};

class Panels {
public:
    Panels(const float* Z, std::int64_t d, std::vector<std::int32_t> names, int threads,
           Poll poll)
        : rows_(std::move(names)) {
        rows_.resize((rows_.size() + kPanel - 1) / kPanel * kPanel, kNoRow);
        data_.resize(rows_.size() * static_cast<std::size_t>(d));
        parallel_for(count(), 64, threads, poll,
                     [&](std::int64_t begin, std::int64_t end, int) {
                         for (std::int64_t p = begin; p < end; ++p)
                             rows().pack(Z, d, rows_.data() + p * kPanel,
                                         data_.data() + p * kPanel * d);
                     });
    }
    std::int64_t count() const { return static_cast<std::int64_t>(rows_.size()) / kPanel; }
    PanelView view() const { return {data_.data(), rows_.data()}; }

private:
    std::vector<std::int32_t> rows_;
    std::vector<float> data_;
};

// A candidate as one number, so that the nearer comes first, of equals the lower row:
// the bits of a squared distance, which are in the order of what they mean, then the row.
using Candidate = std::uint64_t;  // as `collect` makes them

inline Candidate candidate(float distance, std::int32_t row) {
    std::uint32_t bits;
    std::memcpy(&bits, &distance, sizeof bits);
    return std::uint64_t{bits} << 32 | static_cast<std::uint32_t>(row);
}
inline std::int32_t row_of(Candidate one) { return static_cast<std::int32_t>(one & 0xFFFFFFFFu); }
inline float distance_of(Candidate one) {
    const auto bits = static_cast<std::uint32_t>(one >> 32);
    float distance;
    std::memcpy(&distance, &bits, sizeof distance);
    return distance;
}

// The best `keep` candidates of each of some queries: collected loosely, cut when full.
class Best {
public:
    void reset(std::int64_t queries, std::int64_t keep) {
        keep_ = static_cast<std::size_t>(keep);
        room_ = 2 * (keep_ + kPanel);  // count_ + kPanel is never more: `collect` writes them
        const auto count = static_cast<std::size_t>(queries);
        if (count * room_ > size_) {  // not filled: nothing is read before it is written
            size_ = count * room_;
            found_.reset(new Candidate[size_]);
        }
        aside_.resize(room_ + kBesides);
        count_.assign(count, 0);
        last_.assign(count, candidate(std::numeric_limits<float>::infinity(), kNoRow));
        below_.assign(count, std::numeric_limits<float>::infinity());
        up_to_ = below_;
        latest_.assign((count + kPanel - 1) / kPanel, kNoRow);
    }
    // What the distance of a row must be below to be among the best. Of rows as far away as
    // the last the earlier ones are better: those from row `from` on may be none of them.
    float threshold(std::size_t query, std::int32_t from) const {
        return row_of(last_[query]) < from ? below_[query] : up_to_[query];
    }
    // The same of a panel of queries.
    const float* thresholds(std::size_t query, std::int32_t from) const {
        return (latest_[query / kPanel] < from ? below_ : up_to_).data() + query;
    }
    void add(std::size_t query, Candidate one) {
        if (one > last_[query]) return;
        of(query)[count_[query]] = one;
        added(query, 1);
    }
    // The same of the points of a panel in some lanes, but `self`.
    void add(std::size_t query, const float* away, const std::int32_t* points,
             std::uint32_t lanes, std::int32_t self) {
        added(query, rows().collect(away, points, lanes, self, last_[query],
                                    of(query) + count_[query]));
    }
    // Keep the best; they come first, in no order. Returns how many there are.
    std::size_t cut(std::size_t query) { return cut(query, keep_); }
    Candidate* of(std::size_t query) { return found_.get() + query * room_; }

private:
    void added(std::size_t query, std::size_t many) {
        count_[query] += many;
        // Some more than the best may stay: they are parted in fewer steps.
        if (count_[query] + kPanel > room_ || (keep_ == 1 && many != 0))
            cut(query, keep_ + keep_ / 8);
    }
    std::size_t cut(std::size_t query, std::size_t most) {
        std::size_t count = count_[query];
        if (count < keep_) return count;
        last_[query] =
            rows().bring_least(of(query), count, keep_, most, aside_.data(), &count);
        below_[query] = distance_of(last_[query]);
        // Above nought by more than what a CPU may take for nought.
        up_to_[query] =
            std::max(std::nextafter(below_[query], std::numeric_limits<float>::infinity()),
                     std::numeric_limits<float>::min());
        const std::size_t panel = query / kPanel * kPanel;
        std::int32_t latest = kNoRow;
        for (std::size_t q = panel; q < std::min(panel + kPanel, last_.size()); ++q)
            latest = std::max(latest, row_of(last_[q]));
        latest_[query / kPanel] = latest;
        return count_[query] = count;
    }

    std::size_t keep_ = 0, room_ = 0, size_ = 0;
    std::unique_ptr<Candidate[]> found_;
    std::vector<Candidate> aside_;
    std::vector<std::size_t> count_;
    std::vector<Candidate> last_;
    std::vector<float> below_, up_to_;
    std::vector<std::int32_t> latest_;  // of the last of each panel
};

// A few queries, with their places in a Best.
class Block {
public:
    explicit Block(std::int64_t d) : d_(d) {}
    void clear() { count_ = 0; }
    bool full() const { return count_ == kQueries; }
    // `row` is the row of the data that the query is, which it does not find; or kNoRow.
    void add(const float* query, std::int32_t row, std::size_t place) {
        query_[count_] = query;
        row_[count_] = row;
        place_[count_++] = place;
    }
    // Offer the points of panels [first, last) to the queries; of points as far away as the
    // last those that came first stay.
    void scan(const PanelView& panels, std::int64_t first, std::int64_t last,
              Best& best) const {
        constexpr auto from = std::numeric_limits<std::int32_t>::max();
        float widest = 0.0f;
        for (int q = 0; q < count_; ++q)
            widest = std::max(widest, best.threshold(place_[q], from));
        if (widest == 0.0f) return;  // as many duplicates as anyone asked for
        scan(panels, first, last, best, from, [](std::int64_t) { return nullptr; },
             [](std::size_t, Candidate) {});
    }
    // The same, and the queries to the points. The points are rows from `from` on, and what
    // is found does not depend on when they come. `theirs(p)` are the thresholds of panel p,
    // or none; `offer(place, one)` is told of what is below that of a place among the points.
    template <class Theirs, class Offer>
    void scan(const PanelView& panels, std::int64_t first, std::int64_t last, Best& best,
              std::int32_t from, Theirs theirs, Offer offer) const {
        float distance[kQueries * kPanel], thresholds[kQueries];
        std::uint32_t below[kQueries], below_theirs[kQueries] = {};
        for (int q = 0; q < count_; ++q) thresholds[q] = best.threshold(place_[q], from);
        const auto distances = rows().distances;
        for (std::int64_t p = first; p < last; ++p) {
            const float* const limits = theirs(p);
            std::uint32_t hits = distances(query_, count_, panels.data + p * kPanel * d_, d_,
                                           thresholds, limits, distance, below, below_theirs);
            for (; hits != 0; hits &= hits - 1) {
                const int q = __builtin_ctz(hits);
                const float* const away = distance + q * kPanel;
                best.add(place_[q], away, panels.rows + p * kPanel, below[q], row_[q]);
                for (std::uint32_t lanes = below_theirs[q]; lanes != 0; lanes &= lanes - 1) {
                    const int lane = __builtin_ctz(lanes);
                    offer(static_cast<std::size_t>(p * kPanel + lane),
                          candidate(away[lane], row_[q]));
                }
                thresholds[q] = best.threshold(place_[q], from);
            }
        }
    }

private:
    std::int64_t d_;
    int count_ = 0;
    const float* query_[kQueries] = {};
    std::int32_t row_[kQueries] = {};
    std::size_t place_[kQueries] = {};
};

// Distances are float: this many more than asked for are kept for the exact ones.
constexpr std::int64_t kSpare = 8;

// Sorts candidates by exact distance, then by row, and writes the first k.
class Exact {
public:
    void write(const float* Z, std::int64_t d, const float* query, const Candidate* found,
               std::size_t count, std::int64_t k, std::int32_t* indices,
               float* distances) {
        squared_.resize(count);
        less_.resize(count);
        order_.assign(count, kNoRow);
        for (std::size_t c = 0; c < std::min(count, kAhead); ++c) fetch(Z, d, row_of(found[c]));
        const float* others[kExact];
        double away[kExact];
        for (std::size_t c = 0; c < count; c += kExact) {
            for (std::size_t t = 0; t < kExact; ++t) {
                const std::size_t one = std::min(c + t, count - 1);
                if (c + t + kAhead < count) fetch(Z, d, row_of(found[c + t + kAhead]));
                others[t] = Z + row_of(found[one]) * d;
            }
            rows().squared_distances(query, others, d, away);
            std::copy_n(away, std::min(kExact, count - c), squared_.data() + c);
        }
        rows().ranks(squared_.data(), static_cast<std::int64_t>(count), less_.data());
        for (std::size_t c = 0; c < count; ++c) {
            const auto row = [&](std::int32_t one) { return row_of(found[one]); };
            auto at = static_cast<std::size_t>(less_[c]);
            auto next = static_cast<std::int32_t>(c);
            while (order_[at] != kNoRow && row(order_[at]) < row(next))
                ++at;  // as far away as one that came before
            for (; next != kNoRow; ++at) std::swap(next, order_[at]);
        }
        const std::int64_t there = std::min(k, static_cast<std::int64_t>(count));
        for (std::int64_t s = 0; s < there; ++s) {
            const auto at = static_cast<std::size_t>(order_[static_cast<std::size_t>(s)]);
            indices[s] = row_of(found[at]);
            distances[s] = static_cast<float>(std::sqrt(squared_[at]));
        }
        std::fill(indices + there, indices + k, kNoRow);
        std::fill(distances + there, distances + k, std::numeric_limits<float>::infinity());
    }

private:
    static constexpr std::size_t kAhead = 2 * kExact;  // rows asked for before their turn
    static void fetch(const float* Z, std::int64_t d, std::int32_t row) {
        for (std::int64_t k = 0; k < d; k += 16) __builtin_prefetch(Z + row * d + k);
    }
    std::vector<double> squared_;
    std::vector<std::int32_t> less_, order_;  // of the candidates
};

inline std::vector<std::int32_t> all_rows(std::int64_t n) {
    std::vector<std::int32_t> rows(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i)
        rows[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(i);
    return rows;
}

// Panels that stay in the second-level cache while queries pass over them.
inline std::int64_t panels_in_cache(std::int64_t d) {
    return std::max<std::int64_t>(1, 160 * 1024 / (4 * kPanel * d));
}

// Compare `count` queries with all panels and leave each query's best in `best`.
// `query(q)` is the q-th query's numbers, `self(q)` the row that it is, or kNoRow.
template <class Query, class Self>
void scan_all(const Panels& panels, std::int64_t d, std::int64_t count, Query query,
              Self self, Best& best) {
    std::vector<Block> blocks;
    for (std::int64_t q = 0; q < count; ++q) {
        if (blocks.empty() || blocks.back().full()) blocks.emplace_back(d);
        blocks.back().add(query(q), self(q), static_cast<std::size_t>(q));
    }
    const std::int64_t run = panels_in_cache(d);
    for (std::int64_t first = 0; first < panels.count(); first += run)
        for (const Block& block : blocks)
            block.scan(panels.view(), first, std::min(panels.count(), first + run), best);
}

constexpr std::int64_t kTile = 16 * kQueries;  // queries that share a run of panels

// The size of parts of at most `most` of which no thread has one more than another.
inline std::int64_t equal_parts(std::int64_t count, std::int64_t most, int threads) {
    const std::int64_t each = (count + threads - 1) / threads;  // of a thread
    const std::int64_t parts = std::max<std::int64_t>(1, (each + most - 1) / most);
    return std::max<std::int64_t>(1, (each + parts - 1) / parts);
}

// Queries in a tile where there are so many: whole blocks.
inline std::int64_t tile_of(std::int64_t count, int threads) {
    const std::int64_t size = equal_parts(count, kTile, threads);
    return (size + kQueries - 1) / kQueries * kQueries;
}

// The k nearest rows of Z for each of `count` queries, by comparing with all rows.
// `query(q)` is the q-th query's numbers, `self(q)` the row that it is, or kNoRow.
template <class Query, class Self>
void exact_neighbors(const float* Z, std::int64_t n, std::int64_t d, std::int64_t count,
                     Query query, Self self, std::int64_t k, std::int32_t* indices,
                     float* distances, int threads, Poll poll) {
    const std::int64_t keep = std::min(n, k + kSpare);
    const Panels panels(Z, d, all_rows(n), threads, poll);
    const std::int64_t tile = tile_of(count, threads);
    parallel_for(count, tile, threads, poll, [&](std::int64_t begin, std::int64_t end, int) {
        Best best;
        Exact exact;
        best.reset(end - begin, keep);
        scan_all(
            panels, d, end - begin, [&](std::int64_t q) { return query(begin + q); },
            [&](std::int64_t q) { return self(begin + q); }, best);
        for (std::int64_t q = begin; q < end; ++q) {
            const auto place = static_cast<std::size_t>(q - begin);
            const std::size_t found = best.cut(place);
            exact.write(Z, d, query(q), best.of(place), found, k, indices + q * k,
                        distances + q * k);
        }
    });
}

}  // namespace localmap
