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

struct Further {
    Lanes weight;
    Lanes force(Lanes t) const {
        const Lanes u = all(1.0f) + t;
        return -(weight * all(2.0f) / (u * u));
    }
    Lanes loss(Lanes t) const { return all(1.0f) / (all(1.0f) + t); }
};

// Pull the first `valid` of eight pairs of points of the plane.
template <class Kind>
static inline Lanes pull_plane(Side i, Side j, const PairCode* codes, int valid,
                               const Kind& kind) {
    Lanes xi, yi, xj, yj;
    load_points(i.Y, codes, &PairCode::i, xi, yi);
    load_points(j.Y, codes, &PairCode::j, xj, yj);
    const Lanes dx = xi - xj, dy = yi - yj;
    const Lanes t = all(1.0f) + dx * dx + dy * dy;
    const Lanes force = kind.force(t);
    PointBits pulls[kLanes];
    store_points(force * dx, force * dy, pulls);
    for (int lane = 0; lane < valid; ++lane) {
        const Point pull = as_point(pulls[lane]);
        point(i.G, codes[lane].i) += pull;
        point(j.G, codes[lane].j) -= pull;
    }
    return t;
}

// The same for a map of kDim axes (0: as many as `dim` says).
template <int kDim, class Kind>
static inline Lanes pull(Side i, Side j, int64_t dim, const PairCode* codes, int valid,
                         const Kind& kind) {
    if constexpr (kDim == 2) return pull_plane(i, j, codes, valid, kind);
    const int64_t axes = kDim == 0 ? dim : kDim;
    auto away = [&](int64_t a) {
        Lanes result;
        for (int lane = 0; lane < kLanes; ++lane)
            result[lane] = i.Y[codes[lane].i * axes + a] - j.Y[codes[lane].j * axes + a];
        return result;
    };
    Lanes t = all(1.0f);
    for (int64_t a = 0; a < axes; ++a) t += away(a) * away(a);
    const Lanes force = kind.force(t);
    for (int64_t a = 0; a < axes; ++a) {
        const Lanes pulls = force * away(a);
        for (int lane = 0; lane < valid; ++lane) {
            i.G[codes[lane].i * axes + a] += pulls[lane];
            j.G[codes[lane].j * axes + a] -= pulls[lane];
        }
    }
    return t;
}

// All pairs of one kind from block i to block j; returns their loss if asked for.
template <int kDim, class Kind>
static double pull_all(Side i, Side j, int64_t dim, const PairCode* codes, int64_t count,
                       const Kind kind, bool with_loss) {
    double loss = 0.0;
    const PairCode* const end = codes + count;
    for (; end - codes >= kLanes; codes += kLanes) {
        const Lanes t = pull<kDim>(i, j, dim, codes, kLanes, kind);
        if (with_loss) loss += double(sum(kind.loss(t)));
    }
    if (codes == end) return loss;
    PairCode rest[kLanes];  // filled up with the first, which is pulled once only
    const int valid = static_cast<int>(end - codes);
    for (int lane = 0; lane < kLanes; ++lane) rest[lane] = codes[lane < valid ? lane : 0];
    const Lanes t = pull<kDim>(i, j, dim, rest, valid, kind);
    if (with_loss) {
        const Lanes each = in_order<kDim>(kind.loss(t));
        for (int lane = 0; lane < valid; ++lane) loss += double(each[lane]);
    }
    return loss;
}

template <int kDim>
static double pull_kinds(Side i, Side j, int64_t dim, const TilePairs& pairs,
                         const Weights& w, bool with_loss) {
    double loss = 0.0;
    auto add = [&](const PairRun& run, const auto& kind, float weight) {
        loss += weight * pull_all<kDim>(i, j, dim, run.codes, run.count, kind, with_loss);
    };
    add(pairs.trusted, NearPlain{all(w.near)}, w.near);
    if (w.near_local != 0.0f)
        add(pairs.near, Near{all(w.near * w.near_plain), all(w.near * w.near_local)}, w.near);
    else
        add(pairs.near, NearPlain{all(w.near * w.near_plain)}, w.near);
    if (w.mid_near != 0.0f) add(pairs.mid_near, MidNear{all(w.mid_near)}, w.mid_near);
    add(pairs.further, Further{all(w.further)}, w.further);
    return loss;
}

}  // namespace LOCALMAP_ISA
}  // namespace localmap
