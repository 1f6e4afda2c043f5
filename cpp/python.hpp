// What the files that know Python share. Shapes and index ranges are checked in
// localmap.kernels.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <vector>

#include "isa.hpp"

namespace localmap {

namespace nb = nanobind;

template <class T>
using Matrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Release = nb::call_guard<nb::gil_scoped_release>;

// Ctrl-C: asked by the calling thread, which holds no lock while it computes.
inline bool signalled() {
    nb::gil_scoped_acquire lock;
    return PyErr_CheckSignals() != 0;
}

inline Weights read_weights(const float* w) { return {w[0], w[1], w[2], w[3], w[4]}; }

void bind_search(nb::module_& module);
void bind_placing(nb::module_& module);

}  // namespace localmap
