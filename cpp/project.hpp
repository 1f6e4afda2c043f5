// Rows times principal axes, each row by itself.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "isa.hpp"
#include "parallel.hpp"

namespace localmap {

// out = X C, for n rows of D numbers and D x d numbers C.
inline void project(const float* X, std::int64_t n, const float* C, std::int64_t D,
                    std::int64_t d, float* out, int threads, Poll poll) {
    // The columns of C by sixteen, filled up with zeros.
    const std::int64_t panels = (d + kPanel - 1) / kPanel;
    std::vector<float> columns(static_cast<std::size_t>(panels * D * kPanel), 0.0f);
    for (std::int64_t p = 0; p < panels; ++p)
        for (std::int64_t k = 0; k < D; ++k)
            std::copy_n(C + k * d + p * kPanel, std::min<std::int64_t>(kPanel, d - p * kPanel),
                        columns.begin() + (p * D + k) * kPanel);
    parallel_for(n, kQueries, threads, poll, [&](std::int64_t begin, std::int64_t end, int) {
        const float* some[kQueries];
        float sums[kQueries * kPanel];
        for (std::int64_t q = 0; q < kQueries; ++q)
            some[q] = X + std::min(begin + q, end - 1) * D;
        for (std::int64_t p = 0; p < panels; ++p) {
            rows().project(some, columns.data() + p * D * kPanel, D, sums);
            const std::int64_t width = std::min<std::int64_t>(kPanel, d - p * kPanel);
            for (std::int64_t i = begin; i < end; ++i)
                std::copy_n(sums + (i - begin) * kPanel, width, out + i * d + p * kPanel);
        }
    });
}

}  // namespace localmap
