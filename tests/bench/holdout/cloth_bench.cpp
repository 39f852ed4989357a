// A cloth that hangs from one edge and falls upon a ball.
#include <firn/firn.h>

#include <array>
#include <cmath>

#include "tests/bench/holdout/holdout.h"

namespace firn::bench {
namespace {

constexpr int kClothSide = 256, kClothSteps = 10;
constexpr int64_t kClothPoints = int64_t(kClothSide) * kClothSide;
constexpr float kClothStep = 0.01f, kClothDamping = 0.998f, kClothGravity = -10, kClothBall = 55;
constexpr std::array<float, 3> kClothCentre{128, -50, 128};
constexpr float kClothNear = 1000, kClothShear = 500, kClothBend = 200;  // stiffness
constexpr float kClothDiagonal = 1.41421356f;

/// Springs between the points of one part of the grid and those of another.
void cloth_springs(const Tensor& x, Tensor& force, const std::array<IndexRange, 2>& from,
                   const std::array<IndexRange, 2>& to, float stiffness, float rest) {
    Tensor apart = x(to[0], to[1], all) - x(from[0], from[1], all);
    Tensor length = sqrt(sum(apart * apart, {.axis = -1, .keep_dims = true}));
    Tensor pull = stiffness * (1.0f - rest / length) * apart;
    force(from[0], from[1], all) += pull;
    force(to[0], to[1], all) -= pull;
}

/// X. Provot, "Deformation Constraints in a Mass-Spring Model to Describe Rigid Cloth Behavior",
/// 1995: springs along the threads, across them, and to the next but one.
std::pair<Tensor, Tensor> cloth_of(Tensor x, Tensor v) {
    const IndexRange whole = range(none, none), head = range(none, -1), tail = range(1, none),
                     far_head = range(none, -2), far_tail = range(2, none);
    Tensor gravity = tensor({0.0f, kClothGravity, 0.0f});
    Tensor centre = tensor({kClothCentre[0], kClothCentre[1], kClothCentre[2]});
    for (Tensor step : loop(kClothSteps)) {
        Tensor force = zeros(x.shape()) + gravity;
        cloth_springs(x, force, {head, whole}, {tail, whole}, kClothNear, 1);
        cloth_springs(x, force, {whole, head}, {whole, tail}, kClothNear, 1);
        cloth_springs(x, force, {head, head}, {tail, tail}, kClothShear, kClothDiagonal);
        cloth_springs(x, force, {head, tail}, {tail, head}, kClothShear, kClothDiagonal);
        cloth_springs(x, force, {far_head, whole}, {far_tail, whole}, kClothBend, 2);
        cloth_springs(x, force, {whole, far_head}, {whole, far_tail}, kClothBend, 2);
        v = kClothDamping * (v + kClothStep * force);
        v(0) = 0.0f;  // the edge that is held
        x += kClothStep * v;
        Tensor apart = x - centre;
        Tensor distance = sqrt(sum(apart * apart, {.axis = -1, .keep_dims = true}));
        Tensor normal = apart / distance, inside = distance < kClothBall;
        Tensor inwards = min(sum(v * normal, {.axis = -1, .keep_dims = true}), 0.0f);
        x = where(inside, centre + kClothBall * normal, x);
        v = where(inside, v - inwards * normal, v);
    }
    return {x, v};
}

std::vector<std::vector<float>> host_cloth(const std::vector<float>& x0,
                                           const std::vector<float>& v0) {
    using Point = std::array<double, 3>;
    constexpr size_t kCount = size_t(kClothPoints);
    std::vector<Point> x(kCount), v(kCount);
    for (size_t k = 0; k < kCount; ++k)
        for (size_t c = 0; c < 3; ++c)
            x[k][c] = double(x0[3 * k + c]), v[k][c] = double(v0[3 * k + c]);
    struct Spring {
        int down, right;
        double stiffness, rest;
    };
    const double diagonal = double(kClothDiagonal);
    const std::array<Spring, 6> springs{
        Spring{1, 0, kClothNear, 1},    {0, 1, kClothNear, 1}, {1, 1, kClothShear, diagonal},
        {1, -1, kClothShear, diagonal}, {2, 0, kClothBend, 2}, {0, 2, kClothBend, 2}};
    for (int step = 0; step < kClothSteps; ++step) {
        std::vector<Point> force(kCount, Point{0, kClothGravity, 0});
        for (const Spring& spring : springs)
            for (int i = 0; i + spring.down < kClothSide; ++i)
                for (int j = 0; j < kClothSide; ++j) {
                    const int other = j + spring.right;
                    if (other < 0 || other >= kClothSide) continue;
                    const size_t a = size_t(i * kClothSide + j),
                                 b = size_t((i + spring.down) * kClothSide + other);
                    double squared = 0;
                    for (size_t c = 0; c < 3; ++c)
                        squared += (x[b][c] - x[a][c]) * (x[b][c] - x[a][c]);
                    const double pull = spring.stiffness * (1 - spring.rest / std::sqrt(squared));
                    for (size_t c = 0; c < 3; ++c) {
                        force[a][c] += pull * (x[b][c] - x[a][c]);
                        force[b][c] -= pull * (x[b][c] - x[a][c]);
                    }
                }
        for (size_t k = 0; k < kCount; ++k) {
            Point apart;
            double squared = 0, inwards = 0;
            for (size_t c = 0; c < 3; ++c) {
                v[k][c] = double(kClothDamping) * (v[k][c] + double(kClothStep) * force[k][c]);
                if (k < size_t(kClothSide)) v[k][c] = 0;
                x[k][c] += double(kClothStep) * v[k][c];
                apart[c] = x[k][c] - double(kClothCentre[c]);
                squared += apart[c] * apart[c];
                inwards += v[k][c] * apart[c];
            }
            if (squared >= double(kClothBall * kClothBall)) continue;
            for (size_t c = 0; c < 3; ++c) {
                x[k][c] = double(kClothCentre[c]) + kClothBall * apart[c] / std::sqrt(squared);
                v[k][c] -= std::min(inwards, 0.0) * apart[c] / squared;
            }
        }
    }
    std::vector<float> places, speeds;
    for (size_t k = 0; k < kCount; ++k)
        for (size_t c = 0; c < 3; ++c)
            places.push_back(float(x[k][c])), speeds.push_back(float(v[k][c]));
    return {places, speeds};
}

constexpr const char* kPlainCloth = R"(
vec3 point(int i, int j) {
    int k = (i * 256 + j) * 3;
    return vec3(x_at(k), x_at(k + 1), x_at(k + 2));
}
const ivec2 to[12] = ivec2[](ivec2(1, 0), ivec2(-1, 0), ivec2(0, 1), ivec2(0, -1),
                             ivec2(1, 1), ivec2(-1, -1), ivec2(1, -1), ivec2(-1, 1),
                             ivec2(2, 0), ivec2(-2, 0), ivec2(0, 2), ivec2(0, -2));
void main() {
    int i = int(gl_GlobalInvocationID.y), j = int(gl_GlobalInvocationID.x), k = (i * 256 + j) * 3;
    vec3 own = point(i, j), speed = vec3(v_at(k), v_at(k + 1), v_at(k + 2));
    vec3 force = vec3(0, -10, 0);
    for (int s = 0; s < 12; ++s) {
        int row = i + to[s].x, column = j + to[s].y;
        if (row < 0 || row > 255 || column < 0 || column > 255) continue;
        float stiffness = s < 4 ? 1000.0 : s < 8 ? 500.0 : 200.0;
        float rest = s < 4 ? 1.0 : s < 8 ? 1.41421356 : 2.0;
        vec3 apart = point(row, column) - own;
        force += stiffness * (1.0 - rest / length(apart)) * apart;
    }
    speed = 0.998 * (speed + 0.01 * force);
    if (i == 0) speed = vec3(0);
    own += 0.01 * speed;
    vec3 centre = vec3(128, -50, 128), apart = own - centre;
    float distance_ = length(apart);
    if (distance_ < 55.0) {
        vec3 normal = apart / distance_;
        own = centre + 55.0 * normal;
        speed -= min(dot(speed, normal), 0.0) * normal;
    }
    next_x[k] = own.x, next_x[k + 1] = own.y, next_x[k + 2] = own.z;
    next_v[k] = speed.x, next_v[k + 1] = speed.y, next_v[k + 2] = speed.z;
}
)";

// In 4 * WIDE columns and ROWS rows, with a border, each spring is computed once, and pulls at both
// ends. Outside of the cloth springs have no strength.
constexpr const char* kBestCloth = R"(
const int ACROSS = 4 * WIDE, FAR = ACROSS + 4;
const int down[6] = int[](1, 0, 1, 1, 2, 0), right[6] = int[](0, 1, 1, -1, 0, 2);
const float strength[6] = float[](1000.0, 1000.0, 500.0, 500.0, 200.0, 200.0);
const float rest[6] = float[](1.0, 1.0, 1.41421356, 1.41421356, 2.0, 2.0);
float inverse_root(float x) { return inversesqrt(max(x, 1e-12)); }
void main() {
    int column = int(gl_GlobalInvocationID.x) * WIDE, row = int(gl_GlobalInvocationID.y) * ROWS;
    vec3 point[ROWS + 4][ACROSS + 8], force[ROWS][ACROSS];
    [[unroll]] for (int r = 0; r < ROWS + 4; ++r) [[unroll]] for (int k = 0; k < WIDE + 2; ++k) {
        int at = (clamp(row + r - 2, 0, 255) * 64 + clamp(column + k - 1, 0, 63)) * 3;
        vec4 a = x_at(at), b = x_at(at + 1), c = x_at(at + 2);
        point[r][4 * k] = a.xyz, point[r][4 * k + 1] = vec3(a.w, b.xy);
        point[r][4 * k + 2] = vec3(b.zw, c.x), point[r][4 * k + 3] = c.yzw;
    }
    [[unroll]] for (int r = 0; r < ROWS; ++r)
        [[unroll]] for (int c = 0; c < ACROSS; ++c) force[r][c] = vec3(0, -10, 0);
    float above = row == 0 ? 0.0 : 1.0, below = row == 256 - ROWS ? 0.0 : 1.0;
    float before = column == 0 ? 0.0 : 1.0, after = column == 64 - WIDE ? 0.0 : 1.0;
    [[unroll]] for (int r = 0; r < ROWS + 2; ++r)
        [[unroll]] for (int c = 2; c < FAR + 2; ++c) [[unroll]] for (int s = 0; s < 6; ++s) {
            int r2 = r + down[s], c2 = c + right[s];
            bool own = r >= 2 && c >= 4 && c < FAR;
            bool other = r2 >= 2 && r2 < ROWS + 2 && c2 >= 4 && c2 < FAR;
            if (own || other) {
                vec3 apart = point[r2][c2] - point[r][c];
                float some = strength[s];
                if (r < 2) some *= above;
                if (r2 >= ROWS + 2) some *= below;
                if (c < 4 || c2 < 4) some *= before;
                if (c >= FAR || c2 >= FAR) some *= after;
                vec3 pull = (some - some * rest[s] * inverse_root(dot(apart, apart))) * apart;
                if (own) force[r - 2][c - 4] += pull;
                if (other) force[r2 - 2][c2 - 4] -= pull;
            }
        }
    [[unroll]] for (int r = 0; r < ROWS; ++r) [[unroll]] for (int k = 0; k < WIDE; ++k) {
        int at = ((row + r) * 64 + column + k) * 3;
        vec4 a = v_at(at), b = v_at(at + 1), c = v_at(at + 2);
        vec3 speed[4] = vec3[](a.xyz, vec3(a.w, b.xy), vec3(b.zw, c.x), c.yzw), place[4];
        float held = r == 0 && row == 0 ? 0.0 : 0.998;
        [[unroll]] for (int q = 0; q < 4; ++q) {
            speed[q] = held * (speed[q] + 0.01 * force[r][4 * k + q]);
            place[q] = point[r + 2][4 * k + 4 + q] + 0.01 * speed[q];
            const vec3 centre = vec3(128, -50, 128);
            vec3 apart = place[q] - centre;
            float squared = dot(apart, apart), scale = inversesqrt(squared);
            float inwards = min(dot(speed[q], apart), 0.0) * (scale * scale);
            bool inside = squared < 3025.0;
            place[q] = inside ? centre + (55.0 * scale) * apart : place[q];
            speed[q] -= (inside ? inwards : 0.0) * apart;
        }
        next_x[at] = vec4(place[0], place[1].x);
        next_x[at + 1] = vec4(place[1].yz, place[2].xy);
        next_x[at + 2] = vec4(place[2].z, place[3]);
        next_v[at] = vec4(speed[0], speed[1].x);
        next_v[at + 1] = vec4(speed[1].yz, speed[2].xy);
        next_v[at + 2] = vec4(speed[2].z, speed[3]);
    }
}
)";

/// The steps write temporaries and results alternately.
HandProgram cloth_by_hand(const HandKernel& kernel) {
    HandProgram out{{kernel}, {3 * kClothPoints, 3 * kClothPoints}, {}};
    for (int step = 0; step < kClothSteps; ++step) {
        const int from = step == 0 ? 0 : step % 2 == 0 ? 2 : 4, to = step % 2 == 0 ? 4 : 2;
        out.steps.push_back({0, {from, from + 1, to, to + 1}});
    }
    return out;
}
HandProgram plain_cloth() {
    return cloth_by_hand({"cloth",
                          kPlainCloth,
                          {16, 16, 1},
                          {kClothSide / 16, kClothSide / 16, 1},
                          {{"x", As::Floats, 0},
                           {"v", As::Floats, 1},
                           {"next_x", As::Floats, 2, true},
                           {"next_v", As::Floats, 3, true}},
                          {}});
}
HandProgram best_cloth(int wide, int rows) {
    const int across = kClothSide / 4 / wide;
    return cloth_by_hand({"cloth",
                          kBestCloth,
                          {uint32_t(across), 4, 1},
                          {1, kClothSide / rows / 4, 1},
                          {{"x", As::Texels4, 0},
                           {"v", As::Texels4, 1},
                           {"next_x", As::Vec4s, 2, true},
                           {"next_v", As::Vec4s, 3, true}},
                          {{"WIDE", wide}, {"ROWS", rows}}});
}

Contest cloth() {
    auto f = compile(cloth_of, {f32("n", "m", 3), f32("n", "m", 3)});
    const Plane waves = hills(kClothSide, kClothSide, 5);
    const std::vector<float> v = numbers(3 * kClothPoints, -1, 1, 31);
    std::vector<float> x;
    for (int i = 0; i < kClothSide; ++i)
        for (int j = 0; j < kClothSide; ++j)
            x.insert(x.end(), {float(j), 2 * waves(i, j), float(i)});
    Tensor x0 = tensor(x, {kClothSide, kClothSide, 3}), v0 = tensor(v, {kClothSide, kClothSide, 3});
    // Operations per spring, of which a point has six: the difference 3, its length 6, the
    // quotient, the strength 3, the pull 3, and 6 to sum it up at both ends. Per point besides:
    // gravity, the speed 9, the place 6, and whether the ball is there: 9.
    constexpr double kOfAPoint = 6 * 22.0 + 25;
    return {
        .least = {24.0 * kClothPoints, 24.0 * kClothPoints, kOfAPoint * kClothPoints * kClothSteps},
        .arguments = {x, v},
        .results = {3 * kClothPoints, 3 * kClothPoints},
        .firn =
            [=] {
                auto [places, speeds] = f(x0, v0);
                return std::vector<Tensor>{places, speeds};
            },
        .best = best_cloth(1, 2),
        .plain = plain_cloth(),
        .tolerance = 2e-3,
        .expected = [x, v] { return host_cloth(x, v); }};
}

constexpr const char* kClothFar =
    "its steps wait for one another; a spring takes a root and a division";

}  // namespace

void add_cloth(std::vector<Case>& cases) {
    cases.push_back({"cloth", cloth, Section::Training, kClothFar});
}

}  // namespace firn::bench
