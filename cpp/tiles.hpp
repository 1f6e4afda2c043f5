// Pairs sorted by where their points lie: the order in which forces are computed.
//
// Rows are cut into blocks, and each pair is tiled under its two blocks. A tile is all
// pairs between two blocks: few enough points to stay in the nearest cache, whatever n
// is. Tiles run in the rounds of a tournament. In a round each block meets one other, so
// no two threads write to the same point, and each block meets its opponents in the
// same order on any number of threads: the same sums, the same bits.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "isa.hpp"
#include "parallel.hpp"

namespace localmap {

// Rows a block, as a power of two. At 2048 both blocks' positions and forces stay in
// the nearest caches; with fewer rows sums in flight collide. Small data is cut finer,
// so that several threads find work. Large data is cut coarser: each block is fetched
// as often as there are blocks. Never beyond what 16 bits can name.
inline int block_bits(std::int64_t n) {
    int bits = 9;
    while (bits < 11 && (n >> bits) > 16) ++bits;
    while (bits < 16 && (n >> bits) > 64) ++bits;
    return bits;
}

inline std::int64_t block_rows(std::int64_t n) { return std::int64_t(1) << block_bits(n); }

inline std::int64_t block_count(std::int64_t n) {
    return (n + block_rows(n) - 1) >> block_bits(n);
}

// A partner and a pair's code take the same room, and the codes of a block's rows take
// the place of their partners: packing needs no memory but a copy of one block.
static_assert(sizeof(PairCode) == sizeof(std::int32_t));

// File n x k partners by tile, in place. `starts` has blocks^2 + 1 places: the pairs of
// block a with block b are codes[starts[a * blocks + b]] up to the next start. The first
// trusted[i] partners of each row come first in their tile, up to middles[a * blocks + b];
// without `trusted` none are.
inline void pack_pairs(std::uint32_t* pairs, std::int64_t n, std::int64_t k,
                       const std::uint16_t* trusted, std::int64_t* starts,
                       std::int64_t* middles, int threads, Poll poll) {
    const std::int64_t rows = block_rows(n), blocks = block_count(n);
    const int bits = block_bits(n);
    starts[blocks * blocks] = n * k;
    std::vector<std::vector<std::uint32_t>> copies(static_cast<std::size_t>(threads));
    parallel_for(blocks, 1, threads, poll, [&](std::int64_t a, std::int64_t, int worker) {
        const std::int64_t begin = a * rows, size = std::min(rows, n - begin);
        std::vector<std::uint32_t>& partners = copies[static_cast<std::size_t>(worker)];
        partners.assign(pairs + begin * k, pairs + (begin + size) * k);
        // For each block the place of its next trusted pair and of its next other one.
        std::vector<std::int64_t> next(static_cast<std::size_t>(2 * blocks), 0);
        const auto part = [&](std::int64_t i, std::int64_t s) {
            const std::uint32_t block =
                partners[static_cast<std::size_t>(i * k + s)] >> bits;
            const bool is_trusted = trusted != nullptr && s < trusted[begin + i];
            return static_cast<std::size_t>(2 * block + (is_trusted ? 0 : 1));
        };
        for (std::int64_t i = 0; i < size; ++i)
            for (std::int64_t s = 0; s < k; ++s) ++next[part(i, s)];
        std::int64_t total = begin * k;
        for (std::size_t p = 0; p < next.size(); ++p) {
            const std::int64_t count = next[p];
            auto* const place = p % 2 == 0 ? starts : middles;
            place[a * blocks + static_cast<std::int64_t>(p / 2)] = next[p] = total;
            total += count;
        }
        // Slot by slot: neighbouring codes then move different points, and no sum
        // waits for the one before it.
        for (std::int64_t s = 0; s < k; ++s)
            for (std::int64_t i = 0; i < size; ++i) {
                const std::uint32_t j = partners[static_cast<std::size_t>(i * k + s)];
                const PairCode code = {
                    static_cast<std::uint16_t>(i),
                    static_cast<std::uint16_t>(j & static_cast<std::uint32_t>(rows - 1))};
                std::memcpy(pairs + next[part(i, s)]++, &code, sizeof code);
            }
    });
}

// The way back, in place: a row's partners come in the order of their blocks, trusted ones
// first.
inline void unpack_pairs(std::uint32_t* pairs, std::int64_t n, std::int64_t k,
                         const std::int64_t* starts, const std::int64_t* middles,
                         int threads, Poll poll) {
    const std::int64_t rows = block_rows(n), blocks = block_count(n);
    std::vector<std::vector<std::uint32_t>> copies(static_cast<std::size_t>(threads));
    parallel_for(blocks, 1, threads, poll, [&](std::int64_t a, std::int64_t, int worker) {
        const std::int64_t begin = a * rows, size = std::min(rows, n - begin);
        std::vector<std::uint32_t>& partners = copies[static_cast<std::size_t>(worker)];
        partners.resize(static_cast<std::size_t>(size * k));
        std::vector<std::int32_t> found(static_cast<std::size_t>(size), 0);
        const auto back = [&](std::int64_t b, std::int64_t from, std::int64_t to) {
            for (std::int64_t c = from; c < to; ++c) {
                PairCode code;
                std::memcpy(&code, pairs + c, sizeof code);
                partners[static_cast<std::size_t>(code.i * k + found[code.i]++)] =
                    static_cast<std::uint32_t>(b * rows + code.j);
            }
        };
        const std::int64_t tile = a * blocks;
        for (std::int64_t b = 0; b < blocks; ++b) back(b, starts[tile + b], middles[tile + b]);
        for (std::int64_t b = 0; b < blocks; ++b)
            back(b, middles[tile + b], starts[tile + b + 1]);
        std::copy(partners.begin(), partners.end(), pairs + begin * k);
    });
}

// One meeting of two blocks, and how many each of them must have had before.
struct Meeting {
    std::int32_t a, b, before_a, before_b;
};

// Every block with itself, then every pair of blocks in the rounds of a tournament
// (the circle method: one block stays, the others move around it).
inline std::vector<Meeting> tournament(std::int64_t blocks) {
    std::vector<Meeting> meetings;
    std::vector<std::int32_t> met(static_cast<std::size_t>(blocks), 0);
    auto meet = [&](std::int64_t a, std::int64_t b) {
        if (a >= blocks || b >= blocks) return;  // the dummy that makes the number even
        if (a > b) std::swap(a, b);
        auto& had_a = met[static_cast<std::size_t>(a)];
        auto& had_b = met[static_cast<std::size_t>(b)];
        meetings.push_back({static_cast<std::int32_t>(a), static_cast<std::int32_t>(b),
                            had_a, had_b});
        ++had_a;
        if (a != b) ++had_b;
    };
    for (std::int64_t a = 0; a < blocks; ++a) meet(a, a);
    const std::int64_t seats = blocks + blocks % 2, moving = seats - 1;
    for (std::int64_t round = 0; round < moving; ++round) {
        meet(moving, round);
        for (std::int64_t k = 1; k < seats / 2; ++k)
            meet((round + k) % moving, (round - k + moving) % moving);
    }
    return meetings;
}

// Run tile(meeting, number) for every meeting and finish(block) after a block's last.
// Neither may throw: others wait for them.
template <class Tile, class Finish>
void run_tiles(std::int64_t blocks, int threads, Poll poll, Tile&& tile, Finish&& finish) {
    const std::vector<Meeting> meetings = tournament(blocks);
    std::vector<std::atomic<std::int32_t>> met(static_cast<std::size_t>(blocks));
    for (auto& count : met) count.store(0, std::memory_order_relaxed);
    auto wait = [&](std::int32_t block, std::int32_t before) {
        const auto& count = met[static_cast<std::size_t>(block)];
        for (int tries = 0; count.load(std::memory_order_acquire) != before; ++tries)
            if (tries > 64) std::this_thread::yield();  // a busy machine: let others run
    };
    auto leave = [&](std::int32_t block, std::int32_t before) {
        if (before + 1 == static_cast<std::int32_t>(blocks)) finish(block);
        met[static_cast<std::size_t>(block)].store(before + 1, std::memory_order_release);
    };
    // Meetings are claimed in order, so those that one waits for are already running.
    parallel_for(static_cast<std::int64_t>(meetings.size()), 1, threads, poll,
                 [&](std::int64_t number, std::int64_t, int) {
                     const Meeting& meeting = meetings[static_cast<std::size_t>(number)];
                     wait(meeting.a, meeting.before_a);
                     wait(meeting.b, meeting.before_b);
                     tile(meeting, number);
                     leave(meeting.a, meeting.before_a);
                     if (meeting.a != meeting.b) leave(meeting.b, meeting.before_b);
                 });
}

}  // namespace localmap
