// Pictures on the host, and the contests that work on them.
#pragma once
#include <firn/firn.h>

#include <algorithm>
#include <cmath>

#include "tests/bench/ported/ported.h"

namespace firn::bench {

using Floats = std::vector<float>;

/// A picture on the host, clamped at its edges.
struct Image {
    int h, w, c;
    Floats values;
    float at(int i, int j, int k) const {
        i = std::clamp(i, 0, h - 1), j = std::clamp(j, 0, w - 1);
        return values[static_cast<size_t>((i * w + j) * c + k)];
    }
    /// f(i, j, k) for each element.
    template <class F>
    Image map(const F& f) const {
        Image out{h, w, c, {}};
        out.values.reserve(values.size());
        for (int i = 0; i < h; ++i)
            for (int j = 0; j < w; ++j)
                for (int k = 0; k < c; ++k) out.values.push_back(static_cast<float>(f(i, j, k)));
        return out;
    }
    int64_t count() const { return int64_t(h) * w * c; }
    /// A picture of one channel has two axes.
    Tensor tensor() const { return firn::tensor(values, c == 1 ? Shape{h, w} : Shape{h, w, c}); }
};

inline Image noise(int h, int w, int c) { return {h, w, c, numbers(int64_t(h) * w * c, 0, 1)}; }

/// `run` makes of the picture one as large, which `host` makes too.
inline Contest of_picture(const Image& x, const std::function<Tensor(Tensor)>& run,
                          const std::function<Image()>& host, double operations) {
    const auto count = double(x.count());
    return {.least = {4 * count, 4 * count, operations * count},
            .arguments = {},
            .results = {x.count()},
            .firn = [run, u = x.tensor()] { return std::vector<Tensor>{run(u)}; },
            .best = {},
            .plain = {},
            .expected = [host] { return std::vector<Floats>{host().values}; }};
}

/// The radius of the blurs, and the weight of a pixel at that distance.
inline constexpr int kRadius = 8;
inline float weight_of(int squared) { return std::exp(-float(squared) / 20.0f); }

}  // namespace firn::bench
