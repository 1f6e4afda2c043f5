// What the near pairs of new rows have in common with them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "isa.hpp"
#include "knn.hpp"
#include "parallel.hpp"

namespace localmap {

// What rounding a distance to float32 may take off its square.
constexpr double kRounded = 1.0 + 1e-6;

// Up to sixteen of a new row's near pairs, and how far each reaches.
class NearPanel {
public:
    NearPanel(const float* Z, std::int64_t d, const float* sizes)
        : Z_(Z), d_(d), sizes_(sizes), panel_(static_cast<std::size_t>(kPanel * d)) {}

    void enter(const std::int32_t* near, int count) {
        // Sums of d squares in float are that far off at most, and squares too small for
        // float are lost.
        const double off = double(d_ + 8) / double(1 << 23);
        const double lost = double(d_) * double(std::numeric_limits<float>::min());
        for (int lane = 0; lane < kPanel; ++lane) {
            rows_[lane] = lane < count ? near[lane] : kNoRow;
            const double size = lane < count ? double(sizes_[near[lane]]) : 0.0;
            limits_[lane] = kRounded * size * size;
            sure_[lane] =
                static_cast<float>(std::max(0.0, limits_[lane] * (1.0 - off) - lost));
            doubtful_[lane] = static_cast<float>(limits_[lane] * (1.0 + off) + lost);
            counts_[lane] = 0;
        }
        rows().pack(Z_, d_, rows_, panel_.data());
    }
    // Count some of the rows that were found.
    void count(const std::int32_t* found, int some) {
        const float* queries[kQueries];
        std::uint32_t doubts[kQueries];
        for (int q = 0; q < some; ++q) queries[q] = Z_ + found[q] * d_;
        rows().within(queries, found, some, panel_.data(), rows_, d_, sure_, doubtful_,
                      counts_, doubts);
        for (int q = 0; q < some; ++q)
            for (std::uint32_t bits = doubts[q]; bits != 0; bits &= bits - 1) {
                const int lane = __builtin_ctz(bits);
                if (rows_[lane] == kNoRow) continue;
                counts_[lane] += rows().squared_distance(Z_ + rows_[lane] * d_, queries[q],
                                                         d_) <= limits_[lane];
            }
    }
    std::uint8_t counted(int lane) const { return static_cast<std::uint8_t>(counts_[lane]); }

private:
    const float* Z_;
    std::int64_t d_;
    const float* sizes_;
    std::vector<float> panel_;
    std::int32_t rows_[kPanel], counts_[kPanel];
    double limits_[kPanel];
    float sure_[kPanel], doubtful_[kPanel];
};

// Of the first `among` of the m training rows that were found for a new row: how many each of
// its near pairs has among its own nearest, that is no farther away than its size.
inline void shared_within(const float* Z, std::int64_t d, const float* sizes,
                          const std::int32_t* found, std::int64_t n, std::int64_t m,
                          std::int64_t among, const std::int32_t* near, std::int64_t k,
                          std::uint8_t* out, int threads, Poll poll) {
    parallel_for(n, 64, threads, poll, [&](std::int64_t begin, std::int64_t end, int) {
        NearPanel panel(Z, d, sizes);
        for (std::int64_t i = begin; i < end; ++i)
            for (std::int64_t first = 0; first < k; first += kPanel) {
                const auto count = static_cast<int>(std::min<std::int64_t>(kPanel, k - first));
                panel.enter(near + i * k + first, count);
                for (std::int64_t t = 0; t < among; t += kQueries)
                    panel.count(found + i * m + t, static_cast<int>(std::min<std::int64_t>(
                                                       kQueries, among - t)));
                for (int lane = 0; lane < count; ++lane)
                    out[i * k + first + lane] = panel.counted(lane);
            }
    });
}

}  // namespace localmap
