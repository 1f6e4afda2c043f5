// Forces on points by the lists of their pairs (lists.hpp).
#pragma once

#include "forces.hpp"
#include "isa.hpp"
#include "lanes.hpp"

namespace localmap {
namespace LOCALMAP_ISA {

// A kind of pair by how often it is there: numbers by code, for the force and the loss.
template <class Kind>
struct Listed {
    Kind kind;
    Lanes times, counted;
    Lanes force(Lanes t, Mask code) const { return kind.force(t) * chosen(times, code); }
};

// Near pairs where those that are not trusted lose their pull with length. The same as
// `Near`, with one division.
struct ListedNear {
    NearPlain kind;
    Lanes plain, local, counted;
    Lanes force(Lanes t, Mask code) const {
        const Lanes u = all(10.0f) + t, d = root(t);
        return (chosen(plain, code) * d + chosen(local, code)) * all(20.0f) / (d * (u * u));
    }
};

// The sum over one list; `here` is the point whose list it is.
template <int kDim, class Kind>
static inline double gather_list(const float* Y, int64_t dim, const float* here,
                                 const uint32_t* entries, int64_t count, const Kind& kind,
                                 float* sums, bool with_loss) {
    const int64_t axes = kDim == 0 ? dim : kDim;
    double loss = 0.0;
    Lanes x_sum = all(0.0f), y_sum = all(0.0f);
    for (; count > 0; entries += kLanes, count -= kLanes) {
        Mask code = codes_of(entries);
        if (count < kLanes) code = only_first(count, code);
        Lanes x, y, t = all(1.0f);
        if constexpr (kDim == 2) {
            listed_points(Y, entries, x, y);
            x = all(here[0]) - x;
            y = all(here[1]) - y;
            t += x * x + y * y;
        } else {
            for (int64_t a = 0; a < axes; ++a) {
                const Lanes away = listed_axis(Y, axes, a, here[a], entries);
                t += away * away;
            }
        }
        const Lanes force = kind.force(t, code);
        if constexpr (kDim == 2) {
            x_sum += force * x;
            y_sum += force * y;
        } else {
            for (int64_t a = 0; a < axes; ++a)
                sums[a] += sum(force * listed_axis(Y, axes, a, here[a], entries));
        }
        if (with_loss) loss += double(sum(kind.kind.loss(t) * chosen(kind.counted, code)));
    }
    if constexpr (kDim == 2) {
        point(sums, 0) += as_point(sum(x_sum, y_sum));
    }
    return loss;
}

template <int kDim>
static double gather_kinds(const float* Y, int64_t dim, int64_t first, int64_t last,
                           const Lists lists[3], const Weights& w, float* G,
                           bool with_loss) {
    Lanes plain, local, counted;
    for (int code = 0; code < kLanes; ++code) {
        plain[code] = w.near * (kTimesTrusted[code] + w.near_plain * kTimesDoubted[code]);
        local[code] = w.near * w.near_local * kTimesDoubted[code];
        counted[code] = kTimesTrusted[code] + kTimesDoubted[code];
    }
    double loss = 0.0;
    auto add = [&](const Lists& listed, const auto& kind, float weight) {
        if (listed.starts == nullptr) return;
        double found = 0.0;
        for (int64_t i = first; i < last; ++i)
            found += gather_list<kDim>(Y, dim, Y + i * dim, listed.entries + listed.starts[i],
                                       listed.starts[i + 1] - listed.starts[i], kind,
                                       G + i * dim, with_loss);
        loss += weight * found;
    };
    if (w.near_local != 0.0f)
        add(lists[0], ListedNear{{all(1.0f)}, plain, local, counted}, w.near);
    else
        add(lists[0], Listed<NearPlain>{{all(1.0f)}, plain, counted}, w.near);
    if (w.mid_near != 0.0f)
        add(lists[1], Listed<MidNear>{{all(w.mid_near)}, counted, counted}, w.mid_near);
    add(lists[2], Listed<Further>{{all(w.further)}, counted, counted}, w.further);
    return loss;
}

static double gather(const float* Y, int64_t dim, int64_t first, int64_t last,
                     const Lists lists[3], const Weights& w, float* G, bool with_loss) {
    const auto run = dim == 2 ? gather_kinds<2> : dim == 3 ? gather_kinds<3> : gather_kinds<0>;
    return run(Y, dim, first, last, lists, w, G, with_loss);
}

}  // namespace LOCALMAP_ISA
}  // namespace localmap
