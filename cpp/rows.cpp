// Compiled once per instruction set (see CMakeLists.txt): LOCALMAP_ISA names the
// namespace, the compiler's flags choose the instructions.
#include "adam.hpp"
#include "distance.hpp"
#include "forces.hpp"
#include "isa.hpp"
#include "placing.hpp"

namespace localmap {
namespace LOCALMAP_ISA {

static double pull(const Side& i, const Side& j, int64_t dim, const TilePairs& pairs,
                   const Weights& weights, bool with_loss) {
    if (dim == 2) return pull_kinds<2>(i, j, dim, pairs, weights, with_loss);
    if (dim == 3) return pull_kinds<3>(i, j, dim, pairs, weights, with_loss);
    return pull_kinds<0>(i, j, dim, pairs, weights, with_loss);
}

#define LOCALMAP_TEXT(name) #name
#define LOCALMAP_NAME(name) LOCALMAP_TEXT(name)

extern const Rows kRows;
const Rows kRows = {pull,         move,    squared_distance, ranks,  distances,
                    distance_sum, project, within,           settle, LOCALMAP_NAME(LOCALMAP_ISA)};

}  // namespace LOCALMAP_ISA
}  // namespace localmap
