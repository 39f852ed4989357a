// Noise as sums over the corners of cells, by the hashes of the corners.
#include "compiler/algorithms/noise.h"

#include <cmath>

#include "compiler/algorithms/hash.h"
#include "compiler/frontend/line_scope.h"

namespace firn {
namespace {

using Parts = std::vector<Tensor>;

template <size_t N>
Parts parts_of(const Vec<N>& v) {
    Parts out;
    for (size_t k = 0; k < N; ++k) out.push_back(v[k]);
    return out;
}

/// Returns a u32 for each coordinate of the cell, i32.
Parts hashed(const Parts& cell, const Tensor& seed) {
    Parts words;
    for (const Tensor& each : cell) words.push_back(bitcast(each, u32));
    const Tensor last = seed.as(u32);
    if (cell.size() == 2) {
        const uvec3 h = pcg3d(uvec3(words[0], words[1], last));
        return {h.x, h.y};
    }
    const uvec4 h = pcg4d(uvec4(words[0], words[1], words[2], last));
    return {h.x, h.y, h.z};
}

/// [0, 1) by the highest 24 bits.
Tensor unit(const Tensor& word) { return (word >> 8).as(f32) * 0x1p-24f; }

/// The product of d with one of the gradients, all of length sqrt 2: 8 in the plane, the edges of
/// the cube in space (four of them twice).
Tensor along_gradient(const Tensor& word, const Parts& d) {
    const Tensor bits = word >> 28;  // the highest are the best mixed
    auto signed_by = [&](uint32_t bit, const Tensor& x) {
        return select((bits & bit) != 0, -x, x);
    };
    if (d.size() == 2) {
        const Tensor diagonal = signed_by(1, d[0]) + signed_by(2, d[1]);
        const Tensor straight = select((bits & 2u) != 0, d[0], d[1]) * std::sqrt(2.0f);
        return select((bits & 4u) != 0, diagonal, signed_by(1, straight));
    }
    const Tensor u = select(bits < 8u, d[0], d[1]);
    const Tensor other = select((bits == 12u) | (bits == 14u), d[0], d[2]);
    const Tensor v = select(bits < 4u, d[1], other);
    return signed_by(1, u) + signed_by(2, v);
}

Parts floors(const Parts& p) {
    Parts out;
    for (const Tensor& each : p) out.push_back(floor(each));
    return out;
}

/// `corner(cell, from it to p)` of all corners of the cell of p, mixed by the fade.
template <class Corner>
Tensor mixed(const Parts& p, const Corner& corner) {
    const Parts low = floors(p);
    Parts values;
    for (size_t k = 0; k < size_t{1} << p.size(); ++k) {
        Parts cell, from;
        for (size_t axis = 0; axis < p.size(); ++axis) {
            const int step = static_cast<int>(k >> axis & 1);
            cell.push_back(low[axis].as(i32) + step);
            from.push_back(p[axis] - low[axis] - static_cast<float>(step));
        }
        values.push_back(corner(cell, from));
    }
    for (size_t axis = 0; axis < p.size(); ++axis) {
        const Tensor t = p[axis] - low[axis];
        const Tensor fade = t * t * t * (t * (t * 6.0f - 15.0f) + 10.0f);
        Parts halved;
        for (size_t k = 0; k < values.size(); k += 2)
            halved.push_back(mix(values[k], values[k + 1], fade));
        values = halved;
    }
    return values[0];
}

Tensor value_at(const Parts& p, const Tensor& seed) {
    return mixed(p, [&](const Parts& cell, const Parts&) { return unit(hashed(cell, seed)[0]); });
}

Tensor perlin_at(const Parts& p, const Tensor& seed) {
    return mixed(p, [&](const Parts& cell, const Parts& from) {
        return along_gradient(hashed(cell, seed)[0], from);
    });
}

/// 1 where the k-th coordinate is among the `count` largest; of equal ones the first counts as
/// larger.
Tensor among_largest(const Parts& x, size_t k, size_t count) {
    Tensor before = 0;
    for (size_t other = 0; other < x.size(); ++other) {
        if (other == k) continue;
        const Tensor larger = other < k ? x[other] >= x[k] : x[other] > x[k];
        before = before + larger.as(i32);
    }
    return (before < static_cast<int>(count)).as(i32);
}

Tensor simplex_at(const Parts& p, const Tensor& seed) {
    const size_t n = p.size();
    const auto size = static_cast<double>(n), root = std::sqrt(size + 1);
    const auto skew = static_cast<float>((root - 1) / size);
    const auto back = static_cast<float>((1 - 1 / root) / size);
    Tensor sum = p[0];
    for (size_t k = 1; k < n; ++k) sum = sum + p[k];
    Parts cell, from;
    for (const Tensor& each : p) cell.push_back(floor(each + sum * skew));
    Tensor cells = cell[0];
    for (size_t k = 1; k < n; ++k) cells = cells + cell[k];
    for (size_t k = 0; k < n; ++k) from.push_back(p[k] - (cell[k] - cells * back));
    Tensor out = 0.0f;
    // Goes from the low corner to the high one, along the largest coordinate first.
    for (size_t corner = 0; corner <= n; ++corner) {
        Parts place, d;
        Tensor squared = 0.0f;
        for (size_t k = 0; k < n; ++k) {
            const Tensor step = among_largest(from, k, corner);
            place.push_back(cell[k].as(i32) + step);
            d.push_back(from[k] - step.as(f32) + static_cast<float>(corner) * back);
            squared = squared + d[k] * d[k];
        }
        Tensor weight = square(max(0.5f - squared, 0.0f));
        out = out + weight * weight * along_gradient(hashed(place, seed)[0], d);
    }
    return out * (n == 2 ? 70.148f : 76.883f);
}

Worley worley_at(const Parts& p, const Tensor& seed) {
    const Parts low = floors(p);
    Tensor first = INFINITY, second = INFINITY;
    const size_t cells = p.size() == 2 ? 9 : 27;
    for (size_t k = 0; k < cells; ++k) {
        Parts cell;
        std::vector<int> step;
        for (size_t axis = 0, left = k; axis < p.size(); ++axis, left /= 3) {
            step.push_back(static_cast<int>(left % 3) - 1);
            cell.push_back(low[axis].as(i32) + step[axis]);
        }
        const Parts h = hashed(cell, seed);
        Tensor squared = 0.0f;
        for (size_t axis = 0; axis < p.size(); ++axis)
            squared = squared +
                      square(low[axis] - p[axis] + static_cast<float>(step[axis]) + unit(h[axis]));
        second = min(second, max(first, squared));
        first = min(first, squared);
    }
    return {sqrt(first), sqrt(second)};
}

}  // namespace

#define FIRN_NOISE(result, name, function)                                     \
    result name(const vec2& p, const NoiseOptions& options, SourceLine line) { \
        LineScope at(line);                                                    \
        return function(parts_of(p), options.seed);                            \
    }                                                                          \
    result name(const vec3& p, const NoiseOptions& options, SourceLine line) { \
        LineScope at(line);                                                    \
        return function(parts_of(p), options.seed);                            \
    }
FIRN_NOISE(Tensor, value_noise, value_at)
FIRN_NOISE(Tensor, perlin_noise, perlin_at)
FIRN_NOISE(Tensor, simplex_noise, simplex_at)
FIRN_NOISE(Worley, worley_noise, worley_at)
#undef FIRN_NOISE

}  // namespace firn
