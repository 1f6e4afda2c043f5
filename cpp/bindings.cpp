// The only file that knows Python. Shapes and index ranges are checked in kernels.py.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cmath>
#include <vector>

#include "cells.hpp"
#include "isa.hpp"
#include "knn.hpp"
#include "local_further.hpp"
#include "pairs.hpp"
#include "parallel.hpp"
#include "silhouette.hpp"

namespace nb = nanobind;
using namespace localmap;

namespace {

template <class T>
using Matrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Release = nb::call_guard<nb::gil_scoped_release>;

// Ctrl-C: asked by the calling thread, which holds no lock while it computes.
bool signalled() {
    nb::gil_scoped_acquire lock;
    return PyErr_CheckSignals() != 0;
}

Layout layout(const Matrix<const float>& Y, const Vector<const std::int64_t>& near_starts,
              const Vector<const std::int32_t>& near,
              const Vector<const std::int64_t>& mid_near_starts,
              const Vector<const std::int32_t>& mid_near,
              const Vector<const std::int64_t>& further_starts,
              const Vector<const std::int32_t>& further,
              const Vector<const float>& weights) {
    const float* w = weights.data();
    return {Y.data(),
            static_cast<std::int64_t>(Y.shape(1)),
            {near_starts.data(), near.data()},
            {mid_near_starts.data(), mid_near.data()},
            {further_starts.data(), further.data()},
            {w[0], w[1], w[2], w[3], w[4]}};
}

// Rows a block: small enough to balance, large enough to forget the bookkeeping.
constexpr std::int64_t kStepGrain = 512;

// Run `rows_of(begin, end, loss)` over blocks and add their losses in block order.
template <class RowsOf>
double total_loss(std::int64_t n, bool with_loss, int threads, RowsOf&& rows_of) {
    std::vector<double> losses(
        with_loss ? static_cast<std::size_t>((n + kStepGrain - 1) / kStepGrain) : 0, 0.0);
    parallel_for(n, kStepGrain, threads, signalled,
                 [&](std::int64_t begin, std::int64_t end, int) {
                     rows_of(begin, end,
                             with_loss ? &losses[static_cast<std::size_t>(begin / kStepGrain)]
                                       : nullptr);
                 });
    double total = 0.0;
    for (const double loss : losses) total += loss;
    return with_loss ? total / 2.0 : std::nan("");  // each pair stands in two lists
}

}  // namespace

NB_MODULE(_core, module) {
    nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
        try {
            std::rethrow_exception(thrown);
        } catch (const Interrupted&) {
            // PyErr_CheckSignals has set KeyboardInterrupt, or what a handler raised.
            if (!PyErr_Occurred()) PyErr_SetNone(PyExc_KeyboardInterrupt);
        }
    });

    module.def("instruction_set", [] { return rows().name; });

    module.def(
        "forces",
        [](Matrix<const float> Y, Vector<const std::int64_t> near_starts,
           Vector<const std::int32_t> near, Vector<const std::int64_t> mid_near_starts,
           Vector<const std::int32_t> mid_near, Vector<const std::int64_t> further_starts,
           Vector<const std::int32_t> further, Vector<const float> weights,
           Matrix<float> gradient, int threads) {
            const Layout map = layout(Y, near_starts, near, mid_near_starts, mid_near,
                                      further_starts, further, weights);
            float* out = gradient.data();
            return total_loss(static_cast<std::int64_t>(Y.shape(0)), true, threads,
                              [&](std::int64_t begin, std::int64_t end, double* loss) {
                                  rows().forces(map, begin, end, out + begin * map.dim,
                                                loss);
                              });
        },
        Release());

    module.def(
        "step",
        [](Matrix<const float> Y, Vector<const std::int64_t> near_starts,
           Vector<const std::int32_t> near, Vector<const std::int64_t> mid_near_starts,
           Vector<const std::int32_t> mid_near, Vector<const std::int64_t> further_starts,
           Vector<const std::int32_t> further, Vector<const float> weights,
           Matrix<float> m, Matrix<float> v, Matrix<float> Y_next, float rate, float beta1,
           float beta2, bool with_loss, int threads) {
            const Layout map = layout(Y, near_starts, near, mid_near_starts, mid_near,
                                      further_starts, further, weights);
            const Adam state{m.data(), v.data(), Y_next.data(), rate, beta1, beta2};
            return total_loss(static_cast<std::int64_t>(Y.shape(0)), with_loss, threads,
                              [&](std::int64_t begin, std::int64_t end, double* loss) {
                                  rows().step(map, state, begin, end, loss);
                              });
        },
        Release());

    module.def(
        "list_both_ways",
        [](Matrix<const std::int32_t> pairs, Vector<std::int64_t> starts,
           Vector<std::int32_t> partners, int threads) {
            list_both_ways(pairs.data(), static_cast<std::int64_t>(pairs.shape(0)),
                           static_cast<std::int64_t>(pairs.shape(1)), starts.data(),
                           partners.data(), threads, signalled);
        },
        Release());

    module.def(
        "near",
        [](Matrix<const std::int32_t> indices, Matrix<const float> distances,
           Vector<const double> scales, Matrix<std::int32_t> out, int threads) {
            near(indices.data(), distances.data(), scales.data(),
                 static_cast<std::int64_t>(indices.shape(0)),
                 static_cast<std::int64_t>(indices.shape(1)),
                 static_cast<std::int64_t>(out.shape(1)), out.data(), threads, signalled);
        },
        Release());

    module.def(
        "mid_near",
        [](Matrix<const float> Z, std::uint64_t key, Matrix<std::int32_t> out, int threads) {
            mid_near(Z.data(), static_cast<std::int64_t>(Z.shape(0)),
                     static_cast<std::int64_t>(Z.shape(1)),
                     static_cast<std::int64_t>(out.shape(1)), key, out.data(), threads,
                     signalled);
        },
        Release());

    module.def(
        "further",
        [](Matrix<const std::int32_t> near, std::uint64_t key, Matrix<std::int32_t> out,
           int threads) {
            further(static_cast<std::int64_t>(near.shape(0)), near.data(),
                    static_cast<std::int64_t>(near.shape(1)),
                    static_cast<std::int64_t>(out.shape(1)), key, out.data(), threads,
                    signalled);
        },
        Release());

    module.def(
        "local_further",
        [](Matrix<const float> Y, Matrix<const std::int32_t> near, float reach,
           double locality, std::uint64_t key, std::uint64_t iteration,
           Matrix<std::int32_t> out, int threads) {
            local_further(Y.data(), static_cast<std::int64_t>(Y.shape(0)),
                          static_cast<std::int64_t>(Y.shape(1)), near.data(),
                          static_cast<std::int64_t>(near.shape(1)),
                          static_cast<std::int64_t>(out.shape(1)), reach, locality, key,
                          iteration, out.data(), threads, signalled);
        },
        Release());

    module.def(
        "exact_neighbors",
        [](Matrix<const float> Z, Vector<const std::int32_t> queries,
           Matrix<std::int32_t> indices, Matrix<float> distances, int threads) {
            exact_neighbors(Z.data(), static_cast<std::int64_t>(Z.shape(0)),
                            static_cast<std::int64_t>(Z.shape(1)), queries.data(),
                            static_cast<std::int64_t>(queries.shape(0)),
                            static_cast<std::int64_t>(indices.shape(1)), indices.data(),
                            distances.data(), threads, signalled);
        },
        Release());

    module.def(
        "cell_neighbors",
        [](Matrix<const float> Z, std::int64_t cells, Vector<const std::int32_t> sample,
           Matrix<const std::int32_t> truth, double recall, Matrix<std::int32_t> indices,
           Matrix<float> distances, int threads) {
            return cell_neighbors(
                Z.data(), static_cast<std::int64_t>(Z.shape(0)),
                static_cast<std::int64_t>(Z.shape(1)),
                static_cast<std::int64_t>(indices.shape(1)), cells, sample.data(),
                static_cast<std::int64_t>(sample.shape(0)), truth.data(),
                static_cast<std::int64_t>(truth.shape(1)), recall, indices.data(),
                distances.data(), threads, signalled);
        },
        Release());

    module.def(
        "silhouette",
        [](Matrix<const float> axes, Vector<const std::int64_t> starts, Vector<double> out,
           int threads) {
            silhouette(axes.data(), static_cast<std::int64_t>(axes.shape(1)),
                       static_cast<std::int64_t>(axes.shape(0)), starts.data(),
                       static_cast<std::int64_t>(starts.shape(0)) - 1, out.data(), threads,
                       signalled);
        },
        Release());
}
