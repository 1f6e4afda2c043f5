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

// Add to G what up to eight points of the plane, one after the other, have summed.
static inline void add_sums(const Lanes* x, const Lanes* y, int64_t count, float* G) {
    const Lanes xs = eight_sums(x), ys = eight_sums(y);
    const Lanes low = LOCALMAP_SHUFFLE(xs, ys, 0, 8, 1, 9, 2, 10, 3, 11);
    const Lanes high = LOCALMAP_SHUFFLE(xs, ys, 4, 12, 5, 13, 6, 14, 7, 15);
    if (count == kLanes) {
        store(load(G) + low, G);
        store(load(G + kLanes) + high, G + kLanes);
        return;
    }
    float all_of[2 * kLanes];
    store(low, all_of);
    store(high, all_of + kLanes);
    for (int64_t k = 0; k < 2 * count; ++k) G[k] += all_of[k];
}

// Sums over lists in the plane; returns the loss if asked for.
template <class Kind>
static double gather_plane(const float* Y, int64_t first, int64_t last, const Lists& lists,
                           const Kind& kind, float* G, bool with_loss) {
    double loss = 0.0;
    Lanes x_sums[kLanes], y_sums[kLanes];
    for (int64_t some = first; some < last; some += kLanes) {
        const int64_t here = last - some < kLanes ? last - some : kLanes;
        for (int64_t one = 0; one < kLanes; ++one) {
            x_sums[one] = y_sums[one] = all(0.0f);
            if (one >= here) continue;
            const int64_t i = some + one;
            const uint32_t* entries = lists.entries + lists.starts[i];
            int64_t count = lists.starts[i + 1] - lists.starts[i];
            const Lanes own_x = all(Y[2 * i]), own_y = all(Y[2 * i + 1]);
            Lanes x_sum = all(0.0f), y_sum = all(0.0f);
            for (; count > 0; entries += kLanes, count -= kLanes) {
                Mask code = codes_of(entries);
                if (count < kLanes) code = only_first(count, code);
                Lanes x, y;
                listed_points(Y, entries, x, y);
                x = own_x - x;
                y = own_y - y;
                const Lanes t = all(1.0f) + (x * x + y * y);
                const Lanes force = kind.force(t, code);
                x_sum += force * x;
                y_sum += force * y;
                if (with_loss)
                    loss += double(sum(kind.kind.loss(t) * chosen(kind.counted, code)));
            }
            x_sums[one] = x_sum;
            y_sums[one] = y_sum;
        }
        add_sums(x_sums, y_sums, here, G + 2 * some);
    }
    return loss;
}

// Sums over lists in any number of dimensions; kDim, or `dim` if that is 0.
template <int kDim, class Kind>
static double gather_space(const float* Y, int64_t dim, int64_t first, int64_t last,
                           const Lists& lists, const Kind& kind, float* G, bool with_loss) {
    const int64_t axes = kDim == 0 ? dim : kDim;
    double loss = 0.0;
    for (int64_t i = first; i < last; ++i) {
        const float* const here = Y + i * axes;
        float* const sums = G + i * axes;
        const uint32_t* entries = lists.entries + lists.starts[i];
        for (int64_t count = lists.starts[i + 1] - lists.starts[i]; count > 0;
             entries += kLanes, count -= kLanes) {
            const Mask code = only_first(count, codes_of(entries));
            Lanes t = all(1.0f);
            for (int64_t a = 0; a < axes; ++a) {
                const Lanes away = listed_axis(Y, axes, a, here[a], entries);
                t += away * away;
            }
            const Lanes force = kind.force(t, code);
            for (int64_t a = 0; a < axes; ++a)
                sums[a] += sum(force * listed_axis(Y, axes, a, here[a], entries));
            if (with_loss) loss += double(sum(kind.kind.loss(t) * chosen(kind.counted, code)));
        }
    }
    return loss;
}

static double gather(const float* Y, int64_t dim, int64_t first, int64_t last,
                     const Lists lists[3], const Weights& w, float* G, bool with_loss) {
    Lanes plain, local, counted;
    for (int code = 0; code < kLanes; ++code) {
        plain[code] = w.near * (kTimesTrusted[code] + w.near_plain * kTimesDoubted[code]);
        local[code] = w.near * w.near_local * kTimesDoubted[code];
        counted[code] = kTimesTrusted[code] + kTimesDoubted[code];
    }
    double loss = 0.0;
    const auto add = [&](const Lists& listed, const auto& kind, float weight) {
        if (listed.starts == nullptr) return;
        loss += weight *
                (dim == 2   ? gather_plane(Y, first, last, listed, kind, G, with_loss)
                 : dim == 3 ? gather_space<3>(Y, dim, first, last, listed, kind, G, with_loss)
                            : gather_space<0>(Y, dim, first, last, listed, kind, G, with_loss));
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

}  // namespace LOCALMAP_ISA
}  // namespace localmap
