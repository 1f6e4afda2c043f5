// Compiled once per instruction set (see CMakeLists.txt): LOCALMAP_ISA names the
// namespace, the compiler's flags choose the instructions.
#include "adam.hpp"
#include "distance.hpp"
#include "forces.hpp"
#include "isa.hpp"
#include "products.hpp"

namespace localmap {
namespace LOCALMAP_ISA {

template <int kDim>
static void forces_rows(const Layout& map, int64_t begin, int64_t end, float* gradient,
                        double* loss) {
    for (int64_t row = begin; row < end; ++row)
        gather<kDim>(map, row, gradient + (row - begin) * map.dim, loss);
}

template <int kDim>
static void step_rows(const Layout& map, const Adam& state, int64_t begin, int64_t end,
                      double* loss) {
    float gradient[kDim == 0 ? Gathered<0>::kMost : kDim];
    for (int64_t row = begin; row < end; ++row) {
        gather<kDim>(map, row, gradient, loss);
        adam(state, map.Y, gradient, row * map.dim, map.dim);
    }
}

static void forces(const Layout& map, int64_t begin, int64_t end, float* gradient,
                   double* loss) {
    if (map.dim == 2) return forces_rows<2>(map, begin, end, gradient, loss);
    if (map.dim == 3) return forces_rows<3>(map, begin, end, gradient, loss);
    forces_rows<0>(map, begin, end, gradient, loss);
}

static void step(const Layout& map, const Adam& state, int64_t begin, int64_t end,
                 double* loss) {
    if (map.dim == 2) return step_rows<2>(map, state, begin, end, loss);
    if (map.dim == 3) return step_rows<3>(map, state, begin, end, loss);
    step_rows<0>(map, state, begin, end, loss);
}

#define LOCALMAP_TEXT(name) #name
#define LOCALMAP_NAME(name) LOCALMAP_TEXT(name)

extern const Rows kRows;
const Rows kRows = {forces,       step, squared_distance, scores,
                    distance_sum, LOCALMAP_NAME(LOCALMAP_ISA)};

}  // namespace LOCALMAP_ISA
}  // namespace localmap
