// The map cut into square cells, to find the points near a point in constant time.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace localmap {

// Cells half as wide as `reach` on the first (up to three) axes, wrapped around like a
// torus: a map of any extent, strays included, fits a number of cells proportional to n.
// Wrapping keeps neighbouring cells neighbours, so the 5^axes cells around a point
// hold every point within reach; what else they hold fails the distance test.
class Grid {
public:
    struct Range {
        std::int32_t begin, end;
    };
    static constexpr int kSpan = 2;  // cells to each side that reach may touch
    static constexpr int kMostAround = 125;

    Grid(const float* Y, std::int64_t n, std::int64_t dim, float reach)
        : per_width_(kSpan / (double(reach) * kSlack)),
          axes_(static_cast<int>(std::min<std::int64_t>(dim, 3))),
          side_(side(n, axes_)),
          stride_(dim + 1),
          sorted_(static_cast<std::size_t>(n * stride_)) {
        std::size_t cells = 1;
        for (int a = 0; a < axes_; ++a) cells *= static_cast<std::size_t>(side_);
        // Two places ahead of each cell its size, then one ahead its start; filling
        // moves that to its end, which is the start of the next.
        starts_.assign(cells + 2, 0);
        for (std::int64_t i = 0; i < n; ++i) ++starts_[cell_of(Y + i * dim) + 2];
        for (std::size_t c = 2; c < cells + 2; ++c) starts_[c] += starts_[c - 1];
        for (std::int64_t i = 0; i < n; ++i) {
            float* const place = sorted_.data() + stride_ * starts_[cell_of(Y + i * dim) + 1]++;
            const auto point = static_cast<std::int32_t>(i);
            std::copy(Y + i * dim, Y + (i + 1) * dim, place);
            std::memcpy(place + dim, &point, sizeof point);
        }
    }

    // Points sorted by cell, then by index: coordinates, and the index beside them, so
    // that looking at a point touches memory once.
    const float* at(std::int64_t place) const { return sorted_.data() + place * stride_; }
    std::int32_t point(std::int64_t place) const {
        std::int32_t result;
        std::memcpy(&result, at(place) + stride_ - 1, sizeof result);
        return result;
    }
    std::int64_t cell(std::int64_t place) const { return cell_at(at(place)); }

    // The cell of any place in the map.
    std::int64_t cell_at(const float* y) const {
        return static_cast<std::int64_t>(cell_of(y));
    }

    // The places of all points in the cells around a cell; returns how many ranges.
    int around(std::int64_t cell, Range* ranges) const {
        constexpr int kAcross = 2 * kSpan + 1;
        int count = 0, steps = 1;
        for (int a = 0; a < axes_; ++a) steps *= kAcross;
        for (int step = 0; step < steps; ++step) {
            std::int64_t neighbour = 0, scale = 1, rest = cell;
            // From the last axis to the first: its cells stand side by side.
            for (int a = 0, left = step; a < axes_; ++a, left /= kAcross) {
                const std::int64_t there = rest % side_ + left % kAcross - kSpan;
                neighbour += scale * ((there + side_) & (side_ - 1));
                rest /= side_;
                scale *= side_;
            }
            const auto c = static_cast<std::size_t>(neighbour);
            const Range range = {starts_[c], starts_[c + 1]};
            if (range.begin == range.end) continue;
            if (count > 0 && ranges[count - 1].end == range.begin)
                ranges[count - 1].end = range.end;
            else
                ranges[count++] = range;
        }
        return count;
    }

private:
    // Cells a side: a power of two, at least 8 so that five in a row are distinct.
    static std::int64_t side(std::int64_t n, int axes) {
        std::int64_t result = 8;
        while (std::pow(double(result) * 2, axes) <= double(n)) result *= 2;
        return result;
    }
    std::size_t cell_of(const float* y) const {
        std::int64_t cell = 0;
        for (int a = 0; a < axes_; ++a) cell = cell * side_ + wrap(y[a]);
        return static_cast<std::size_t>(cell);
    }
    std::int64_t wrap(float value) const {
        double cell = double(value) * per_width_;
        // Beyond what 64 bits hold all points share a cell, as far as float can tell.
        if (!(std::fabs(cell) < kFarthest)) cell = std::copysign(kFarthest, cell);
        auto whole = static_cast<std::int64_t>(cell);
        whole -= double(whole) > cell ? 1 : 0;  // down, not towards zero
        return whole & (side_ - 1);             // side is a power of two
    }

    // A distance test in float may let through a hair more than `reach`.
    static constexpr double kSlack = 1.000001;
    static constexpr double kFarthest = 4e18;
    double per_width_;
    int axes_;
    std::int64_t side_;
    std::vector<std::int32_t> starts_;
    std::int64_t stride_;
    std::vector<float> sorted_;
};

}  // namespace localmap
