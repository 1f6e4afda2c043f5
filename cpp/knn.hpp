// Nearest neighbours by blocks of scores, fused with the selection of the best.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "isa.hpp"
#include "parallel.hpp"

namespace localmap {

// Points in panels of sixteen, axis by axis, as `scores` reads them.
class Panels {
public:
    // `order` lists the rows of Z to pack, or null for all rows as they stand.
    Panels(const float* Z, std::int64_t d, const std::int32_t* order, std::int64_t count)
        : d_(d), count_((count + kPanel - 1) / kPanel),
          data_(static_cast<std::size_t>(count_ * size())) {
        for (std::int64_t p = 0; p < count_; ++p) {
            float* panel = data_.data() + p * size();
            for (std::int64_t lane = 0; lane < kPanel; ++lane) {
                const std::int64_t place = p * kPanel + lane;
                if (place >= count) {  // filled up with points no query can reach
                    panel[lane] = -std::numeric_limits<float>::infinity();
                    continue;
                }
                const float* x = Z + (order ? order[place] : place) * d;
                double norm = 0.0;
                for (std::int64_t k = 0; k < d; ++k) {
                    norm += double(x[k]) * double(x[k]);
                    panel[(k + 1) * kPanel + lane] = x[k];
                }
                panel[lane] = static_cast<float>(-norm / 2.0);
            }
        }
    }
    std::int64_t count() const { return count_; }
    const float* panel(std::int64_t p) const { return data_.data() + p * size(); }

private:
    std::int64_t size() const { return (d_ + 1) * kPanel; }
    std::int64_t d_, count_;
    std::vector<float> data_;
};

struct Candidate {
    float score;
    std::int32_t row;
};

inline bool better(const Candidate& a, const Candidate& b) {
    return a.score > b.score || (a.score == b.score && a.row < b.row);
}

// The best `keep` candidates of one query: collected loosely, cut when full.
class Best {
public:
    void reset(std::int64_t keep) {
        keep_ = static_cast<std::size_t>(keep);
        found_.clear();
        found_.reserve(2 * keep_ + kPanel);
        threshold_ = -std::numeric_limits<float>::infinity();
    }
    float threshold() const { return threshold_; }
    void add(Candidate candidate) {
        found_.push_back(candidate);
        if (found_.size() >= 2 * keep_ + kPanel) cut();
    }
    // The best so far, in no order.
    std::vector<Candidate>& cut() {
        if (found_.size() > keep_) {
            std::nth_element(found_.begin(), found_.begin() + std::ptrdiff_t(keep_) - 1,
                             found_.end(), better);
            found_.resize(keep_);
            threshold_ = found_[keep_ - 1].score;
        }
        return found_;
    }

private:
    std::size_t keep_ = 0;
    std::vector<Candidate> found_;
    float threshold_ = 0.0f;
};

// Scores are float: this many more than asked for are kept for the exact distances.
constexpr std::int64_t kSpare = 8;

// Sort candidates by exact distance, then by row, and write the first k.
inline void write_nearest(const float* Z, std::int64_t d, std::int64_t query,
                          std::vector<Candidate>& found, std::int64_t k,
                          std::vector<std::pair<double, std::int32_t>>& exact,
                          std::int32_t* indices, float* distances) {
    exact.clear();
    for (const Candidate& candidate : found)
        exact.emplace_back(
            rows().squared_distance(Z + query * d, Z + candidate.row * d, d),
            candidate.row);
    std::sort(exact.begin(), exact.end());
    for (std::int64_t s = 0; s < k; ++s) {
        indices[s] = exact[static_cast<std::size_t>(s)].second;
        distances[s] =
            static_cast<float>(std::sqrt(exact[static_cast<std::size_t>(s)].first));
    }
}

// The k nearest other rows of each row, by comparing all rows with all rows.
inline void exact_neighbors(const float* Z, std::int64_t n, std::int64_t d, std::int64_t k,
                            std::int32_t* indices, float* distances, int threads,
                            Poll poll) {
    constexpr std::int64_t kTile = 32 * kQueries;  // queries that share a run of panels
    // A run of panels that stays in the second-level cache.
    const std::int64_t run = std::max<std::int64_t>(1, 160 * 1024 / (4 * kPanel * (d + 1)));
    const std::int64_t keep = std::min(n - 1, k + kSpare);
    const Panels panels(Z, d, nullptr, n);
    parallel_for(n, kTile, threads, poll, [&](std::int64_t begin, std::int64_t end, int) {
        const std::int64_t blocks = (end - begin + kQueries - 1) / kQueries;
        std::vector<float> packed(static_cast<std::size_t>(blocks * d * kQueries));
        std::vector<Best> best(static_cast<std::size_t>(blocks * kQueries));
        std::vector<std::pair<double, std::int32_t>> exact;
        for (std::int64_t q = 0; q < blocks * kQueries; ++q) {
            const float* query = Z + std::min(begin + q, end - 1) * d;
            float* to = packed.data() + (q / kQueries) * d * kQueries + q % kQueries;
            for (std::int64_t a = 0; a < d; ++a) to[a * kQueries] = query[a];
            best[static_cast<std::size_t>(q)].reset(keep);
        }
        float score[kQueries * kPanel], thresholds[kQueries];
        std::uint32_t above[kQueries];
        for (std::int64_t first = 0; first < panels.count(); first += run) {
            const std::int64_t last = std::min(panels.count(), first + run);
            for (std::int64_t b = 0; b < blocks; ++b) {
                Best* mine = best.data() + b * kQueries;
                const std::int64_t row = begin + b * kQueries;
                for (std::int64_t p = first; p < last; ++p) {
                    for (int q = 0; q < kQueries; ++q) thresholds[q] = mine[q].threshold();
                    rows().scores(packed.data() + b * d * kQueries, panels.panel(p), d,
                                  thresholds, score, above);
                    for (int q = 0; q < kQueries; ++q)
                        for (std::uint32_t bits = above[q]; bits != 0; bits &= bits - 1) {
                            const int lane = __builtin_ctz(bits);
                            const std::int64_t j = p * kPanel + lane;
                            if (j != row + q)
                                mine[q].add({score[q * kPanel + lane],
                                             static_cast<std::int32_t>(j)});
                        }
                }
            }
        }
        for (std::int64_t i = begin; i < end; ++i)
            write_nearest(Z, d, i, best[static_cast<std::size_t>(i - begin)].cut(), k, exact,
                          indices + i * k, distances + i * k);
    });
}

}  // namespace localmap
