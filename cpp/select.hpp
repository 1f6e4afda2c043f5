// The least of some numbers, and those that may be among them.
#pragma once

#include "isa.hpp"
#include "lanes.hpp"

namespace localmap {
namespace LOCALMAP_ISA {

// Bring the numbers of [low, high) below the pivot to the front and the others behind them;
// returns where those begin. Both stay in their order: what comes of it, down to which of
// equally near rows is kept, is the same on every CPU. Which of two numbers is less cannot
// be foretold: no branch depends on it.
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
static size_t collect(const float* away, const int32_t* points, uint32_t lanes, int32_t self,
                      uint64_t last, uint64_t* out) {
    const __m512i border = _mm512_set1_epi64(static_cast<long long>(last));
    const __m256i own = _mm256_set1_epi32(self);
    size_t count = 0;
    for (int half = 0; half < 2; ++half, lanes >>= kLanes, away += kLanes, points += kLanes) {
        const __m256i rows = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(points));
        const __m256i bits = _mm256_castps_si256(_mm256_loadu_ps(away));
        const __m512i ones = _mm512_maskz_or_epi64(
            0xFF, _mm512_maskz_slli_epi64(0xFF, _mm512_maskz_cvtepu32_epi64(0xFF, bits), 32),
            _mm512_maskz_cvtepu32_epi64(0xFF, rows));
        const auto kept = static_cast<__mmask8>(
            lanes & _mm256_cmpneq_epi32_mask(rows, own) &
            _mm512_cmple_epu64_mask(ones, border));
        _mm512_storeu_si512(out + count, _mm512_maskz_compress_epi64(kept, ones));
        count += static_cast<size_t>(__builtin_popcount(kept));
    }
    return count;
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
static size_t divide(uint64_t* some, size_t low, size_t high, uint64_t pivot,
                     uint64_t* aside) {
    size_t at = low, put = 0;
    for (size_t j = low; j < high; ++j) {
        const uint64_t one = some[j];
        some[at] = aside[put] = one;
        at += one < pivot;
        put += one >= pivot;
    }
    __builtin_memcpy(some + at, aside, put * sizeof *some);
    return at;
}
static size_t collect(const float* away, const int32_t* points, uint32_t lanes, int32_t self,
                      uint64_t last, uint64_t* out) {
    size_t count = 0;
    for (; lanes != 0; lanes &= lanes - 1) {
        const int lane = __builtin_ctz(lanes);
        uint32_t bits;
        __builtin_memcpy(&bits, away + lane, sizeof bits);
        const uint64_t one = uint64_t{bits} << 32 | static_cast<uint32_t>(points[lane]);
        out[count] = one;
        count += points[lane] != self && one <= last;
    }
    return count;
}
static uint64_t greatest(const uint64_t* some, size_t count) {
    uint64_t one = 0;
    for (size_t j = 0; j < count; ++j) one = one < some[j] ? some[j] : one;
    return one;
}
#endif

static uint64_t bring_least(uint64_t* some, size_t all, size_t keep, size_t most,
                            uint64_t* aside, size_t* count) {
    size_t low = 0, high = all;  // the border lies in here
    while (high > most) {
        const uint64_t a = some[low], b = some[(low + high) / 2], c = some[high - 1];
        const uint64_t least = a < b ? a : b, greater = a < b ? b : a;
        const uint64_t rest = c < greater ? c : greater;
        const uint64_t pivot = least < rest ? rest : least;  // the median of three
        size_t at = divide(some, low, high, pivot, aside);
        if (at == low) {  // the pivot is the least: those that equal it come first
            at = divide(some, low, high, pivot + 1, aside);
            if (at >= keep) {
                high = at < most ? at : most;  // any of them will do
                break;
            }
        }
        (at >= keep ? high : low) = at;
    }
    *count = high;
    return greatest(some, high);
}

}  // namespace LOCALMAP_ISA
}  // namespace localmap
