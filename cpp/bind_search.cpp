// Nearest neighbours, for Python.
#include <nanobind/stl/tuple.h>

#include "cells.hpp"
#include "each_two.hpp"
#include "knn.hpp"
#include "others.hpp"
#include "python.hpp"
#include "reverse.hpp"

namespace localmap {

namespace {

// What was found in C++, handed to Python without a copy, as rows of T.
template <class T, class Found>
nb::ndarray<nb::numpy, T, nb::ndim<2>> owned(std::vector<Found>&& found,
                                             std::size_t columns) {
    auto* kept = new std::vector<Found>(std::move(found));
    const nb::capsule owner(
        kept, [](void* p) noexcept { delete static_cast<std::vector<Found>*>(p); });
    const std::size_t rows = kept->size() * sizeof(Found) / sizeof(T) / columns;
    return {reinterpret_cast<T*>(kept->data()), {rows, columns}, owner};
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

}  // namespace

void bind_search(nb::module_& module) {
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
        "compare_each_two",
        [](Matrix<const float> Z, Vector<const std::int32_t> order,
           Matrix<std::int32_t> indices, Matrix<float> distances, int threads) {
            compare_each_two(Z.data(), static_cast<std::int64_t>(Z.shape(0)),
                             static_cast<std::int64_t>(Z.shape(1)), order.data(),
                             static_cast<std::int64_t>(indices.shape(1)), indices.data(),
                             distances.data(), threads, signalled);
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
        const std::size_t length =
            found.lists.size() / static_cast<std::size_t>(found.coarse());
        return std::make_tuple(owned<float>(std::move(found.around), sample.shape(1)),
                              owned<float>(std::move(found.cells), sample.shape(1)),
                              owned<std::int32_t>(std::move(found.lists), length));
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
        return owned<std::int32_t>(std::move(found), static_cast<std::size_t>(length));
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
        return owned<std::uint8_t>(std::move(missed), sizeof(Missed));
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
}

}  // namespace localmap
