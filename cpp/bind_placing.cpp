// New rows in a finished map, for Python.
#include "bytes.hpp"
#include "isa.hpp"
#include "project.hpp"
#include "python.hpp"
#include "relax.hpp"
#include "shared_within.hpp"

namespace localmap {

void bind_placing(nb::module_& module) {
    module.def(
        "shared_within",
        [](Matrix<const float> Z, Vector<const float> sizes,
           Matrix<const std::int32_t> found, std::int64_t among,
           Matrix<const std::int32_t> near, Matrix<std::uint8_t> out, int threads) {
            shared_within(Z.data(), static_cast<std::int64_t>(Z.shape(1)), sizes.data(),
                          found.data(), static_cast<std::int64_t>(found.shape(0)),
                          static_cast<std::int64_t>(found.shape(1)), among, near.data(),
                          static_cast<std::int64_t>(near.shape(1)), out.data(), threads,
                          signalled);
        },
        Release());

    module.def(
        "project",
        [](Matrix<const float> rows_in, Matrix<const float> components,
           Matrix<float> out, int threads) {
            project(rows_in.data(), static_cast<std::int64_t>(rows_in.shape(0)),
                    components.data(), static_cast<std::int64_t>(components.shape(0)),
                    static_cast<std::int64_t>(components.shape(1)), out.data(), threads,
                    signalled);
        },
        Release());

    module.def("multiplies_bytes", [] { return multiplies_bytes(); });

    module.def(
        "byte_products",
        [](Matrix<const std::uint8_t> X, bool by_rows, Matrix<double> out,
           Vector<std::int64_t> sums) {
            const auto n = static_cast<std::int64_t>(X.shape(0));
            const auto D = static_cast<std::int64_t>(X.shape(1));
            byte_products(by_rows ? Vectors{X.data(), n, D, D, 1} : Vectors{X.data(), D, n, 1, D},
                          out.data(), sums.data());
        },
        Release());

    module.def(
        "relax",
        [](Matrix<const float> Y, Matrix<const std::int32_t> near,
           Vector<const std::uint16_t> trusted, Vector<const float> w,
           float reach, float rate, float beta1, float beta2,
           std::int64_t iterations, std::int64_t redraw_every, std::int64_t slots,
           std::uint64_t key, Matrix<float> out, int threads) {
            const Relaxing how = {read_weights(w.data()), reach, rate, beta1, beta2, iterations,
                                  redraw_every, slots, key};
            relax(Y.data(), static_cast<std::int64_t>(Y.shape(0)),
                   static_cast<std::int64_t>(Y.shape(1)), near.data(),
                   trusted.shape(0) == 0 ? nullptr : trusted.data(),
                   static_cast<std::int64_t>(near.shape(0)),
                   static_cast<std::int64_t>(near.shape(1)), how, out.data(), threads,
                   signalled);
        },
        Release());

    module.def(
        "medoids",
        [](Matrix<const float> Y, Matrix<const std::int32_t> near, Matrix<float> out,
           int threads) {
            medoids(Y.data(), static_cast<std::int64_t>(Y.shape(1)), near.data(),
                    static_cast<std::int64_t>(near.shape(0)),
                    static_cast<std::int64_t>(near.shape(1)), out.data(), threads,
                    signalled);
        },
        Release());
}

}  // namespace localmap
