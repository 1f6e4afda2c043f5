// Compiled once per instruction set (see CMakeLists.txt): LOCALMAP_ISA names the
// namespace, the compiler's flags choose the instructions.
#include "adam.hpp"
#include "distance.hpp"
#include "forces.hpp"
#include "isa.hpp"

namespace localmap {
namespace LOCALMAP_ISA {

static double pull(const Side& i, const Side& j, int64_t dim, const TilePairs& pairs,
                   const Weights& weights, bool with_loss) {
    if (dim == 2) return pull_kinds<2>(i, j, dim, pairs, weights, with_loss);
    if (dim == 3) return pull_kinds<3>(i, j, dim, pairs, weights, with_loss);
    return pull_kinds<0>(i, j, dim, pairs, weights, with_loss);
}

static void project(const float* x, const float* C, int64_t D, int64_t d,
                    float* __restrict__ out) {
    for (int64_t a = 0; a < d; ++a) out[a] = 0.0f;
    for (int64_t k = 0; k < D; ++k, C += d)
        for (int64_t a = 0; a < d; ++a) out[a] += x[k] * C[a];
}

#define LOCALMAP_TEXT(name) #name
#define LOCALMAP_NAME(name) LOCALMAP_TEXT(name)

extern const Rows kRows;
const Rows kRows = {pull,      move,         squared_distance, ranks,
                    distances, distance_sum, project,          LOCALMAP_NAME(LOCALMAP_ISA)};

}  // namespace LOCALMAP_ISA
}  // namespace localmap
