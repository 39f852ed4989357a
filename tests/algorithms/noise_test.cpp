// Hashes and noise against plain C++, and what noise promises: determinism, range, smoothness.
#include <algorithm>
#include <array>
#include <cmath>

#include "compiler/shading.h"
#include "tests/algorithms/agreement.h"

namespace firn {
namespace {

using Words = std::array<uint32_t, 4>;

// The hashes of the paper, as it writes them.
Words pcg2d_of(Words v) {
    v[0] = v[0] * 1664525u + 1013904223u, v[1] = v[1] * 1664525u + 1013904223u;
    v[0] += v[1] * 1664525u, v[1] += v[0] * 1664525u;
    v[0] ^= v[0] >> 16u, v[1] ^= v[1] >> 16u;
    v[0] += v[1] * 1664525u, v[1] += v[0] * 1664525u;
    v[0] ^= v[0] >> 16u, v[1] ^= v[1] >> 16u;
    return v;
}
Words pcg3d_of(Words v) {
    for (int k = 0; k < 3; ++k) v[k] = v[k] * 1664525u + 1013904223u;
    v[0] += v[1] * v[2], v[1] += v[2] * v[0], v[2] += v[0] * v[1];
    for (int k = 0; k < 3; ++k) v[k] ^= v[k] >> 16u;
    v[0] += v[1] * v[2], v[1] += v[2] * v[0], v[2] += v[0] * v[1];
    return v;
}
Words pcg4d_of(Words v) {
    for (int k = 0; k < 4; ++k) v[k] = v[k] * 1664525u + 1013904223u;
    v[0] += v[1] * v[3], v[1] += v[2] * v[0], v[2] += v[0] * v[1], v[3] += v[1] * v[2];
    for (int k = 0; k < 4; ++k) v[k] ^= v[k] >> 16u;
    v[0] += v[1] * v[3], v[1] += v[2] * v[0], v[2] += v[0] * v[1], v[3] += v[1] * v[2];
    return v;
}

std::vector<uint32_t> random_words(uint32_t seed) {
    std::mt19937 bits(seed);
    std::vector<uint32_t> out(100);
    for (uint32_t& each : out) each = bits();
    return out;
}

TEST(Hash, IsThatOfThePaper) {
    std::vector<std::vector<uint32_t>> in;
    for (uint32_t k = 0; k < 4; ++k) in.push_back(random_words(k + 1));
    std::vector<uint32_t> two, three, four;
    for (size_t word = 0; word < 4; ++word)
        for (size_t k = 0; k < 100; ++k) {
            const Words v{in[0][k], in[1][k], in[2][k], in[3][k]};
            if (word < 2) two.push_back(pcg2d_of(v)[word]);
            if (word < 3) three.push_back(pcg3d_of(v)[word]);
            four.push_back(pcg4d_of(v)[word]);
        }
    auto word = [&](size_t k) { return tensor(in[k]); };
    auto columns = [](const Tensor& stacked) { return transpose(stacked); };
    expect_values([&] { return columns(stack(pcg2d(uvec2(word(0), word(1))))); }, two);
    expect_values([&] { return columns(stack(pcg3d(uvec3(word(0), word(1), word(2))))); }, three);
    expect_values([&] { return columns(stack(pcg4d(uvec4(word(0), word(1), word(2), word(3))))); },
                  four);
}

// Noise once more, for one point in doubles.
using Point = std::vector<double>;
struct Cell {
    std::array<double, 3> unit{};  // three numbers in [0, 1)
    uint32_t gradient = 0;         // four bits
};
Cell cell_at(const std::vector<int>& at, uint32_t seed) {
    Words v{};
    for (size_t k = 0; k < at.size(); ++k) v[k] = static_cast<uint32_t>(at[k]);
    v[at.size()] = seed;
    const Words h = at.size() == 2 ? pcg3d_of(v) : pcg4d_of(v);
    Cell out;
    for (size_t k = 0; k < at.size(); ++k) out.unit[k] = (h[k] >> 8) / 16777216.0;
    out.gradient = h[0] >> 28;
    return out;
}
double along(uint32_t bits, const Point& d) {
    const double r = std::sqrt(2.0);
    if (d.size() == 2) {
        const double x[8] = {0, 0, r, -r, 1, -1, 1, -1}, y[8] = {r, -r, 0, 0, 1, 1, -1, -1};
        return x[bits & 7] * d[0] + y[bits & 7] * d[1];
    }
    // Perlin's 12 edges, of which (1, 1, 0), (-1, 1, 0), (0, -1, 1) and (0, -1, -1) come twice.
    const int edges[16][3] = {{1, 1, 0}, {-1, 1, 0}, {1, -1, 0}, {-1, -1, 0},
                              {1, 0, 1}, {-1, 0, 1}, {1, 0, -1}, {-1, 0, -1},
                              {0, 1, 1}, {0, -1, 1}, {0, 1, -1}, {0, -1, -1},
                              {1, 1, 0}, {0, -1, 1}, {-1, 1, 0}, {0, -1, -1}};
    double out = 0;
    for (size_t k = 0; k < 3; ++k) out += edges[bits][k] * d[k];
    return out;
}
/// The corners of p's cell with their shares, by the fade.
template <class F>
double over_corners(const Point& p, const F& f) {
    double out = 0;
    for (size_t k = 0; k < size_t{1} << p.size(); ++k) {
        double share = 1;
        std::vector<int> at;
        Point from;
        for (size_t axis = 0; axis < p.size(); ++axis) {
            const double low = std::floor(p[axis]), t = p[axis] - low, step = k >> axis & 1;
            const double fade = t * t * t * (t * (t * 6 - 15) + 10);
            share *= step != 0 ? fade : 1 - fade;
            at.push_back(static_cast<int>(low + step));
            from.push_back(t - step);
        }
        out += share * f(at, from);
    }
    return out;
}
double value_of(const Point& p, uint32_t seed) {
    return over_corners(p, [&](auto& at, auto&) { return cell_at(at, seed).unit[0]; });
}
double perlin_of(const Point& p, uint32_t seed) {
    return over_corners(
        p, [&](auto& at, auto& from) { return along(cell_at(at, seed).gradient, from); });
}
double simplex_of(const Point& p, uint32_t seed) {
    // All lattice points around are tried: those beyond the radius count for nothing.
    const double n = static_cast<double>(p.size()), skew = (std::sqrt(n + 1) - 1) / n,
                 back = (1 - 1 / std::sqrt(n + 1)) / n;
    double sum = 0, out = 0;
    for (double each : p) sum += each;
    const int cells = p.size() == 2 ? 25 : 125;
    for (int k = 0; k < cells; ++k) {
        std::vector<int> at;
        int left = k, total = 0;
        for (double each : p) {
            at.push_back(static_cast<int>(std::floor(each + sum * skew)) + left % 5 - 2);
            total += at.back(), left /= 5;
        }
        Point d;
        double squared = 0;
        for (size_t axis = 0; axis < p.size(); ++axis) {
            d.push_back(p[axis] - (at[axis] - total * back));
            squared += d[axis] * d[axis];
        }
        const double weight = std::max(0.5 - squared, 0.0);
        out += std::pow(weight, 4) * along(cell_at(at, seed).gradient, d);
    }
    return out * (p.size() == 2 ? 70.148 : 76.883);
}
std::array<double, 2> worley_of(const Point& p, uint32_t seed) {
    std::vector<double> away;
    const int cells = p.size() == 2 ? 9 : 27;
    for (int k = 0; k < cells; ++k) {
        std::vector<int> at;
        int left = k;
        for (double each : p)
            at.push_back(static_cast<int>(std::floor(each)) + left % 3 - 1), left /= 3;
        const Cell cell = cell_at(at, seed);
        double squared = 0;
        for (size_t axis = 0; axis < p.size(); ++axis)
            squared += std::pow(at[axis] + cell.unit[axis] - p[axis], 2);
        away.push_back(std::sqrt(squared));
    }
    std::sort(away.begin(), away.end());
    return {away[0], away[1]};
}

constexpr size_t kPoints = 400;
Floats coordinate(uint32_t k) { return random_floats(kPoints, k + 1, -20, 20); }
/// Returns the result of f for each point with its first `dimensions` coordinates.
template <class F>
Floats at_points(size_t dimensions, const F& f) {
    Floats out;
    for (size_t k = 0; k < kPoints; ++k) {
        Point p;
        for (uint32_t axis = 0; axis < dimensions; ++axis) p.push_back(coordinate(axis)[k]);
        out.push_back(static_cast<float>(f(p)));
    }
    return out;
}
vec2 plane() { return vec2(tensor(coordinate(0)), tensor(coordinate(1))); }
vec3 space() { return vec3(plane(), tensor(coordinate(2))); }

TEST(Noise, IsWhatItsDefinitionSays) {
    auto in_plane = [](auto f, uint32_t seed) {
        return at_points(2, [&](const Point& p) { return f(p, seed); });
    };
    auto in_space = [](auto f, uint32_t seed) {
        return at_points(3, [&](const Point& p) { return f(p, seed); });
    };
    expect_values([] { return value_noise(plane()); }, in_plane(value_of, 0), 1e-5);
    expect_values([] { return value_noise(space()); }, in_space(value_of, 0), 1e-5);
    expect_values([] { return perlin_noise(plane(), {.seed = 7}); }, in_plane(perlin_of, 7), 2e-5);
    expect_values([] { return perlin_noise(space()); }, in_space(perlin_of, 0), 2e-5);
    expect_values([] { return simplex_noise(plane()); }, in_plane(simplex_of, 0), 1e-4);
    expect_values([] { return simplex_noise(space()); }, in_space(simplex_of, 0), 1e-4);
}

TEST(Noise, OfWorleyIsTheDistanceToPoints) {
    for (size_t which : {0u, 1u}) {
        auto one = [&](const Point& p) { return worley_of(p, 3)[which]; };
        auto pick = [&](const Worley& found) { return which == 0 ? found.first : found.second; };
        expect_values([&] { return pick(worley_noise(plane(), {.seed = 3})); }, at_points(2, one),
                      1e-5);
        expect_values([&] { return pick(worley_noise(space(), {.seed = 3})); }, at_points(3, one),
                      1e-5);
    }
}

TEST(Noise, IsZeroAtLatticePointsAndStaysInItsRange) {
    expect_values([] { return perlin_noise(vec2(arange(9) - 4, 3.0f)); }, Floats(9));
    SessionScope scope(Session::interpreter());
    for (const Tensor& noise :
         {simplex_noise(vec2(arange(200) * 0.0731f, unsqueeze(arange(200) * 0.091f, 1))),
          simplex_noise(vec3(arange(200) * 0.0731f, unsqueeze(arange(200) * 0.091f, 1), 0.4f))}) {
        EXPECT_LE(max(abs(noise)).item<float>(), 1);
        EXPECT_GT(max(abs(noise)).item<float>(), 0.8f);
    }
}

TEST(Noise, HasGradientsAndNoSeams) {
    SessionScope scope(Session::oracle());
    const Tensor x = tensor(random_floats(12, 4, -3, 3)), y = tensor(random_floats(12, 5, -3, 3));
    const Tensor z = x * 0.7f - y;
    auto check = [](const Callback<Tensor(const std::vector<Tensor>&)>& f,
                    const std::vector<Tensor>& xs) {
        const GradientCheck found = check_gradients(f, xs);
        EXPECT_TRUE(found) << found.where;
    };
    using In = const std::vector<Tensor>&;
    check([](In p) { return value_noise(vec2(p[0], p[1])); }, {x, y});
    check([](In p) { return perlin_noise(vec3(p[0], p[1], p[2])); }, {x, y, z});
    check([](In p) { return simplex_noise(vec2(p[0], p[1])); }, {x, y});
    check([](In p) { return simplex_noise(vec3(p[0], p[1], p[2])); }, {x, y, z});
    check([](In p) { return worley_noise(vec2(p[0], p[1])).first; }, {x, y});
    // Small steps make small differences, across cells too.
    const Tensor line = arange(4000) * 0.001f - 2.0f;
    for (const Tensor& noise :
         {value_noise(vec2(line, line * 0.3f)), perlin_noise(vec2(line, line * 0.3f)),
          simplex_noise(vec2(line, line * 0.3f))})
        EXPECT_LT(max(abs(diff(noise))).item<float>(), 0.01f);
}

}  // namespace
}  // namespace firn
