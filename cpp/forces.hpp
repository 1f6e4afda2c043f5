// The forces of PaCMAP and LocalMAP on one point: the paper's table, once.
//
// With t = |y_i - y_j|^2 + 1, the force on i along y_i - y_j is
//   near      attract   w 20 / (10 + t)^2 * (plain + local / sqrt(t))
//   mid-near  attract   w 20000 / (10000 + t)^2
//   further   repel     w 2 / (1 + t)^2
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

struct Further {
    Lanes weight;
    Lanes force(Lanes t) const {
        const Lanes u = all(1.0f) + t;
        return -(weight * all(2.0f) / (u * u));
    }
    Lanes loss(Lanes t) const { return all(1.0f) / (all(1.0f) + t); }
};

// Call visit(partners, valid) for each eight partners of `row`. The last eight are
// filled up with the row itself: a point exerts no force on itself.
template <class Visit>
static inline void by_eight(const PairList& pairs, int64_t row, Visit visit) {
    const int32_t* at = pairs.partners + pairs.starts[row];
    const int32_t* const end = pairs.partners + pairs.starts[row + 1];
    for (; end - at >= kLanes; at += kLanes) visit(at, kLanes);
    if (at == end) return;
    int32_t rest[kLanes];
    const int valid = static_cast<int>(end - at);
    for (int lane = 0; lane < kLanes; ++lane)
        rest[lane] = lane < valid ? at[lane] : static_cast<int32_t>(row);
    visit(static_cast<const int32_t*>(rest), valid);
}

// The loss of the filled lanes is that of distance zero; it is taken off again.
template <class Kind>
static inline double loss_of(const Kind& kind, Lanes t, int valid) {
    const Lanes value = kind.loss(t);
    double total = sum(value);
    if (valid < kLanes) total -= (kLanes - valid) * double(kind.loss(all(1.0f))[0]);
    return total;
}

// What a row has gathered so far, in a map of kDim axes (0: any number of axes).
template <int kDim>
struct Gathered {
    Lanes axis[kDim];
    explicit Gathered(int64_t) {
        for (int a = 0; a < kDim; ++a) axis[a] = all(0.0f);
    }

    template <class Kind>
    void add(const Layout& map, int64_t row, const PairList& pairs, const Kind& kind,
             float weight, double* loss) {
        Lanes here[kDim];
        for (int a = 0; a < kDim; ++a) here[a] = all(map.Y[row * kDim + a]);
        double pair_loss = 0.0;
        by_eight(pairs, row, [&](const int32_t* partners, int valid) {
            Lanes there[kDim], away[kDim];
            if constexpr (kDim == 2) {
                load_points(map.Y, partners, there[0], there[1]);
            } else {
                for (int a = 0; a < kDim; ++a)
                    there[a] = load_axis(map.Y, kDim, a, partners);
            }
            Lanes t = all(1.0f);
            for (int a = 0; a < kDim; ++a) {
                away[a] = here[a] - there[a];
                t += away[a] * away[a];
            }
            const Lanes force = kind.force(t);
            for (int a = 0; a < kDim; ++a) axis[a] += force * away[a];
            if (loss != nullptr) pair_loss += loss_of(kind, t, valid);
        });
        if (loss != nullptr) *loss += weight * pair_loss;
    }

    void store(int64_t, float* gradient) const {
        for (int a = 0; a < kDim; ++a) gradient[a] = sum(axis[a]);
    }
};

// Any number of axes: each group of eight is summed into memory axis by axis.
template <>
struct Gathered<0> {
    static constexpr int64_t kMost = 64;  // axes held; kernels.py checks the bound
    float total[kMost];
    explicit Gathered(int64_t dim) {
        for (int64_t a = 0; a < dim; ++a) total[a] = 0.0f;
    }

    template <class Kind>
    void add(const Layout& map, int64_t row, const PairList& pairs, const Kind& kind,
             float weight, double* loss) {
        const float* here = map.Y + row * map.dim;
        double pair_loss = 0.0;
        by_eight(pairs, row, [&](const int32_t* partners, int valid) {
            Lanes t = all(1.0f);
            for (int64_t a = 0; a < map.dim; ++a) {
                const Lanes away = all(here[a]) - load_axis(map.Y, map.dim, a, partners);
                t += away * away;
            }
            const Lanes force = kind.force(t);
            for (int64_t a = 0; a < map.dim; ++a) {
                const Lanes away = all(here[a]) - load_axis(map.Y, map.dim, a, partners);
                total[a] += sum(force * away);
            }
            if (loss != nullptr) pair_loss += loss_of(kind, t, valid);
        });
        if (loss != nullptr) *loss += weight * pair_loss;
    }

    void store(int64_t dim, float* gradient) const {
        for (int64_t a = 0; a < dim; ++a) gradient[a] = total[a];
    }
};

// The gradient of the whole layout at one row.
template <int kDim>
static inline void gather(const Layout& map, int64_t row, float* gradient,
                          double* loss) {
    const Weights& w = map.weights;
    Gathered<kDim> gathered(map.dim);
    if (w.near_local != 0.0f) {
        const Near near{all(w.near * w.near_plain), all(w.near * w.near_local)};
        gathered.add(map, row, map.near, near, w.near, loss);
    } else {
        const NearPlain near{all(w.near * w.near_plain)};
        gathered.add(map, row, map.near, near, w.near, loss);
    }
    if (w.mid_near != 0.0f)
        gathered.add(map, row, map.mid_near, MidNear{all(w.mid_near)}, w.mid_near, loss);
    gathered.add(map, row, map.further, Further{all(w.further)}, w.further, loss);
    gathered.store(map.dim, gradient);
}

}  // namespace LOCALMAP_ISA
}  // namespace localmap
