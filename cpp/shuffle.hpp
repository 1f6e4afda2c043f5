// A random order of n rows that needs no memory: a keyed Feistel network.
#pragma once

#include <cstdint>

#include "random.hpp"

namespace localmap {

// A permutation of 0 .. n - 1. The network permutes the numbers of as many bits as n - 1
// has, in two halves that are mixed into each other in turn; numbers that do not count
// are permuted again until one does.
class Shuffle {
public:
    // `which` tells permutations apart that are drawn at once.
    Shuffle(std::int64_t n, std::uint64_t key, std::uint64_t iteration, std::int64_t which)
        : n_(static_cast<std::uint64_t>(n)) {
        int bits = 2;
        while (bits < 62 && (n_ - 1) >> bits != 0) ++bits;
        low_bits_ = bits / 2;
        low_ = (std::uint64_t(1) << low_bits_) - 1;
        high_ = (std::uint64_t(1) << (bits - low_bits_)) - 1;
        for (int round = 0; round < kRounds; ++round)
            keys_[round] =
                Stream(key, Stage::deal, iteration, std::uint64_t(which * kRounds + round))
                    .bits64();
    }

    // The row at a place of the order.
    std::int64_t row(std::int64_t place) const {
        auto number = static_cast<std::uint64_t>(place);
        do {
            std::uint64_t low = number & low_, high = number >> low_bits_;
            for (int round = 0; round < kRounds; round += 2) {
                high ^= (mix(keys_[round] ^ low) >> 32) & high_;
                low ^= (mix(keys_[round + 1] ^ high) >> 32) & low_;
            }
            number = high << low_bits_ | low;
        } while (number >= n_);
        return static_cast<std::int64_t>(number);
    }

private:
    static constexpr int kRounds = 6;
    std::uint64_t n_, low_, high_;
    int low_bits_;
    std::uint64_t keys_[kRounds];
};

}  // namespace localmap
