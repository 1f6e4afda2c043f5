// A tile of products of bytes, by the one instruction that multiplies sixty-four of them.
#pragma once

#include <cstdint>

#include "isa.hpp"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace localmap {
namespace LOCALMAP_ISA {

#if defined(__AVX512F__)
// It takes bytes without a sign times bytes with one: the others lose 128 on the way.
__attribute__((target("avx512vnni"))) inline void byte_tile(const uint8_t* some,
                                                            const uint8_t* panel,
                                                            int64_t quads, int32_t* out) {
    constexpr int kAcross = kBytePanel / 16;
    const __m512i sign = _mm512_set1_epi8(static_cast<char>(0x80));
    __m512i sums[kByteRows * kAcross];
#pragma GCC unroll 24
    for (int i = 0; i < kByteRows * kAcross; ++i) sums[i] = _mm512_setzero_si512();
    for (int64_t q = 0; q < quads; ++q, some += 4 * kBytePanel, panel += 4 * kBytePanel) {
        __m512i others[kAcross];
#pragma GCC unroll 3
        for (int b = 0; b < kAcross; ++b)
            others[b] = _mm512_xor_si512(_mm512_loadu_si512(panel + 64 * b), sign);
#pragma GCC unroll 8
        for (int a = 0; a < kByteRows; ++a) {
            int32_t four;
            __builtin_memcpy(&four, some + 4 * a, sizeof four);
            const __m512i all = _mm512_set1_epi32(four);
#pragma GCC unroll 3
            for (int b = 0; b < kAcross; ++b) {
                __m512i& sum = sums[a * kAcross + b];
                sum = _mm512_dpbusd_epi32(sum, all, others[b]);
            }
        }
    }
#pragma GCC unroll 24
    for (int i = 0; i < kByteRows * kAcross; ++i) _mm512_storeu_si512(out + 16 * i, sums[i]);
}
#else
constexpr void (*byte_tile)(const uint8_t*, const uint8_t*, int64_t, int32_t*) = nullptr;
#endif

}  // namespace LOCALMAP_ISA
}  // namespace localmap
