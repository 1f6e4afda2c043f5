// Adam as the authors run it: epsilon outside the root, bias corrections in the rate.
#pragma once

#include "isa.hpp"

namespace localmap {
namespace LOCALMAP_ISA {

constexpr float kEpsilon = 1e-7f;

static inline void adam(const Adam& state, const float* Y, const float* gradient,
                        int64_t at, int64_t count) {
    for (int64_t a = 0; a < count; ++a) {
        const float g = gradient[a];
        float& m = state.m[at + a];
        float& v = state.v[at + a];
        m += (1.0f - state.beta1) * (g - m);
        v += (1.0f - state.beta2) * (g * g - v);
        state.Y_next[at + a] =
            Y[at + a] - state.rate * m / (__builtin_sqrtf(v) + kEpsilon);
    }
}

}  // namespace LOCALMAP_ISA
}  // namespace localmap
