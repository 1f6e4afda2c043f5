// Counter-based random numbers: a stream is a pure function of
// (key, stage, iteration, row), so no draw depends on threads or on other draws.
#pragma once

#include <cstdint>

namespace localmap {

// What a stream is for; the same numbers stand in method/reference.py.
enum class Stage : std::uint64_t {
    mid_near = 1,
    further = 2,
    local_further = 3,
    local_listed = 4,
    locality = 5,
    relax = 6,
    deal = 7
};

// The finaliser of SplitMix64 (Steele, Lea, Flood 2014).
inline std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
}

class Stream {
public:
    Stream(std::uint64_t key, Stage stage, std::uint64_t iteration, std::uint64_t row)
        : state_(mix(mix(mix(key + golden * static_cast<std::uint64_t>(stage)) +
                         golden * iteration) +
                     golden * row)) {}

    // A number in [0, bound), bound < 2^32, by Lemire's multiply-shift. The bias is
    // below bound / 2^32, far under what any map can show.
    std::uint32_t below(std::uint32_t bound) {
        return static_cast<std::uint32_t>((bits() * bound) >> 32);
    }
    std::uint64_t bits64() {
        state_ += golden;
        return mix(state_);
    }
    // A number in [0, 1).
    double unit() { return double(bits()) / 4294967296.0; }

private:
    std::uint64_t bits() { return bits64() >> 32; }

    static constexpr std::uint64_t golden = 0x9E3779B97F4A7C15ULL;
    std::uint64_t state_;
};

}  // namespace localmap
