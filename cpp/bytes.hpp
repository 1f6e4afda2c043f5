// Products of vectors of bytes, exact: what the axes of pictures and counts are made of.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "isa.hpp"

namespace localmap {

// Vectors of bytes as they stand in memory: byte k of vector v is at v * across + k * along,
// one of which is 1.
struct Vectors {
    const std::uint8_t* bytes;
    std::int64_t count, length, across, along;
};

// Four bytes of each of kBytePanel vectors side by side, four after four, panel after panel:
// those from `first` on, `some` of them; what is beyond the data is zero. Adds up the bytes
// of each vector on the way.
inline std::vector<std::uint8_t> byte_panels(const Vectors& X, std::int64_t first,
                                             std::int64_t some, std::int64_t* sums) {
    constexpr std::int64_t kQuad = 4 * kBytePanel;
    const std::int64_t quads = (some + 3) / 4;
    const std::int64_t panels = (X.count + kBytePanel - 1) / kBytePanel;
    std::vector<std::uint8_t> packed(static_cast<std::size_t>(panels * quads * kQuad));
    if (X.along == 1) {
        for (std::int64_t v = 0; v < X.count; ++v) {
            const std::uint8_t* const from = X.bytes + v * X.across + first;
            std::uint8_t* const to =
                packed.data() + v / kBytePanel * quads * kQuad + v % kBytePanel * 4;
            for (std::int64_t q = 0; q < some / 4; ++q) std::memcpy(to + q * kQuad, from + 4 * q, 4);
            for (std::int64_t k = some / 4 * 4; k < some; ++k)
                to[k / 4 * kQuad + k % 4] = from[k];
            std::int64_t sum = 0;
            for (std::int64_t k = 0; k < some; ++k) sum += from[k];
            sums[v] += sum;
        }
        return packed;
    }
    const std::vector<std::uint8_t> none(static_cast<std::size_t>(X.count));
    for (std::int64_t q = 0; q < quads; ++q) {
        const std::uint8_t* row[4];
        for (std::int64_t r = 0; r < 4; ++r)
            row[r] = 4 * q + r < some ? X.bytes + (first + 4 * q + r) * X.along : none.data();
        for (std::int64_t p = 0; p < panels; ++p) {
            const std::int64_t at = p * kBytePanel;
            const std::int64_t width = std::min<std::int64_t>(kBytePanel, X.count - at);
            std::uint8_t* const to = packed.data() + (p * quads + q) * kQuad;
            for (std::int64_t c = 0; c < width; ++c)
                for (std::int64_t r = 0; r < 4; ++r) to[4 * c + r] = row[r][at + c];
        }
        for (std::int64_t c = 0; c < X.count; ++c)
            sums[c] += row[0][c] + row[1][c] + row[2][c] + row[3][c];
    }
    return packed;
}

// out += the products of all vectors with each other, and sums += the sums of each; the
// lower half of out is left to the caller.
inline void byte_products(const Vectors& X, double* out, std::int64_t* sums) {
    constexpr std::int64_t kMost = 2048;  // bytes of vectors whose panel stays in the cache
    const std::int64_t D = X.count;
    std::int32_t tile[kByteRows * kBytePanel];
    for (std::int64_t start = 0; start < X.length; start += kMost) {
        const std::int64_t some = std::min(kMost, X.length - start), quads = (some + 3) / 4;
        std::vector<std::int64_t> here(static_cast<std::size_t>(D));
        const auto packed = byte_panels(X, start, some, here.data());
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
