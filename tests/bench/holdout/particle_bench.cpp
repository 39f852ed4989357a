// A step of the material point method: particles to grid, forces there, and back.
#include <firn/firn.h>

#include <array>
#include <cmath>

#include "tests/bench/holdout/holdout.h"

namespace firn::bench {
namespace {

constexpr int kParticles = 16384, kParticleGrid = 128;
constexpr float kCell = 1.0f / kParticleGrid, kStep = 1e-4f, kVolume = 0.25f * kCell * kCell,
                kMass = kVolume, kStiff = 400.0f, kGravity = 9.8f;

/// Weights of the quadratic spline for a particle `f` cells from its first node.
std::array<Tensor, 3> spline(const Tensor& f) {
    return {0.5f * square(1.5f - f), 0.75f - square(f - 1.0f), 0.5f * square(f - 0.5f)};
}

using State = std::tuple<Tensor, Tensor, Tensor, Tensor>;

/// Places [n, 2], velocities [n, 2], their affine parts [n, 2, 2] and volumes [n] of a weakly
/// compressible fluid, a step later. Y. Hu et al., "A Moving Least Squares Material Point Method",
/// 2018.
State material_step(Tensor place, Tensor velocity, Tensor affine, Tensor volume) {
    vec2 x = vec2_of(place), v = vec2_of(velocity);
    Tensor p = arange(place.size(0));
    Tensor cxx = affine(p, 0, 0), cxy = affine(p, 0, 1), cyx = affine(p, 1, 0),
           cyy = affine(p, 1, 1);
    vec2 base = floor(x * float(kParticleGrid) - 0.5f), f = x * float(kParticleGrid) - base;
    Tensor i0 = cast<int>(base.x), j0 = cast<int>(base.y);
    std::array<Tensor, 3> wx = spline(f.x), wy = spline(f.y);
    Tensor stress = -kStep * 4.0f * kStiff * kVolume * (volume - 1.0f) / (kCell * kCell);

    Tensor mass = zeros({kParticleGrid, kParticleGrid}),
           momentum = zeros({kParticleGrid, kParticleGrid, 2});
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            vec2 way = (vec2(float(i), float(j)) - f) * kCell;
            Tensor weight = wx[size_t(i)] * wy[size_t(j)];
            Tensor push_x = kMass * (v.x + cxx * way.x + cxy * way.y) + stress * way.x;
            Tensor push_y = kMass * (v.y + cyx * way.x + cyy * way.y) + stress * way.y;
            scatter_add(mass(i0 + i, j0 + j), weight * kMass);
            scatter_add(momentum(i0 + i, j0 + j, 0), weight * push_x);
            scatter_add(momentum(i0 + i, j0 + j, 1), weight * push_y);
        }

    auto [i, j] = indices<2>(mass.shape());
    Tensor speed_x = select(mass > 0.0f, momentum(i, j, 0) / mass, 0.0f),
           speed_y = select(mass > 0.0f, momentum(i, j, 1) / mass - kStep * kGravity, 0.0f);
    speed_x = select((i < 3) & (speed_x < 0.0f), 0.0f, speed_x);
    speed_x = select((i > kParticleGrid - 4) & (speed_x > 0.0f), 0.0f, speed_x);
    speed_y = select((j < 3) & (speed_y < 0.0f), 0.0f, speed_y);
    speed_y = select((j > kParticleGrid - 4) & (speed_y > 0.0f), 0.0f, speed_y);

    vec2 next(0.0f * v.x, 0.0f * v.y);
    Tensor nxx = 0.0f, nxy = 0.0f, nyx = 0.0f, nyy = 0.0f;
    for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b) {
            vec2 way = (vec2(float(a), float(b)) - f) * kCell;
            vec2 g(speed_x(i0 + a, j0 + b), speed_y(i0 + a, j0 + b));
            Tensor weight = wx[size_t(a)] * wy[size_t(b)];
            next += g * weight;
            Tensor scaled = 4.0f * weight / (kCell * kCell);
            nxx += scaled * g.x * way.x;
            nxy += scaled * g.x * way.y;
            nyx += scaled * g.y * way.x;
            nyy += scaled * g.y * way.y;
        }
    Tensor rows =
        stack({stack({nxx, nxy}, {.axis = 1}), stack({nyx, nyy}, {.axis = 1})}, {.axis = 1});
    return {stack(x + next * kStep), stack(next), rows, volume * (1.0f + kStep * (nxx + nyy))};
}

struct Particles {
    std::vector<float> place, velocity, affine, volume;
};

/// The weights of a particle's nodes, and the ways to them.
struct Nodes {
    explicit Nodes(const float* x) {
        for (size_t axis = 0; axis < 2; ++axis) {
            const float at = x[axis] * kParticleGrid, base = std::floor(at - 0.5f), f = at - base;
            first[axis] = int(base);
            weight[axis] = {0.5f * (1.5f - f) * (1.5f - f), 0.75f - (f - 1) * (f - 1),
                            0.5f * (f - 0.5f) * (f - 0.5f)};
            for (size_t k = 0; k < 3; ++k) way[axis][k] = (float(k) - f) * kCell;
        }
    }
    int first[2];
    std::array<float, 3> weight[2];
    float way[2][3];
};

using Speeds = std::array<Plane, 2>;

/// The grid's velocities after forces and walls.
Speeds host_grid(const Particles& from) {
    Plane mass(kParticleGrid, kParticleGrid);
    Speeds speed{mass, mass};
    for (size_t p = 0; p < kParticles; ++p) {
        const Nodes nodes(&from.place[2 * p]);
        const float stress = -kStep * 4 * kStiff * kVolume * (from.volume[p] - 1) / (kCell * kCell);
        for (size_t k = 0; k < 9; ++k) {
            const int i = nodes.first[0] + int(k / 3), j = nodes.first[1] + int(k % 3);
            const float weight = nodes.weight[0][k / 3] * nodes.weight[1][k % 3];
            const float way[2] = {nodes.way[0][k / 3], nodes.way[1][k % 3]};
            mass(i, j) += weight * kMass;
            for (size_t axis = 0; axis < 2; ++axis) {
                const float* row = &from.affine[4 * p + 2 * axis];
                const float own = from.velocity[2 * p + axis] + row[0] * way[0] + row[1] * way[1];
                speed[axis](i, j) += weight * (kMass * own + stress * way[axis]);
            }
        }
    }
    for (int i = 0; i < kParticleGrid; ++i)
        for (int j = 0; j < kParticleGrid; ++j)
            for (size_t axis = 0; axis < 2; ++axis) {
                float& s = speed[axis](i, j);
                const int at = axis == 0 ? i : j;
                s = mass(i, j) > 0 ? s / mass(i, j) - (axis == 1 ? kStep * kGravity : 0) : 0;
                if ((at < 3 && s < 0) || (at > kParticleGrid - 4 && s > 0)) s = 0;
            }
    return speed;
}

std::vector<std::vector<float>> host_step(const Particles& from) {
    const Speeds speed = host_grid(from);
    Particles to = from;
    for (size_t p = 0; p < kParticles; ++p) {
        const Nodes nodes(&from.place[2 * p]);
        float v[2] = {0, 0}, c[4] = {0, 0, 0, 0};
        for (size_t k = 0; k < 9; ++k) {
            const float weight = nodes.weight[0][k / 3] * nodes.weight[1][k % 3];
            const float way[2] = {nodes.way[0][k / 3], nodes.way[1][k % 3]};
            for (size_t axis = 0; axis < 2; ++axis) {
                const float g =
                    speed[axis](nodes.first[0] + int(k / 3), nodes.first[1] + int(k % 3));
                v[axis] += weight * g;
                for (size_t b = 0; b < 2; ++b)
                    c[2 * axis + b] += 4 * weight * g * way[b] / (kCell * kCell);
            }
        }
        for (size_t axis = 0; axis < 2; ++axis) {
            to.velocity[2 * p + axis] = v[axis];
            to.place[2 * p + axis] += kStep * v[axis];
        }
        std::copy(c, c + 4, &to.affine[4 * p]);
        to.volume[p] *= 1 + kStep * (c[0] + c[3]);
    }
    return {to.place, to.velocity, to.affine, to.volume};
}

// The weights of a particle's nodes, and its share for one of them: mass and momentum.
constexpr const char* kMaterialNodes = R"(
const float cell = 1.0 / 128.0, dt = 1e-4, mass_of = 0.25 * cell * cell, stiff = 400.0;
vec2 f, weights[3];
ivec2 first;
void find_nodes(vec2 x) {
    vec2 base = floor(x * 128.0 - 0.5);
    first = ivec2(base), f = x * 128.0 - base;
    weights[0] = 0.5 * (1.5 - f) * (1.5 - f);
    weights[1] = 0.75 - (f - 1.0) * (f - 1.0);
    weights[2] = 0.5 * (f - 0.5) * (f - 0.5);
}
vec2 way_to(int a, int b) { return (vec2(a, b) - f) * cell; }
vec3 given_to(int a, int b, vec2 v, vec4 affine, float stress) {
    vec2 way = way_to(a, b);
    vec2 push = mass_of * (v + affine.xz * way.x + affine.yw * way.y) + stress * way;
    return weights[a].x * weights[b].y * vec3(mass_of, push);
}
float stress_of(float volume) { return -dt * 4.0 * stiff * 0.25 * (volume - 1.0); }
)";
constexpr const char* kMaterialClear = R"(
void main() { grid[gl_GlobalInvocationID.x] = 0.0; }
)";
constexpr const char* kMaterialGive = R"(
void main() {
    int p = int(gl_GlobalInvocationID.x);
    find_nodes(vec2(place[2 * p], place[2 * p + 1]));
    vec2 v = vec2(velocity[2 * p], velocity[2 * p + 1]);
    vec4 c = vec4(affine[4 * p], affine[4 * p + 1], affine[4 * p + 2], affine[4 * p + 3]);
    float stress = stress_of(volume[p]);
    for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b) {
            vec3 given = given_to(a, b, v, c, stress);
            int node = (first.x + a) * 128 + first.y + b;
            atomicAdd(grid[3 * node], given.x);
            atomicAdd(grid[3 * node + 1], given.y);
            atomicAdd(grid[3 * node + 2], given.z);
        }
}
)";
// The speed of a node from its mass and momentum, with the walls' effect.
constexpr const char* kMaterialWalls = R"(
vec2 speed_of(vec3 sum, ivec2 node) {
    if (sum.x <= 0.0) return vec2(0);
    vec2 speed = sum.yz / sum.x - vec2(0.0, 1e-4 * 9.8);
    speed = mix(speed, max(speed, 0.0), lessThan(node, ivec2(3)));
    return mix(speed, min(speed, 0.0), greaterThan(node, ivec2(124)));
}
)";
constexpr const char* kMaterialForces = R"(
void main() {
    int node = int(gl_GlobalInvocationID.x);
    vec3 sum = vec3(grid[3 * node], grid[3 * node + 1], grid[3 * node + 2]);
    vec2 speed = speed_of(sum, ivec2(node / 128, node % 128));
    speeds[2 * node] = speed.x;
    speeds[2 * node + 1] = speed.y;
}
)";
constexpr const char* kMaterialTake = R"(
void main() {
    int p = int(gl_GlobalInvocationID.x);
    vec2 x = vec2(place_at(2 * p), place_at(2 * p + 1)), v = vec2(0);
    find_nodes(x);
    vec4 c = vec4(0);
    UNROLLED for (int a = 0; a < 3; ++a)
        UNROLLED for (int b = 0; b < 3; ++b) {
            int node = (first.x + a) * 128 + first.y + b;
            vec2 g = weights[a].x * weights[b].y * SPEED, way = 4.0 / (cell * cell) * way_to(a, b);
            v += g;
            c += g.xxyy * way.xyxy;
        }
    x += dt * v;
    new_place[2 * p] = x.x, new_place[2 * p + 1] = x.y;
    new_velocity[2 * p] = v.x, new_velocity[2 * p + 1] = v.y;
    AFFINE
    new_volume[p] = volume_at(p) * (1.0 + dt * (c.x + c.w));
}
)";

HandKernel material_kernel(const std::string& name, const std::string& body,
                           const std::vector<HandBinding>& bindings) {
    return {"material_points_" + name, body, {64, 1, 1}, {kParticles / 64, 1, 1}, bindings, {}};
}

constexpr int kMaterialPlace = 0, kMaterialVelocity = 1, kMaterialAffine = 2, kMaterialVolume = 3,
              kMaterialNext = 4, kMaterialOwn = 8;

HandKernel material_take(const std::string& unrolled, const std::string& speed,
                         const std::string& affine, As affine_as, const HandBinding& speeds) {
    return material_kernel("take",
                           std::string(kMaterialNodes) + "#define UNROLLED " + unrolled +
                               "\n#define SPEED " + speed + "\n#define AFFINE " + affine + "\n" +
                               kMaterialTake,
                           {{"place", As::Floats, kMaterialPlace},
                            {"volume", As::Floats, kMaterialVolume},
                            speeds,
                            {"new_place", As::Floats, kMaterialNext, true},
                            {"new_velocity", As::Floats, kMaterialNext + 1, true},
                            {"new_affine", affine_as, kMaterialNext + 2, true},
                            {"new_volume", As::Floats, kMaterialNext + 3, true}});
}

HandProgram material_plain() {
    constexpr int kNodes = kParticleGrid * kParticleGrid, kSums = kMaterialOwn,
                  kSpeeds = kMaterialOwn + 1;
    HandKernel clear =
        material_kernel("clear", kMaterialClear, {{"grid", As::Floats, kSums, true}});
    clear.groups[0] = 3 * kNodes / 64;
    HandKernel give = material_kernel("give", std::string(kMaterialNodes) + kMaterialGive,
                                      {{"place", As::Floats, kMaterialPlace},
                                       {"velocity", As::Floats, kMaterialVelocity},
                                       {"affine", As::Floats, kMaterialAffine},
                                       {"volume", As::Floats, kMaterialVolume},
                                       {"grid", As::Floats, kSums, true}});
    HandKernel forces =
        material_kernel("forces", std::string(kMaterialWalls) + kMaterialForces,
                        {{"grid", As::Floats, kSums}, {"speeds", As::Floats, kSpeeds, true}});
    forces.groups[0] = kNodes / 64;
    HandKernel take = material_take("", "vec2(speeds[2 * node], speeds[2 * node + 1])",
                                    "for (int k = 0; k < 4; ++k) new_affine[4 * p + k] = c[k];",
                                    As::Floats, {"speeds", As::Floats, kSpeeds});
    return {{clear, give, forces, take}, {3 * kNodes, 2 * kNodes}, {}};
}

// Instead of atomic sums, a list of the particles of every cell: their sum for each of its nine
// nodes, then every node's nine sums.
constexpr const char* kMaterialForget = R"(
void main() { head[gl_GlobalInvocationID.x] = -1; }
)";
constexpr const char* kMaterialLink = R"(
void main() {
    int p = int(gl_GlobalInvocationID.x);
    ivec2 cell = ivec2(floor(vec2(place_at(2 * p), place_at(2 * p + 1)) * 128.0 - 0.5));
    next[p] = atomicExchange(head[cell.x * 128 + cell.y], p);
}
)";
constexpr const char* kMaterialCells = R"(
void main() {
    int cell_at = int(gl_GlobalInvocationID.x), p = head_at(cell_at);
    if (p < 0) return;
    vec3 sums[9];
    [[unroll]] for (int k = 0; k < 9; ++k) sums[k] = vec3(0);
    while (p >= 0) {
        find_nodes(vec2(place_at(2 * p), place_at(2 * p + 1)));
        vec2 v = vec2(velocity_at(2 * p), velocity_at(2 * p + 1));
        vec4 c = affine_at(p);
        float stress = stress_of(volume_at(p));
        [[unroll]] for (int k = 0; k < 9; ++k) sums[k] += given_to(k / 3, k % 3, v, c, stress);
        p = next_at(p);
    }
    [[unroll]] for (int k = 0; k < 9; ++k) given[9 * cell_at + k] = vec4(sums[k], 0.0);
}
)";
constexpr const char* kMaterialSums = R"(
void main() {
    ivec2 node = ivec2(gl_GlobalInvocationID.x / 128, gl_GlobalInvocationID.x % 128);
    vec3 sum = vec3(0);
    [[unroll]] for (int k = 0; k < 9; ++k) {
        ivec2 from = node - ivec2(k / 3, k % 3);
        int cell_at = max(from.x, 0) * 128 + max(from.y, 0);
        bool has = min(from.x, from.y) >= 0 && head_at(cell_at) >= 0;
        sum += has ? given_at(9 * cell_at + k).xyz : vec3(0);
    }
    speeds[gl_GlobalInvocationID.x] = vec4(speed_of(sum, node), 0.0, 0.0);
}
)";

HandProgram material_best() {
    constexpr int kNodes = kParticleGrid * kParticleGrid, kHeads = kMaterialOwn,
                  kNexts = kMaterialOwn + 1, kGiven = kMaterialOwn + 2, kSpeeds = kMaterialOwn + 3;
    HandProgram best{
        {material_kernel("forget", kMaterialForget, {{"head", As::Ints, kHeads, true}}),
         material_kernel("link", kMaterialLink,
                         {{"place", As::Floats, kMaterialPlace},
                          {"head", As::Ints, kHeads, true},
                          {"next", As::Ints, kNexts, true}}),
         material_kernel("cells", std::string(kMaterialNodes) + kMaterialCells,
                         {{"place", As::Floats, kMaterialPlace},
                          {"velocity", As::Floats, kMaterialVelocity},
                          {"affine", As::Vec4s, kMaterialAffine},
                          {"volume", As::Floats, kMaterialVolume},
                          {"head", As::Ints, kHeads},
                          {"next", As::Ints, kNexts},
                          {"given", As::Vec4s, kGiven, true}}),
         material_kernel("sums", std::string(kMaterialWalls) + kMaterialSums,
                         {{"head", As::Ints, kHeads},
                          {"given", As::Vec4s, kGiven},
                          {"speeds", As::Vec4s, kSpeeds, true}}),
         material_take("[[unroll]]", "speeds_at(node).xy", "new_affine[p] = c;", As::Vec4s,
                       {"speeds", As::Vec4s, kSpeeds})},
        {kNodes, kParticles, 36 * kNodes, 4 * kNodes},
        {}};
    static_assert(kNodes == kParticles);  // one size of dispatch for all
    return through_texels(best);
}

Contest material_points() {
    auto f = compile(material_step, {f32("n", 2), f32("n", 2), f32("n", 2, 2), f32("n")});
    const Particles start{numbers(2 * kParticles, 0.2f, 0.6f), numbers(2 * kParticles, -1, 1, 2),
                          numbers(4 * kParticles, -5, 5, 3), numbers(kParticles, 0.95f, 1.05f, 4)};
    Tensor x = tensor(start.place, {kParticles, 2}), v = tensor(start.velocity, {kParticles, 2}),
           c = tensor(start.affine, {kParticles, 2, 2}), j = tensor(start.volume);
    // Operations per particle and node: its weight 1, the scatter 15, the gather 14; the weights of
    // a particle 24; per node of the grid 5. The place of a particle decides where two numbers are
    // read.
    const double operations = kParticles * (9.0 * 30 + 24) + 5.0 * kParticleGrid * kParticleGrid;
    return {.least = {36.0 * kParticles, 36.0 * kParticles, operations, 18.0 * kParticles},
            .arguments = {start.place, start.velocity, start.affine, start.volume},
            .results = {2 * kParticles, 2 * kParticles, 4 * kParticles, kParticles},
            .firn =
                [=] {
                    auto [place, velocity, affine, volume] = f(x, v, c, j);
                    return std::vector<Tensor>{place, velocity, affine, volume};
                },
            .best = material_best(),
            .plain = material_plain(),
            .tolerance = 1e-4,
            .expected = [start] { return host_step(start); }};
}

}  // namespace

void add_particles(std::vector<Case>& cases) {
    cases.push_back({"material_points", material_points, Section::Training,
                     "sums at places that others share, 27 for every particle"});
}

}  // namespace firn::bench
