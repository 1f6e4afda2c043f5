// The forces of PaCMAP and LocalMAP between two points: the paper's table, once.
//
// With t = |y_i - y_j|^2 + 1, the force on i along y_i - y_j is
//   near      attract   w 20 / (10 + t)^2 * (plain + local / sqrt(t))
//   mid-near  attract   w 20000 / (10000 + t)^2
//   further   repel     w 2 / (1 + t)^2
// and j gets the opposite.
//
// LocalMAP's 1 / sqrt(t) is a *weight* on PaCMAP's near force. It is not the
// derivative of the loss written in the paper: that derivative repels for t > 10
// and destroys the map (design notes: silhouette on MNIST 0.02 instead of 0.57).
#pragma once

#include "isa.hpp"
#include "lanes.hpp"

namespace localmap {
namespace LOCALMAP_ISA {

struct Near {
    Lanes plain, local;
    Lanes force(Lanes t) const {
        const Lanes u = all(10.0f) + t;
        return (plain + local / root(t)) * all(20.0f) / (u * u);
    }
    Lanes loss(Lanes t) const { return t / (all(10.0f) + t); }
};

// Near without the local part: PaCMAP, and the first two phases of LocalMAP.
struct NearPlain {
    Lanes plain;
    Lanes force(Lanes t) const {
        const Lanes u = all(10.0f) + t;
        return plain * all(20.0f) / (u * u);
    }
    Lanes loss(Lanes t) const { return t / (all(10.0f) + t); }
};

struct MidNear {
    Lanes weight;
    Lanes force(Lanes t) const {
        const Lanes u = all(10000.0f) + t;
        return weight * all(20000.0f) / (u * u);
    }
    Lanes loss(Lanes t) const { return t / (all(10000.0f) + t); }
};

// In lanes of any number.
template <class Vector>
struct FurtherIn {
    Vector weight;
    Vector force(Vector t) const {
        const Vector u = 1.0f + t;
        return -(weight * 2.0f / (u * u));
    }
    Vector loss(Vector t) const { return 1.0f / (1.0f + t); }
};
using Further = FurtherIn<Lanes>;

}  // namespace LOCALMAP_ISA
}  // namespace localmap
