// The module that Python sees (with bind_search.cpp and bind_placing.cpp).
#include <cmath>
#include <vector>

#include "isa.hpp"
#include "local_further.hpp"
#include "pairs.hpp"
#include "parallel.hpp"
#include "python.hpp"
#include "silhouette.hpp"
#include "tiles.hpp"

using namespace localmap;

namespace {

// All pairs of one kind, tiled by tile.
class Tiled {
public:
    Vector<const std::int64_t> starts, middles;
    Matrix<const std::uint32_t> codes;

    PairRun trusted(std::int64_t tile) const {
        return run(starts.data()[tile], middles.data()[tile]);
    }
    PairRun rest(std::int64_t tile) const {
        return run(middles.data()[tile], starts.data()[tile + 1]);
    }

private:
    PairRun run(std::int64_t begin, std::int64_t end) const {
        return {reinterpret_cast<const PairCode*>(codes.data()) + begin, end - begin};
    }
};

Tiled tiled(nb::handle pairs) {
    return {nb::cast<Vector<const std::int64_t>>(pairs.attr("starts")),
            nb::cast<Vector<const std::int64_t>>(pairs.attr("middles")),
            nb::cast<Matrix<const std::uint32_t>>(pairs.attr("codes"))};
}

// The forces on all points of a map, added to `gradient`; `finish(first, count)` is told
// of each run of numbers of Y that no pair will read or pull any more.
template <class Finish>
double pull_map(const Matrix<float>& Y, const Tiled kinds[3], const Vector<const float>& w,
                float* gradient, bool with_loss, int threads, Finish&& finish) {
    const auto n = static_cast<std::int64_t>(Y.shape(0));
    const auto dim = static_cast<std::int64_t>(Y.shape(1));
    const Weights weights = read_weights(w);
    const std::int64_t blocks = block_count(n), size = block_rows(n) * dim;
    std::vector<double> losses(static_cast<std::size_t>(blocks * (blocks + 1) / 2), 0.0);
    const nb::gil_scoped_release release;
    auto side = [&](std::int64_t block) {
        return Side{Y.data() + block * size, gradient + block * size};
    };
    auto pairs = [&](std::int64_t a, std::int64_t b) {
        const std::int64_t tile = a * blocks + b;
        return TilePairs{kinds[0].trusted(tile), kinds[0].rest(tile), kinds[1].rest(tile),
                         kinds[2].rest(tile)};
    };
    run_tiles(
        blocks, threads, signalled,
        [&](const Meeting& meeting, std::int64_t number) noexcept {
            const std::int64_t a = meeting.a, b = meeting.b;
            double& loss = losses[static_cast<std::size_t>(number)];
            loss = rows().pull(side(a), side(b), dim, pairs(a, b), weights, with_loss);
            if (a != b)
                loss += rows().pull(side(b), side(a), dim, pairs(b, a), weights, with_loss);
        },
        [&](std::int64_t block) noexcept {
            finish(block * size, std::min(size, n * dim - block * size));
        });
    double total = 0.0;
    for (const double loss : losses) total += loss;
    return with_loss ? total : std::nan("");
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

    bind_search(module);
    bind_placing(module);

    module.def("instruction_set", [] { return rows().name; });

    module.def("block_rows", [](std::int64_t n) { return block_rows(n); });

    module.def(
        "pack_pairs",
        [](Matrix<std::uint32_t> pairs, Vector<const std::uint16_t> trusted,
           Vector<std::int64_t> starts, Vector<std::int64_t> middles, int threads) {
            pack_pairs(pairs.data(), static_cast<std::int64_t>(pairs.shape(0)),
                       static_cast<std::int64_t>(pairs.shape(1)),
                       trusted.shape(0) == 0 ? nullptr : trusted.data(), starts.data(), middles.data(), threads, signalled);
        },
        Release());

    module.def(
        "unpack_pairs",
        [](Matrix<std::uint32_t> pairs, Vector<const std::int64_t> starts,
           Vector<const std::int64_t> middles, int threads) {
            unpack_pairs(pairs.data(), static_cast<std::int64_t>(pairs.shape(0)),
                         static_cast<std::int64_t>(pairs.shape(1)), starts.data(),
                         middles.data(), threads, signalled);
        },
        Release());

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

    module.def("forces", [](Matrix<float> Y, nb::handle near, nb::handle mid_near,
                            nb::handle further, Vector<const float> weights,
                            Matrix<float> gradient, int threads) {
        const Tiled kinds[3] = {tiled(near), tiled(mid_near), tiled(further)};
        return pull_map(Y, kinds, weights, gradient.data(), true, threads,
                        [](std::int64_t, std::int64_t) {});
    });

    module.def("step", [](Matrix<float> Y, nb::handle near, nb::handle mid_near,
                          nb::handle further, Vector<const float> weights,
                          Matrix<float> gradient, Matrix<float> m, Matrix<float> v,
                          float rate, float beta1, float beta2, bool with_loss,
                          int threads) {
        const Tiled kinds[3] = {tiled(near), tiled(mid_near), tiled(further)};
        const Adam adam{rate, beta1, beta2};
        return pull_map(Y, kinds, weights, gradient.data(), with_loss, threads,
                        [&](std::int64_t first, std::int64_t count) {
                            rows().move(adam, Y.data() + first, gradient.data() + first,
                                        m.data() + first, v.data() + first, count);
                        });
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
