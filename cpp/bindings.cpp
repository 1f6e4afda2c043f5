// The only file that knows Python. Shapes and index ranges are checked in kernels.py.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cmath>
#include <vector>

#include "cells.hpp"
#include "isa.hpp"
#include "knn.hpp"
#include "local_further.hpp"
#include "reverse.hpp"
#include "pairs.hpp"
#include "parallel.hpp"
#include "relax.hpp"
#include "silhouette.hpp"
#include "tiles.hpp"

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

// Numbers found in C++, handed to Python without a copy.
template <class T>
using Owned = nb::ndarray<nb::numpy, T, nb::ndim<2>>;
template <class T>
Owned<T> owned(std::vector<T>&& numbers, std::int64_t columns) {
    auto* kept = new std::vector<T>(std::move(numbers));
    const nb::capsule owner(kept,
                            [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    const auto rows = static_cast<std::int64_t>(kept->size()) / columns;
    return Owned<T>(kept->data(), {static_cast<std::size_t>(rows),
                                   static_cast<std::size_t>(columns)}, owner);
}

// The same for records, as bytes: one row each.
template <class Record>
Owned<std::uint8_t> owned_bytes(std::vector<Record>&& records) {
    auto* kept = new std::vector<Record>(std::move(records));
    const nb::capsule owner(
        kept, [](void* p) noexcept { delete static_cast<std::vector<Record>*>(p); });
    return Owned<std::uint8_t>(reinterpret_cast<std::uint8_t*>(kept->data()),
                               {kept->size(), sizeof(Record)}, owner);
}

// What find, pack and the rest need to know of rows in cells.
struct CellArrays {
    Matrix<const float> Z;
    Vector<const std::int32_t> order;
    Vector<const std::int64_t> starts;
    Matrix<float> packed;

    Grouped grouped() {
        return {Z.data(), static_cast<std::int64_t>(Z.shape(1)), order.data(), starts.data(),
                static_cast<std::int64_t>(starts.shape(0)) - 1, packed.data()};
    }
};

Weights read_weights(const Vector<const float>& w) {
    return {w.data()[0], w.data()[1], w.data()[2], w.data()[3], w.data()[4]};
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
        "shared_within",
        [](Matrix<const float> Z, Vector<const float> sizes,
           Matrix<const std::int32_t> found, Matrix<const std::int32_t> near,
           Matrix<std::uint8_t> out, int threads) {
            shared_within(Z.data(), static_cast<std::int64_t>(Z.shape(1)), sizes.data(),
                          found.data(), static_cast<std::int64_t>(found.shape(0)),
                          static_cast<std::int64_t>(found.shape(1)), near.data(),
                          static_cast<std::int64_t>(near.shape(1)), out.data(), threads,
                          signalled);
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
        "exact_neighbors",
        [](Matrix<const float> Z, Vector<const std::int32_t> queries,
           Matrix<std::int32_t> indices, Matrix<float> distances, int threads) {
            const auto d = static_cast<std::int64_t>(Z.shape(1));
            exact_neighbors(
                Z.data(), static_cast<std::int64_t>(Z.shape(0)), d,
                static_cast<std::int64_t>(queries.shape(0)),
                [&](std::int64_t q) { return Z.data() + queries.data()[q] * d; },
                [&](std::int64_t q) { return queries.data()[q]; },
                static_cast<std::int64_t>(indices.shape(1)), indices.data(),
                distances.data(), threads, signalled);
        },
        Release());

    module.def(
        "neighbors_of",
        [](Matrix<const float> Z, Matrix<const float> queries,
           Matrix<std::int32_t> indices, Matrix<float> distances, int threads) {
            const auto d = static_cast<std::int64_t>(Z.shape(1));
            exact_neighbors(
                Z.data(), static_cast<std::int64_t>(Z.shape(0)), d,
                static_cast<std::int64_t>(queries.shape(0)),
                [&](std::int64_t q) { return queries.data() + q * d; },
                [](std::int64_t) { return kNoRow; },
                static_cast<std::int64_t>(indices.shape(1)), indices.data(),
                distances.data(), threads, signalled);
        },
        Release());

    module.def(
        "project",
        [](Matrix<const float> rows_in, Matrix<const float> components,
           Matrix<float> out, int threads) {
            const auto D = static_cast<std::int64_t>(components.shape(0));
            const auto d = static_cast<std::int64_t>(components.shape(1));
            parallel_for(static_cast<std::int64_t>(rows_in.shape(0)), 16, threads,
                         signalled, [&](std::int64_t begin, std::int64_t end, int) {
                             for (std::int64_t i = begin; i < end; ++i)
                                 rows().project(rows_in.data() + i * D, components.data(),
                                                D, d, out.data() + i * d);
                         });
        },
        Release());

    module.def(
        "relax",
        [](Matrix<const float> Y, Matrix<const std::int32_t> near,
           Vector<const std::uint16_t> trusted, Vector<const float> w, float reach, float rate, float beta1, float beta2,
           std::int64_t iterations, std::int64_t redraw_every, std::int64_t slots,
           std::uint64_t key, Matrix<float> out, int threads) {
            const Relaxing how = {read_weights(w), reach, rate, beta1, beta2, iterations,
                                  redraw_every, slots, key};
            relax(Y.data(), static_cast<std::int64_t>(Y.shape(0)),
                   static_cast<std::int64_t>(Y.shape(1)), near.data(),
                   trusted.shape(0) == 0 ? nullptr : trusted.data(),
                   static_cast<std::int64_t>(near.shape(0)),
                   static_cast<std::int64_t>(near.shape(1)), how, out.data(), threads,
                   signalled);
        },
        Release());

    module.def("cell_centres", [](Matrix<const float> sample, std::int64_t cells, int threads) {
        const auto d = static_cast<std::int64_t>(sample.shape(1));
        Centres found{d, {}, {}, {}};
        {
            const nb::gil_scoped_release release;
            found = centres_of(sample.data(), static_cast<std::int64_t>(sample.shape(0)), d,
                               cells, threads, signalled);
        }
        const auto length =
            static_cast<std::int64_t>(found.lists.size()) / found.coarse();
        return nb::make_tuple(owned(std::move(found.around), d),
                              owned(std::move(found.cells), d),
                              owned(std::move(found.lists), length));
    });

    module.def(
        "cell_homes",
        [](Matrix<const float> X, Matrix<const float> around, Matrix<const float> cells,
           Matrix<const std::int32_t> lists, Vector<std::int32_t> out, int threads) {
            homes(X.data(), static_cast<std::int64_t>(X.shape(0)),
                  static_cast<std::int64_t>(X.shape(1)), around.data(),
                  static_cast<std::int64_t>(around.shape(0)), cells.data(), lists.data(),
                  static_cast<std::int64_t>(lists.shape(1)), out.data(), threads, signalled);
        },
        Release());

    module.def(
        "cell_probes",
        [](Matrix<const float> cells, Matrix<const float> queries,
           Vector<const std::int32_t> home, Matrix<const std::int32_t> truth, double recall,
           int threads) {
            return probes_for(cells.data(), static_cast<std::int64_t>(cells.shape(0)),
                              static_cast<std::int64_t>(cells.shape(1)), queries.data(),
                              static_cast<std::int64_t>(queries.shape(0)), home.data(),
                              truth.data(), static_cast<std::int64_t>(truth.shape(1)),
                              recall, threads, signalled);
        },
        Release());

    module.def("cell_shortlists", [](Matrix<const float> cells, std::int64_t probes,
                                     int threads) {
        const auto count = static_cast<std::int64_t>(cells.shape(0));
        const std::int64_t length = std::min(count, kShortlist * probes);
        std::vector<std::int32_t> found;
        {
            const nb::gil_scoped_release release;
            found = shortlists(cells.data(), count, static_cast<std::int64_t>(cells.shape(1)),
                               length, threads, signalled);
        }
        return owned(std::move(found), length);
    });

    module.def("panel_rows", [](Vector<const std::int64_t> starts) {
        std::int64_t panels = 0;
        for (std::size_t c = 0; c + 1 < starts.shape(0); ++c)
            panels += panels_for(starts.data()[c + 1] - starts.data()[c]);
        return panels * kPanel;
    });

    module.def(
        "pack_cells",
        [](Matrix<const float> Z, Vector<const std::int32_t> order,
           Vector<const std::int64_t> starts, Matrix<float> packed, std::int64_t first,
           std::int64_t last, int threads) {
            CellArrays arrays{Z, order, starts, packed};
            arrays.grouped().pack(first, last, threads, signalled);
        },
        Release());

    module.def(
        "find_in_cells",
        [](Matrix<const float> Z, Vector<const std::int32_t> order,
           Vector<const std::int64_t> starts, Matrix<float> packed,
           Matrix<const float> centres, Matrix<const std::int32_t> lists,
           std::int64_t probes, std::int64_t first, std::int64_t last,
           Matrix<std::int32_t> indices, Matrix<float> distances, int threads) {
            CellArrays arrays{Z, order, starts, packed};
            const Probing how{centres.data(), lists.data(),
                              static_cast<std::int64_t>(lists.shape(1)), probes};
            find_in_cells(arrays.grouped(), static_cast<std::int64_t>(Z.shape(0)),
                          static_cast<std::int64_t>(Z.shape(1)), how, first, last,
                          static_cast<std::int64_t>(indices.shape(1)), indices.data(),
                          distances.data(), threads, signalled);
        },
        Release());

    module.def(
        "find_for_others",
        [](Matrix<const float> Z, Vector<const std::int32_t> order,
           Vector<const std::int64_t> starts, Matrix<float> packed,
           Matrix<const float> centres, Matrix<const std::int32_t> lists,
           std::int64_t probes, Matrix<const float> queries,
           Vector<const std::int32_t> home, Matrix<std::int32_t> indices,
           Matrix<float> distances, int threads) {
            CellArrays arrays{Z, order, starts, packed};
            const Probing how{centres.data(), lists.data(),
                              static_cast<std::int64_t>(lists.shape(1)), probes};
            find_for_others(arrays.grouped(), static_cast<std::int64_t>(Z.shape(0)),
                            static_cast<std::int64_t>(Z.shape(1)), how, queries.data(),
                            static_cast<std::int64_t>(queries.shape(0)), home.data(),
                            static_cast<std::int64_t>(indices.shape(1)), indices.data(),
                            distances.data(), threads, signalled);
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

    module.def("missed_neighbors", [](Matrix<const std::int32_t> indices,
                                      Matrix<const float> distances, std::int64_t first,
                                      std::int64_t last, int threads) {
        std::vector<Missed> missed;
        {
            const nb::gil_scoped_release release;
            missed = missed_by(static_cast<std::int64_t>(indices.shape(0)),
                               static_cast<std::int64_t>(indices.shape(1)), indices.data(),
                               distances.data(), first, last, threads, signalled);
        }
        return owned_bytes(std::move(missed));
    });

    module.def(
        "let_in",
        [](Matrix<std::int32_t> indices, Matrix<float> distances,
           Matrix<const std::uint8_t> missed) {
            const auto* from = reinterpret_cast<const Missed*>(missed.data());
            let_in(static_cast<std::int64_t>(indices.shape(1)), indices.data(),
                   distances.data(), from, from + missed.shape(0));
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
