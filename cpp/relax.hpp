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

// Up to eight points that move, each in a lane, and their partners.
class Relaxation {
public:
    Relaxation(const float* Y, const Grid& grid, std::int64_t dim, std::int64_t near,
               const Relaxing& how)
        : Y_(Y), grid_(grid), dim_(dim), near_(near), how_(how) {
        const auto lanes = [](std::int64_t n) { return static_cast<std::size_t>(n * kLanes); };
        partners_.resize(lanes((near + how.slots) * dim));
        plain_.resize(lanes(near));
        local_.resize(lanes(near));
        push_.resize(lanes(how.slots));
        for (auto* part : {&y_, &m_, &v_, &forces_}) part->resize(lanes(dim));
        // Steps shrink to nothing, so that the points come to rest.
        for (std::int64_t i = 0; i < how.iterations; ++i) {
            const double left = 1.0 - double(i) / double(how.iterations);
            const double unbiased = std::sqrt(1.0 - std::pow(how.beta2, double(i + 1))) /
                                    (1.0 - std::pow(how.beta1, double(i + 1)));
            rates_.push_back(static_cast<float>(how.rate * left * unbiased));
        }
    }

    // Move `count` points; the first trusted[lane] of their near pairs keep PaCMAP's force.
    // Lanes that are left over repeat the first point.
    void relax(const std::int32_t* near, const std::uint16_t* trusted, int count, float* out) {
        const Weights& w = how_.weights;
        std::int64_t all_trusted = near_;
        for (int lane = 0; lane < kLanes; ++lane) {
            const int row = lane < count ? lane : 0;
            const std::int64_t sure = trusted == nullptr ? 0 : trusted[row];
            if (w.near_local != 0.0f) all_trusted = std::min(all_trusted, sure);
            for (std::int64_t s = 0; s < near_; ++s) {
                copy(Y_ + near[row * near_ + s] * dim_, s, lane);
                plain_[at(s, lane)] = s < sure ? w.near : w.near * w.near_plain;
                local_[at(s, lane)] = s < sure ? 0.0f : w.near * w.near_local;
            }
            for (std::int64_t a = 0; a < dim_; ++a) y_[at(a, lane)] = out[row * dim_ + a];
        }
        std::fill(m_.begin(), m_.end(), 0.0f);
        std::fill(v_.begin(), v_.end(), 0.0f);
        for (std::int64_t i = 0; i < how_.iterations; i += how_.redraw_every) {
            std::int64_t most = 0;
            for (int lane = 0; lane < kLanes; ++lane)
                most = std::max(most, draw(lane, std::uint64_t(i)));
            const std::int64_t steps = std::min(how_.redraw_every, how_.iterations - i);
            rows().settle({dim_, near_, all_trusted, most, steps, partners_.data(),
                           plain_.data(), local_.data(), push_.data(), rates_.data() + i,
                           how_.beta1, how_.beta2, y_.data(), m_.data(), v_.data(),
                           forces_.data()});
        }
        for (int lane = 0; lane < count; ++lane)
            for (std::int64_t a = 0; a < dim_; ++a) out[lane * dim_ + a] = y_[at(a, lane)];
    }

private:
    static std::size_t at(std::int64_t place, int lane) {
        return static_cast<std::size_t>(place * kLanes + lane);
    }
    void copy(const float* from, std::int64_t place, int lane) {
        for (std::int64_t a = 0; a < dim_; ++a) partners_[at(place * dim_ + a, lane)] = from[a];
    }
    // Points around one that moves, the same random numbers for every new point; tells how
    // many. The slots that stay empty weigh nothing.
    std::int64_t draw(int lane, std::uint64_t iteration) {
        here_.clear();
        for (std::int64_t a = 0; a < dim_; ++a) here_.push_back(y_[at(a, lane)]);
        around_.enter(grid_, grid_.cell_at(here_.data()));
        std::int64_t found = 0;
        Stream stream(how_.key, Stage::relax, iteration, 0);
        const std::int64_t tries = around_.count() == 0 ? 0 : kTriesPerSlot * how_.slots;
        for (std::int64_t t = 0; t < tries && found < how_.slots; ++t) {
            const float* there = grid_.at(around_.place(stream.below(around_.count())));
            if (squared_away<0>(here_.data(), there, dim_) <= how_.reach * how_.reach)
                copy(there, near_ + found++, lane);
        }
        for (std::int64_t s = 0; s < how_.slots; ++s) {
            if (s >= found) copy(here_.data(), near_ + s, lane);
            push_[at(s, lane)] = s < found ? how_.weights.further : 0.0f;
        }
        return found;
    }

    const float* Y_;
    const Grid& grid_;
    std::int64_t dim_, near_;
    const Relaxing& how_;
    Surroundings around_;
    std::vector<float> partners_, plain_, local_, push_, y_, m_, v_, forces_, rates_, here_;
};

// Of the k points of the map that `near` names for each new point, the one nearest to all
// the others: they may lie in two places, and their mean between, in neither.
inline void medoids(const float* Y, std::int64_t dim, const std::int32_t* near,
                    std::int64_t count, std::int64_t k, float* out, int threads,
                    Poll poll) {
    parallel_for(count, 256, threads, poll, [&](std::int64_t begin, std::int64_t end, int) {
        std::vector<double> totals(static_cast<std::size_t>(k));
        for (std::int64_t i = begin; i < end; ++i) {
            const std::int32_t* mine = near + i * k;
            // Each two are measured once; every sum is still taken in the order of the others.
            std::fill(totals.begin(), totals.end(), 0.0);
            for (std::int64_t a = 0; a < k; ++a)
                for (std::int64_t b = a + 1; b < k; ++b) {
                    const double apart = std::sqrt(
                        double(squared_away<0>(Y + mine[a] * dim, Y + mine[b] * dim, dim)));
                    totals[static_cast<std::size_t>(a)] += apart;
                    totals[static_cast<std::size_t>(b)] += apart;
                }
            double least = 0.0;
            for (std::int64_t a = 0; a < k; ++a) {
                const double total = totals[static_cast<std::size_t>(a)];
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
                   std::int64_t count, std::int64_t k, const Relaxing& how, float* out,
                   int threads, Poll poll) {
    const Grid grid(Y, n, dim, how.reach);
    parallel_for(count, 64, threads, poll, [&](std::int64_t begin, std::int64_t end, int) {
        Relaxation relaxation(Y, grid, dim, k, how);
        for (std::int64_t i = begin; i < end; i += kLanes)
            relaxation.relax(near + i * k, trusted == nullptr ? nullptr : trusted + i,
                             static_cast<int>(std::min<std::int64_t>(kLanes, end - i)),
                             out + i * dim);
    });
}

}  // namespace localmap
