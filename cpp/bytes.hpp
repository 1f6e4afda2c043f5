// Products of columns of bytes, exact: what the axes of pictures and counts are made of.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "isa.hpp"

namespace localmap {

// Four rows of each of kBytePanel columns side by side, four rows after four rows, panel
// after panel; what is beyond the data is zero. Adds up the columns on the way.
inline std::vector<std::uint8_t> byte_panels(const std::uint8_t* X, std::int64_t n,
                                             std::int64_t D, std::int64_t* sums) {
    const std::int64_t quads = (n + 3) / 4, panels = (D + kBytePanel - 1) / kBytePanel;
    std::vector<std::uint8_t> packed(static_cast<std::size_t>(panels * quads * 4 * kBytePanel));
    const std::vector<std::uint8_t> none(static_cast<std::size_t>(D));
    for (std::int64_t q = 0; q < quads; ++q) {
        const std::uint8_t* row[4];
        for (std::int64_t r = 0; r < 4; ++r)
            row[r] = 4 * q + r < n ? X + (4 * q + r) * D : none.data();
        for (std::int64_t p = 0; p < panels; ++p) {
            const std::int64_t first = p * kBytePanel;
            const std::int64_t width = std::min<std::int64_t>(kBytePanel, D - first);
            std::uint8_t* to = packed.data() + (p * quads + q) * 4 * kBytePanel;
            for (std::int64_t c = 0; c < width; ++c)
                for (std::int64_t r = 0; r < 4; ++r) to[4 * c + r] = row[r][first + c];
        }
        for (std::int64_t c = 0; c < D; ++c)
            sums[c] += row[0][c] + row[1][c] + row[2][c] + row[3][c];
    }
    return packed;
}

// out += X^T X and sums += the columns' sums, for n rows of D bytes; the lower half of out
// is left to the caller.
inline void byte_products(const std::uint8_t* X, std::int64_t n, std::int64_t D, double* out,
                          std::int64_t* sums) {
    constexpr std::int64_t kMost = 2048;  // rows whose panel stays in the second cache
    std::int32_t tile[kByteRows * kBytePanel];
    for (std::int64_t start = 0; start < n; start += kMost) {
        const std::int64_t rows_here = std::min(kMost, n - start), quads = (rows_here + 3) / 4;
        std::vector<std::int64_t> here(static_cast<std::size_t>(D));
        const auto packed = byte_panels(X + start * D, rows_here, D, here.data());
        for (std::int64_t c = 0; c < D; ++c) sums[c] += here[static_cast<std::size_t>(c)];
        for (std::int64_t j = 0; j < D; j += kBytePanel) {
            const std::uint8_t* panel = packed.data() + j * quads * 4;
            for (std::int64_t i = 0; i < std::min(D, j + kBytePanel); i += kByteRows) {
                const std::int64_t within = i % kBytePanel;
                rows().byte_products(packed.data() + (i - within) * quads * 4 + within * 4,
                                     panel, quads, tile);
                const std::int64_t width = std::min<std::int64_t>(kBytePanel, D - j);
                for (std::int64_t a = 0; a < std::min<std::int64_t>(kByteRows, D - i); ++a) {
                    const std::int64_t shift = 128 * here[static_cast<std::size_t>(i + a)];
                    for (std::int64_t b = 0; b < width; ++b)
                        out[(i + a) * D + j + b] +=
                            static_cast<double>(tile[a * kBytePanel + b] + shift);
                }
            }
        }
    }
}

}  // namespace localmap
