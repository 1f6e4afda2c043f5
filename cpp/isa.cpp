// Chooses, once per process, the loops that this CPU runs fastest.
#include "isa.hpp"

namespace localmap {

namespace baseline {
extern const Rows kRows;
}
#ifdef LOCALMAP_HAVE_AVX2
namespace avx2 {
extern const Rows kRows;
}
#endif
#ifdef LOCALMAP_HAVE_AVX512
namespace avx512 {
extern const Rows kRows;
}
#endif

const Rows& rows() {
#ifdef LOCALMAP_HAVE_AVX512
    static const bool wide = __builtin_cpu_supports("avx512f") &&
                             __builtin_cpu_supports("avx512vl") &&
                             __builtin_cpu_supports("avx512bw") &&
                             __builtin_cpu_supports("avx512dq");
    if (wide) return avx512::kRows;
#endif
#ifdef LOCALMAP_HAVE_AVX2
    static const bool modern =
        __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (modern) return avx2::kRows;
#endif
    return baseline::kRows;
}

bool multiplies_bytes() {
#ifdef LOCALMAP_HAVE_AVX512
    static const bool able =
        rows().byte_products != nullptr && __builtin_cpu_supports("avx512vnni");
    return able;
#else
    return false;
#endif
}

}  // namespace localmap
