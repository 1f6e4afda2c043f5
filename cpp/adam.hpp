// Adam as the authors run it: epsilon outside the root, bias corrections in the rate.
#pragma once

#include "isa.hpp"

namespace localmap {
namespace LOCALMAP_ISA {

constexpr float kEpsilon = 1e-7f;

static void move(const Adam& adam, float* __restrict__ Y, float* __restrict__ G,
                 float* __restrict__ m, float* __restrict__ v, int64_t count) {
    for (int64_t a = 0; a < count; ++a) {
        m[a] += (1.0f - adam.beta1) * (G[a] - m[a]);
        v[a] += (1.0f - adam.beta2) * (G[a] * G[a] - v[a]);
        Y[a] -= adam.rate * m[a] / (__builtin_sqrtf(v[a]) + kEpsilon);
        G[a] = 0.0f;
    }
}

}  // namespace LOCALMAP_ISA
}  // namespace localmap
