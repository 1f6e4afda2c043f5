// The least of some numbers.
#pragma once

#include "isa.hpp"
#include "lanes.hpp"

namespace localmap {
namespace LOCALMAP_ISA {

// Bring the numbers of [low, high) below the pivot to the front and the others behind them;
// returns where those begin. Which of two numbers is less cannot be foretold: no branch
// depends on it.
#if defined(__AVX512F__)
static size_t divide(uint64_t* some, size_t low, size_t high, uint64_t pivot,
                     uint64_t* aside) {
    const __m512i border = _mm512_set1_epi64(static_cast<long long>(pivot));
    size_t at = low, put = 0;
    for (size_t j = low; j < high; j += 8) {
        const auto there = static_cast<__mmask8>(high - j < 8 ? (1u << (high - j)) - 1 : 0xFFu);
        const __m512i ones = _mm512_maskz_loadu_epi64(there, some + j);
        const __mmask8 lower = _mm512_mask_cmplt_epu64_mask(there, ones, border);
        const auto upper = static_cast<__mmask8>(there & ~lower);
        // Whole vectors are written; what stands there was read, or is written next.
        _mm512_mask_storeu_epi64(some + at, there, _mm512_maskz_compress_epi64(lower, ones));
        _mm512_storeu_si512(aside + put, _mm512_maskz_compress_epi64(upper, ones));
        at += static_cast<size_t>(__builtin_popcount(lower));
        put += static_cast<size_t>(__builtin_popcount(upper));
    }
    __builtin_memcpy(some + at, aside, put * sizeof *some);
    return at;
}
static uint64_t greatest(const uint64_t* some, size_t count) {
    __m512i most = _mm512_setzero_si512();
    for (size_t j = 0; j < count; j += 8) {
        const auto there =
            static_cast<__mmask8>(count - j < 8 ? (1u << (count - j)) - 1 : 0xFFu);
        most = _mm512_maskz_max_epu64(0xFF, most, _mm512_maskz_loadu_epi64(there, some + j));
    }
    uint64_t each[8], one = 0;
    _mm512_storeu_si512(each, most);
    for (const uint64_t other : each) one = one < other ? other : one;
    return one;
}
#else
static size_t divide(uint64_t* some, size_t low, size_t high, uint64_t pivot, uint64_t*) {
    size_t at = low;
    for (size_t j = low; j < high; ++j) {
        const uint64_t one = some[j];
        some[j] = some[at];
        some[at] = one;
        at += one < pivot;
    }
    return at;
}
static uint64_t greatest(const uint64_t* some, size_t count) {
    uint64_t one = 0;
    for (size_t j = 0; j < count; ++j) one = one < some[j] ? some[j] : one;
    return one;
}
#endif

static uint64_t bring_least(uint64_t* some, size_t count, size_t keep, uint64_t* aside) {
    size_t low = 0, high = count;  // the border lies in here
    while (high - low > 1) {
        const uint64_t a = some[low], b = some[(low + high) / 2], c = some[high - 1];
        const uint64_t least = a < b ? a : b, most = a < b ? b : a;
        const uint64_t rest = c < most ? c : most;
        const uint64_t pivot = least < rest ? rest : least;  // the median of three
        size_t at = divide(some, low, high, pivot, aside);
        if (at == low) {  // the pivot is the least: those that equal it come first
            at = divide(some, low, high, pivot + 1, aside);
            if (at >= keep) break;
        }
        if (at == keep) break;
        (at > keep ? high : low) = at;
    }
    return greatest(some, keep);
}

}  // namespace LOCALMAP_ISA
}  // namespace localmap
