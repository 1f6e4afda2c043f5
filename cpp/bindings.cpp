// The module that Python sees (with bind_search.cpp and bind_placing.cpp).
#include <algorithm>
#include <cmath>
#include <vector>

#include "circles.hpp"
#include "isa.hpp"
#include "lists.hpp"
#include "local_further.hpp"
#include "pairs.hpp"
#include "parallel.hpp"
#include "python.hpp"
#include "silhouette.hpp"
#include "step.hpp"

using namespace localmap;

namespace {

// A map and its pairs: near, mid-near and further ones, each listed, dealt or None. What
// Python holds stays alive while the caller runs.
Layout layout_of(const Matrix<float>& Y, const nb::tuple& pairs) {
    Layout map = {Y.data(), static_cast<std::int64_t>(Y.shape(0)),
                  static_cast<std::int64_t>(Y.shape(1)), {}, nullptr};
    for (std::size_t kind = 0; kind < 3; ++kind) {
        const nb::handle some = pairs[kind];
        if (nb::isinstance<Circles>(some))
            map.circles = nb::cast<const Circles*>(some);
        else if (!some.is_none())
            map.lists[kind] = {
                nb::cast<Vector<const std::int64_t>>(some.attr("starts")).data(),
                nb::cast<Vector<const std::uint32_t>>(some.attr("entries")).data()};
    }
    return map;
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

    // What callers that make room for lists, or read them, must know of an entry.
    module.attr("BEYOND") = kBeyond;
    module.attr("CODE_BITS") = kCodeBits;

    bind_search(module);
    bind_placing(module);

    module.def("instruction_set", [] { return rows().name; });

    module.def(
        "count_pairs",
        [](Matrix<const std::int32_t> pairs, Vector<std::int64_t> starts, int threads) {
            return count_pairs(pairs.data(), static_cast<std::int64_t>(pairs.shape(0)),
                               static_cast<std::int64_t>(pairs.shape(1)), starts.data(),
                               threads, signalled);
        },
        Release());

    module.def(
        "build_lists",
        [](Matrix<const std::int32_t> pairs, Vector<const std::uint16_t> trusted,
           Vector<std::int64_t> starts, Vector<std::uint32_t> entries, int threads) {
            return build_lists(pairs.data(), static_cast<std::int64_t>(pairs.shape(0)),
                               static_cast<std::int64_t>(pairs.shape(1)),
                               trusted.shape(0) == 0 ? nullptr : trusted.data(),
                               starts.data(), entries.data(), threads, signalled);
        },
        Release());

    nb::class_<Circles>(module, "Circles")
        .def(nb::init<std::int64_t, std::int64_t>())
        .def(
            "deal",
            [](Circles& circles, Matrix<const float> Y, Vector<const std::int64_t> starts,
               Vector<const std::uint32_t> entries, float reach, std::uint64_t key,
               std::uint64_t iteration, int threads) {
                circles.deal(Y.data(), static_cast<std::int64_t>(Y.shape(1)),
                             {starts.data(), entries.data()}, reach, key, iteration, threads,
                             signalled);
            },
            Release())
        .def("partners", [](const Circles& circles, Matrix<std::int32_t> out) {
            circles.partners(out.data());
        });

    module.def(
        "shared_neighbors",
        [](Matrix<const std::int32_t> indices, std::int64_t among,
           Matrix<const std::int32_t> near, Matrix<std::uint8_t> out, int threads) {
            shared_neighbors(indices.data(), static_cast<std::int64_t>(indices.shape(0)),
                             static_cast<std::int64_t>(indices.shape(1)), among,
                             near.data(), static_cast<std::int64_t>(near.shape(1)),
                             out.data(), threads, signalled);
        },
        Release());

    module.def(
        "mean_shares",
        [](Matrix<const std::int32_t> near, Matrix<const std::uint8_t> shared,
           Matrix<float> out, int threads) {
            mean_shares(near.data(), shared.data(), static_cast<std::int64_t>(near.shape(0)),
                        static_cast<std::int64_t>(near.shape(1)), out.data(), threads,
                        signalled);
        },
        Release());

    module.def(
        "means",
        [](Vector<const double> values, Matrix<const std::int32_t> named, std::int64_t among,
           Vector<double> out, int threads) {
            means(values.data(), named.data(), static_cast<std::int64_t>(named.shape(0)),
                  static_cast<std::int64_t>(named.shape(1)), among, out.data(), threads,
                  signalled);
        },
        Release());

    module.def(
        "trusted_first",
        [](Matrix<const std::int32_t> near, Matrix<const float> shares, double enough,
           double chance, std::int64_t among, Vector<const double> usual,
           Vector<const double> sizes, Vector<const double> partners_usual,
           Vector<const double> partners_sizes, Matrix<std::int32_t> ordered,
           Vector<std::uint16_t> count, int threads) {
            trusted_first(near.data(), shares.data(), static_cast<std::int64_t>(near.shape(0)),
                          static_cast<std::int64_t>(near.shape(1)), {enough, chance, among},
                          {usual.data(), sizes.data()},
                          {partners_usual.data(), partners_sizes.data()}, ordered.data(),
                          count.data(), threads, signalled);
        },
        Release());

    module.def("forces", [](Matrix<float> Y, nb::tuple pairs, Vector<const float> weights, Matrix<float> gradient,
                            int threads) {
        const Layout map = layout_of(Y, pairs);
        const Weights w = read_weights(weights.data());
        const nb::gil_scoped_release release;
        return pull_layout(
            map, {w}, gradient.data(), true, threads, signalled,
            [&](std::int64_t) { return map.Y; },
            [](std::int64_t, std::int64_t, std::int64_t) {});
    });

    // One step for each row of weights, with its rate; the map moves from Y to `next`, back
    // to Y, and so on.
    module.def("steps", [](Matrix<float> Y, nb::tuple pairs, Matrix<const float> weights,
                           Vector<const float> rates, Matrix<float> gradient, Matrix<float> m,
                           Matrix<float> v, Matrix<float> next, float beta1, float beta2,
                           bool with_loss, int threads) {
        const Layout map = layout_of(Y, pairs);
        std::vector<Weights> of_steps;
        for (std::size_t k = 0; k < weights.shape(0); ++k)
            of_steps.push_back(read_weights(weights.data() + k * weights.shape(1)));
        float* const maps[2] = {Y.data(), next.data()};
        const nb::gil_scoped_release release;
        const double loss = pull_layout(
            map, of_steps, gradient.data(), with_loss, threads, signalled,
            [&](std::int64_t k) { return maps[k % 2]; },
            [&](std::int64_t k, std::int64_t first, std::int64_t last) {
                const Adam adam{rates.data()[k], beta1, beta2};
                const std::int64_t at = first * map.dim, count = (last - first) * map.dim;
                float* const moved = maps[(k + 1) % 2] + at;
                std::copy(maps[k % 2] + at, maps[k % 2] + at + count, moved);
                rows().move(adam, moved, gradient.data() + at, m.data() + at, v.data() + at,
                            count);
            });
        return with_loss ? loss : std::nan("");
    });

    module.def(
        "near",
        [](Matrix<const std::int32_t> indices, Matrix<const float> distances,
           Vector<const double> own, Vector<const double> scales,
           Matrix<std::int32_t> out, int threads) {
            near(indices.data(), distances.data(), own.data(), scales.data(),
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
        "silhouette",
        [](Matrix<const float> axes, Vector<const std::int64_t> starts,
           Vector<const std::int64_t> places, Vector<double> out, int threads) {
            silhouette(axes.data(), static_cast<std::int64_t>(axes.shape(1)),
                       static_cast<std::int64_t>(axes.shape(0)), starts.data(),
                       static_cast<std::int64_t>(starts.shape(0)) - 1, places.data(),
                       static_cast<std::int64_t>(places.shape(0)), out.data(), threads,
                       signalled);
        },
        Release());
}
