// New points in a finished map: each moves alone among points that stay where they are,
// pulled by its near pairs and pushed by points around it, as in the last phase of a
// fit. What becomes of one depends on nothing but itself and the map.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "grid.hpp"
#include "isa.hpp"
#include "local_further.hpp"
#include "parallel.hpp"
#include "random.hpp"

namespace localmap {

struct Relaxing {
    Weights weights;
    float reach, rate, beta1, beta2;
    std::int64_t iterations, redraw_every, slots;
    std::uint64_t key;
};

// The point that moves and its partners, as one tile: a block of one and a block of all.
class Relaxation {
public:
    Relaxation(const Grid& grid, std::int64_t dim, std::int64_t near, const Relaxing& how)
        : grid_(grid), dim_(dim), near_(near), how_(how) {
        const auto room = static_cast<std::size_t>(near + how.slots);
        partners_.resize(room * static_cast<std::size_t>(dim));
        pushed_.resize(partners_.size());
        for (std::size_t p = 0; p < room; ++p)
            codes_.push_back({0, static_cast<std::uint16_t>(p)});
        forces_.resize(static_cast<std::size_t>(dim));
        // Steps shrink to nothing, so that the point comes to rest.
        for (std::int64_t i = 0; i < how.iterations; ++i) {
            const double left = 1.0 - double(i) / double(how.iterations);
            const double unbiased = std::sqrt(1.0 - std::pow(how.beta2, double(i + 1))) /
                                    (1.0 - std::pow(how.beta1, double(i + 1)));
            rates_.push_back(static_cast<float>(how.rate * left * unbiased));
        }
    }

    // The first `trusted` of the near pairs keep PaCMAP's force.
    void relax(const float* Y, const std::int32_t* near, std::int64_t trusted, float* y) {
        for (std::int64_t s = 0; s < near_; ++s) copy(Y + near[s] * dim_, s);
        std::vector<float> m(forces_.size(), 0.0f), v(forces_.size(), 0.0f);
        for (std::int64_t i = 0; i < how_.iterations; ++i) {
            if (i % how_.redraw_every == 0) draw(y, std::uint64_t(i));
            const TilePairs pairs = {{codes_.data(), trusted},
                                     {codes_.data() + trusted, near_ - trusted},
                                     {codes_.data(), 0},
                                     {codes_.data() + near_, found_}};
            rows().pull({y, forces_.data()}, {partners_.data(), pushed_.data()}, dim_,
                        pairs, how_.weights, false);
            const Adam adam = {rates_[static_cast<std::size_t>(i)], how_.beta1, how_.beta2};
            rows().move(adam, y, forces_.data(), m.data(), v.data(), dim_);
        }
    }

private:
    void copy(const float* from, std::int64_t place) {
        std::copy(from, from + dim_, partners_.begin() + place * dim_);
    }
    // Points around y, the same random numbers for every new point.
    void draw(const float* y, std::uint64_t iteration) {
        around_.enter(grid_, grid_.cell_at(y));
        found_ = 0;
        if (around_.count() == 0) return;
        Stream stream(how_.key, Stage::relax, iteration, 0);
        for (std::int64_t t = 0; t < kTriesPerSlot * how_.slots && found_ < how_.slots; ++t) {
            const float* there = grid_.at(around_.place(stream.below(around_.count())));
            if (squared_away<0>(y, there, dim_) <= how_.reach * how_.reach)
                copy(there, near_ + found_++);
        }
    }

    const Grid& grid_;
    std::int64_t dim_, near_, found_ = 0;
    const Relaxing& how_;
    Surroundings around_;
    std::vector<float> partners_, pushed_, forces_, rates_;
    std::vector<PairCode> codes_;
};

// Of the k points of the map that `near` names for each new point, the one nearest to all
// the others: they may lie in two places, and their mean between, in neither.
inline void medoids(const float* Y, std::int64_t dim, const std::int32_t* near,
                    std::int64_t count, std::int64_t k, float* out, int threads,
                    Poll poll) {
    parallel_for(count, 256, threads, poll, [&](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t i = begin; i < end; ++i) {
            const std::int32_t* mine = near + i * k;
            double least = 0.0;
            for (std::int64_t a = 0; a < k; ++a) {
                double total = 0.0;
                for (std::int64_t b = 0; b < k; ++b)
                    total += std::sqrt(double(
                        squared_away<0>(Y + mine[a] * dim, Y + mine[b] * dim, dim)));
                if (a > 0 && total >= least) continue;
                least = total;
                std::copy(Y + mine[a] * dim, Y + (mine[a] + 1) * dim, out + i * dim);
            }
        }
    });
}

// Move `count` new points from where they start in `out` to where they belong. `near`
// holds k points of the map for each of them, the first trusted[i] of which are trusted;
// without `trusted` none are.
inline void relax(const float* Y, std::int64_t n, std::int64_t dim,
                   const std::int32_t* near, const std::uint16_t* trusted,
                   std::int64_t count, std::int64_t k, const Relaxing& how, float* out, int threads, Poll poll) {
    const Grid grid(Y, n, dim, how.reach);
    parallel_for(count, 64, threads, poll, [&](std::int64_t begin, std::int64_t end, int) {
        Relaxation relaxation(grid, dim, k, how);
        for (std::int64_t i = begin; i < end; ++i)
            relaxation.relax(Y, near + i * k, trusted == nullptr ? 0 : trusted[i],
                             out + i * dim);
    });
}

}  // namespace localmap
