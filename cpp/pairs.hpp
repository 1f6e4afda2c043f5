// Near, mid-near and further pairs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "isa.hpp"
#include "parallel.hpp"
#include "random.hpp"

namespace localmap {

constexpr std::int32_t kFree = -1;

// Where a row is in a hash table of 2^b places, or the free place where it belongs.
inline std::uint32_t hashed_place(const std::vector<std::int32_t>& rows, std::uint32_t mask,
                                  std::int32_t row) {
    std::uint32_t at = (static_cast<std::uint32_t>(row) * 0x9E3779B1u >> 7) & mask;
    while (rows[at] != kFree && rows[at] != row) at = (at + 1) & mask;
    return at;
}

// Places of a hash table that holds `most` rows and stays half empty: a power of two.
inline std::size_t hashed_size(std::int64_t most) {
    std::size_t size = 16;
    while (static_cast<std::int64_t>(size) < 2 * most + 2) size *= 2;
    return size;
}

// Rows that may not be drawn (again): a hash set that is emptied between rows.
class Excluded {
public:
    explicit Excluded(std::int64_t most)
        : slots_(hashed_size(most), kFree),
          mask_(static_cast<std::uint32_t>(slots_.size() - 1)) {}
    void clear() { std::fill(slots_.begin(), slots_.end(), kFree); }
    bool contains(std::int32_t row) const { return slots_[place(row)] == row; }
    // False if the row was there already.
    bool insert(std::int32_t row) {
        const std::uint32_t at = place(row);
        if (slots_[at] == row) return false;
        slots_[at] = row;
        return true;
    }

private:
    std::uint32_t place(std::int32_t row) const { return hashed_place(slots_, mask_, row); }
    std::vector<std::int32_t> slots_;
    std::uint32_t mask_;
};

constexpr std::int64_t kRowGrain = 256;

// A bit for each row: membership without a branch, in the nearest cache where the rows that
// are asked for stand together.
class Marked {
public:
    explicit Marked(std::int64_t n) : words_(static_cast<std::size_t>(n / 64 + 1), 0) {}
    void mark(std::int32_t row) { words_[word(row)] |= std::uint64_t{1} << (row & 63); }
    void clear(std::int32_t row) { words_[word(row)] = 0; }
    int contains(std::int32_t row) const {
        return static_cast<int>(words_[word(row)] >> (row & 63) & 1);
    }

private:
    static std::size_t word(std::int32_t row) { return static_cast<std::size_t>(row >> 6); }
    std::vector<std::uint64_t> words_;
};

// How many of their `among` nearest rows two near partners have in common.
inline void shared_neighbors(const std::int32_t* indices, std::int64_t n, std::int64_t m,
                             std::int64_t among, const std::int32_t* near, std::int64_t k,
                             std::uint8_t* out, int threads, Poll poll) {
    std::vector<std::unique_ptr<Marked>> by_worker(static_cast<std::size_t>(threads));
    parallel_for(n, kRowGrain, threads, poll,
                 [&](std::int64_t begin, std::int64_t end, int worker) {
        auto& marked = by_worker[static_cast<std::size_t>(worker)];
        if (!marked) marked = std::make_unique<Marked>(n);
        Marked& mine = *marked;
        for (std::int64_t i = begin; i < end; ++i) {
            if (i + 1 < end)  // the lists of the next row's partners, before their turn
                for (std::int64_t s = 0; s < k; ++s) {
                    const std::int32_t* next = indices + near[(i + 1) * k + s] * m;
                    for (std::int64_t t = 0; t < among; t += 16) __builtin_prefetch(next + t);
                }
            for (std::int64_t s = 0; s < among; ++s) mine.mark(indices[i * m + s]);
            for (std::int64_t s = 0; s < k; ++s) {
                const std::int32_t* theirs = indices + near[i * k + s] * m;
                int count = 0;
                for (std::int64_t t = 0; t < among; ++t) count += mine.contains(theirs[t]);
                out[i * k + s] = static_cast<std::uint8_t>(count);
            }
            for (std::int64_t s = 0; s < among; ++s) mine.clear(indices[i * m + s]);
        }
    });
}

// Numbers added up by row: a hash table that is emptied between rows.
class Sums {
public:
    struct Sum {
        std::int64_t total = 0, count = 0;
    };
    explicit Sums(std::int64_t most)
        : rows_(hashed_size(most), kFree),
          sums_(rows_.size()),
          mask_(static_cast<std::uint32_t>(rows_.size() - 1)) {}
    void clear() { std::fill(rows_.begin(), rows_.end(), kFree); }
    void add(std::int32_t row, std::int64_t value) {
        const std::uint32_t at = hashed_place(rows_, mask_, row);
        if (rows_[at] == kFree) {
            rows_[at] = row;
            sums_[at] = {};
        }
        sums_[at].total += value;
        ++sums_[at].count;
    }
    Sum of(std::int32_t row) const {
        const std::uint32_t at = hashed_place(rows_, mask_, row);
        return rows_[at] == row ? sums_[at] : Sum{};
    }

private:
    std::vector<std::int32_t> rows_;
    std::vector<Sum> sums_;
    std::uint32_t mask_;
};

// What two near partners i and j share, averaged with the near pairs around them: those
// that lead from a partner of i to a partner of j. The pair itself counts k times.
inline void mean_shares(const std::int32_t* near, const std::uint8_t* shared,
                        std::int64_t n, std::int64_t k, float* out, int threads,
                        Poll poll) {
    parallel_for(n, kRowGrain, threads, poll, [&](std::int64_t begin, std::int64_t end, int) {
        Sums around(std::min(n, k * k));
        for (std::int64_t i = begin; i < end; ++i) {
            around.clear();
            for (std::int64_t s = 0; s < k; ++s) {
                const std::int64_t a = near[i * k + s] * k;
                for (std::int64_t t = a; t < a + k; ++t) around.add(near[t], shared[t]);
            }
            for (std::int64_t s = 0; s < k; ++s) {
                Sums::Sum sum{k * shared[i * k + s], k};
                const std::int64_t j = near[i * k + s] * k;
                for (std::int64_t t = j; t < j + k; ++t) {
                    const Sums::Sum more = around.of(near[t]);
                    sum.total += more.total;
                    sum.count += more.count;
                }
                out[i * k + s] = static_cast<float>(double(sum.total) / double(sum.count));
            }
        }
    });
}

// Mean of what is known of the first `among` of the m rows named for each of n. Eight sums
// are taken side by side, then those of the rest one by one.
inline void means(const double* values, const std::int32_t* named, std::int64_t n,
                  std::int64_t m, std::int64_t among, double* out, int threads, Poll poll) {
    parallel_for(n, kRowGrain, threads, poll, [&](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t i = begin; i < end; ++i) {
            const std::int32_t* rows = named + i * m;
            double sums[8] = {}, total = 0.0;
            std::int64_t s = 0;
            for (; s + 8 <= among; s += 8)
                for (int lane = 0; lane < 8; ++lane) sums[lane] += values[rows[s + lane]];
            if (s != 0)
                total = ((sums[0] + sums[1]) + (sums[2] + sums[3])) +
                        ((sums[4] + sums[5]) + (sums[6] + sums[7]));
            for (; s < among; ++s) total += values[rows[s]];
            out[i] = total / double(among);
        }
    });
}

// What is known of rows by which pairs are trusted: what their near pairs share as a rule,
// and how far their surroundings reach.
struct Around {
    const double *usual, *sizes;
};

// From what share on a pair is trusted: from `enough` of what is usual, or from so many
// deviations of a count below it.
struct Trusting {
    double enough, chance;
    std::int64_t among;
};

// Puts the pairs of each row that share enough first, and counts them. The rows i have
// `own`, those that `near` names `theirs`.
inline void trusted_first(const std::int32_t* near, const float* shares, std::int64_t n,
                          std::int64_t k, const Trusting& how, const Around& own,
                          const Around& theirs, std::int32_t* ordered, std::uint16_t* count,
                          int threads, Poll poll) {
    parallel_for(n, kRowGrain, threads, poll, [&](std::int64_t begin, std::int64_t end, int) {
        std::vector<std::int32_t> others;
        for (std::int64_t i = begin; i < end; ++i) {
            others.clear();
            std::int32_t* next = ordered + i * k;
            for (std::int64_t s = 0; s < k; ++s) {
                const std::int32_t j = near[i * k + s];
                const double larger = std::max(own.sizes[i], theirs.sizes[j]);
                // Among duplicates both are 0: the same size.
                const double ratio =
                    larger > 0.0 ? std::min(own.sizes[i], theirs.sizes[j]) / larger : 1.0;
                const double usual =
                    std::max(own.usual[i], theirs.usual[j]) * std::sqrt(ratio);
                const double chance = std::sqrt(usual * (1.0 - usual) / double(how.among));
                const double least =
                    std::min(how.enough * usual, usual - how.chance * chance);
                if (double(shares[i * k + s]) >= least)
                    *next++ = j;
                else
                    others.push_back(j);
            }
            const auto sure = next - (ordered + i * k);
            count[i] = static_cast<std::uint16_t>(std::min<std::ptrdiff_t>(
                sure, std::numeric_limits<std::uint16_t>::max()));
            std::copy(others.begin(), others.end(), next);
        }
    });
}

// Of each row's `m` nearest rows keep the k with the smallest d_ij^2 / (s_i s_j);
// equal ones stay in their order. `own` are the scales of the rows, `scales` those of the
// rows that `indices` names.
inline void near(const std::int32_t* indices, const float* distances, const double* own,
                 const double* scales, std::int64_t n, std::int64_t m, std::int64_t k, std::int32_t* out,
                 int threads, Poll poll) {
    parallel_for(n, kRowGrain, threads, poll, [&](std::int64_t begin, std::int64_t end, int) {
        // The least so far, in order: rows come nearest first, and few get in later.
        std::vector<double> room(static_cast<std::size_t>(k));
        double* const least = room.data();
        for (std::int64_t i = begin; i < end; ++i) {
            std::int32_t* const kept = out + i * k;
            for (std::int64_t s = 0; s < m; ++s) {
                const std::int32_t row = indices[i * m + s];
                const double distance = distances[i * m + s];
                const double scaled = distance * distance / (own[i] * scales[row]);
                if (s >= k && !(scaled < least[k - 1])) continue;
                std::int64_t at = std::min(s, k - 1);
                for (; at > 0 && scaled < least[at - 1]; --at) {
                    least[at] = least[at - 1];
                    kept[at] = kept[at - 1];
                }
                least[at] = scaled;
                kept[at] = row;
            }
        }
    });
}

constexpr int kMidNearDraws = 6;  // PaCMAP: the second closest of six

// What a row draws, one after the other; rows of Z that will be drawn are asked for before.
class Drawn {
public:
    Drawn(std::int64_t n, std::uint64_t key) : n_(static_cast<std::uint32_t>(n)), key_(key) {}
    void look_ahead(std::int64_t row, std::int64_t count, const float* Z, std::int64_t d) {
        stream_ = Stream(key_, Stage::mid_near, 0, static_cast<std::uint64_t>(row));
        ahead_.clear();
        used_ = 0;
        for (std::int64_t c = 0; c < count; ++c) {
            ahead_.push_back(draw());
            const float* from = Z + ahead_.back() * d;
            for (std::int64_t k = 0; k < d; k += 16) __builtin_prefetch(from + k);
            __builtin_prefetch(from + d - 1);
        }
    }
    std::int32_t next() { return used_ < ahead_.size() ? ahead_[used_++] : draw(); }

private:
    std::int32_t draw() { return static_cast<std::int32_t>(stream_.below(n_)); }
    std::uint32_t n_;
    std::uint64_t key_;
    Stream stream_{0, Stage::mid_near, 0, 0};
    std::vector<std::int32_t> ahead_;
    std::size_t used_ = 0;
};

// For each of `slots`: draw six other rows, distinct and not mid-near yet, and keep
// the second closest. The caller guarantees slots <= n - 2.
inline void mid_near(const float* Z, std::int64_t n, std::int64_t d, std::int64_t slots,
                     std::uint64_t key, std::int32_t* out, int threads, Poll poll) {
    const auto squared_distance = rows().squared_distance;
    // No more than the caches hold for two rows.
    const std::int64_t ahead = std::min<std::int64_t>(kMidNearDraws * slots, 64);
    parallel_for(n, kRowGrain, threads, poll, [&](std::int64_t begin, std::int64_t end, int) {
        Excluded drawn(slots + kMidNearDraws);
        Drawn draws_of[2] = {{n, key}, {n, key}};
        draws_of[begin & 1].look_ahead(begin, ahead, Z, d);
        for (std::int64_t i = begin; i < end; ++i) {
            if (i + 1 < end) draws_of[(i + 1) & 1].look_ahead(i + 1, ahead, Z, d);
            Drawn& stream = draws_of[i & 1];
            std::int32_t* picked = out + i * slots;
            for (std::int64_t s = 0; s < slots; ++s) {
                drawn.clear();
                drawn.insert(static_cast<std::int32_t>(i));
                for (std::int64_t before = 0; before < s; ++before)
                    drawn.insert(picked[before]);
                const std::int64_t draws =
                    std::min<std::int64_t>(kMidNearDraws, n - 1 - s);
                double first = std::numeric_limits<double>::infinity();
                double second = first;
                std::int32_t nearest = -1, chosen = -1;
                for (std::int64_t draw = 0; draw < draws;) {
                    const std::int32_t j = stream.next();
                    if (!drawn.insert(j)) continue;
                    ++draw;
                    const double distance = squared_distance(Z + i * d, Z + j * d, d);
                    if (draw == 1 || distance < first) {
                        second = first;
                        chosen = nearest;
                        first = distance;
                        nearest = j;
                    } else if (chosen < 0 || distance < second) {
                        second = distance;
                        chosen = j;
                    }
                }
                picked[s] = chosen;
            }
        }
    });
}

// Distinct random rows that are neither the point itself nor one of its near pairs.
// The caller guarantees slots <= n - 1 - k.
inline void further(std::int64_t n, const std::int32_t* near, std::int64_t k,
                    std::int64_t slots, std::uint64_t key, std::int32_t* out,
                    int threads, Poll poll) {
    parallel_for(n, kRowGrain, threads, poll, [&](std::int64_t begin, std::int64_t end, int) {
        Excluded drawn(k + slots + 1);
        for (std::int64_t i = begin; i < end; ++i) {
            Stream stream(key, Stage::further, 0, static_cast<std::uint64_t>(i));
            drawn.clear();
            drawn.insert(static_cast<std::int32_t>(i));
            for (std::int64_t s = 0; s < k; ++s) drawn.insert(near[i * k + s]);
            for (std::int64_t s = 0; s < slots;) {
                const auto j = static_cast<std::int32_t>(
                    stream.below(static_cast<std::uint32_t>(n)));
                if (drawn.insert(j)) out[i * slots + s++] = j;
            }
        }
    });
}

}  // namespace localmap
