// Compiled once per instruction set (see CMakeLists.txt): LOCALMAP_ISA names the
// namespace, the compiler's flags choose the instructions.
#include "adam.hpp"
#include "byte_tile.hpp"
#include "distance.hpp"
#include "forces.hpp"
#include "gather.hpp"
#include "isa.hpp"
#include "pack.hpp"
#include "placing.hpp"
#include "push.hpp"
#include "select.hpp"

namespace localmap {
namespace LOCALMAP_ISA {

#define LOCALMAP_TEXT(name) #name
#define LOCALMAP_NAME(name) LOCALMAP_TEXT(name)

extern const Rows kRows;
const Rows kRows = {gather,      push,    push_pairs, draw,      move,
                    bring_least, collect, pack,       distances, squared_distance,
                    squared_distances, ranks, distance_sum, project, within, settle,
                    byte_tile,   LOCALMAP_NAME(LOCALMAP_ISA)};

}  // namespace LOCALMAP_ISA
}  // namespace localmap
