// The map cut into square cells, to find the points near a point in constant time.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace localmap {

// Cells of width `reach` on the first (up to three) axes, wrapped around like a torus:
// a map of any extent, strays included, fits a number of cells proportional to n.
// Wrapping keeps neighbouring cells neighbours, so the 3^axes cells around a point
// hold every point within reach; what else they hold fails the distance test.
class Grid {
public:
    struct Range {
        std::int32_t begin, end;
    };
    static constexpr int kMostAround = 27;

    Grid(const float* Y, std::int64_t n, std::int64_t dim, float reach)
        : width_(double(reach) * kSlack),
          axes_(static_cast<int>(std::min<std::int64_t>(dim, 3))),
          side_(side(n, axes_)),
          cell_(static_cast<std::size_t>(n)),
          order_(static_cast<std::size_t>(n)) {
        std::int64_t cells = 1;
        for (int a = 0; a < axes_; ++a) cells *= side_;
        starts_.assign(static_cast<std::size_t>(cells) + 1, 0);
        for (std::int64_t i = 0; i < n; ++i) {
            std::int64_t cell = 0;
            for (int a = 0; a < axes_; ++a)
                cell = cell * side_ + wrap(Y[i * dim + a]);
            cell_[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(cell);
            ++starts_[static_cast<std::size_t>(cell) + 1];
        }
        for (std::size_t c = 0; c < static_cast<std::size_t>(cells); ++c)
            starts_[c + 1] += starts_[c];
        std::vector<std::int32_t> next(starts_.begin(), starts_.end() - 1);
        for (std::int64_t i = 0; i < n; ++i) {
            const auto cell = static_cast<std::size_t>(cell_[static_cast<std::size_t>(i)]);
            order_[static_cast<std::size_t>(next[cell]++)] = static_cast<std::int32_t>(i);
        }
    }

    // Points sorted by cell, then by index.
    std::int32_t point(std::int64_t place) const {
        return order_[static_cast<std::size_t>(place)];
    }

    // The places of all points in the cells around point i; returns how many ranges.
    int around(std::int64_t i, Range* ranges) const {
        const std::int64_t cell = cell_[static_cast<std::size_t>(i)];
        std::int64_t at[3] = {0, 0, 0};
        std::int64_t rest = cell;
        for (int a = axes_ - 1; a >= 0; --a) {
            at[a] = rest % side_;
            rest /= side_;
        }
        int count = 0;
        const int steps = axes_ == 1 ? 3 : axes_ == 2 ? 9 : 27;
        for (int step = 0; step < steps; ++step) {
            std::int64_t neighbour = 0;
            for (int a = 0, left = step; a < axes_; ++a, left /= 3)
                neighbour = neighbour * side_ + ((at[a] + left % 3 - 1 + side_) & (side_ - 1));
            const auto c = static_cast<std::size_t>(neighbour);
            if (starts_[c] < starts_[c + 1]) ranges[count++] = {starts_[c], starts_[c + 1]};
        }
        return count;
    }

private:
    // Cells a side: a power of two, at least 4 so that three in a row are distinct.
    static std::int64_t side(std::int64_t n, int axes) {
        std::int64_t result = 4;
        while (std::pow(double(result) * 2, axes) <= double(n)) result *= 2;
        return result;
    }
    std::int64_t wrap(float value) const {
        const double cell = std::floor(double(value) / width_);
        const double side = double(side_);
        return static_cast<std::int64_t>(cell - side * std::floor(cell / side)) &
               (side_ - 1);
    }

    // A distance test in float may let through a hair more than `reach`.
    static constexpr double kSlack = 1.000001;
    double width_;
    int axes_;
    std::int64_t side_;
    std::vector<std::int32_t> cell_, order_, starts_;
};

}  // namespace localmap
