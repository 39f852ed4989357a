// Gravity between all pairs of bodies, written as [n, n, 3] expressions and as a loop.
#include <firn/firn.h>

#include "tests/bench/bench.h"

namespace firn::bench {
namespace {

constexpr int kOwn = 8;
constexpr float kSoftening = 0.05f;

// Eight bodies per invocation. Eight lanes load as many others, and hand each of them round.
constexpr const char* kGravity = R"(
void main() {
    int lane = int(gl_LocalInvocationID.x) & 7;
    int first = (int(gl_GlobalInvocationID.x) & ~7) * OWN + lane;
    vec3 at[OWN], pull[OWN];
    [[unroll]] for (int k = 0; k < OWN; ++k) {
        int i = 3 * (first + 8 * k);
        at[k] = vec3(p_at(i), p_at(i + 1), p_at(i + 2));
        pull[k] = vec3(0.0);
    }
    for (int begin = 0; begin < N; begin += 8) {
        int load = begin + lane;
        float x = p_at(3 * load), y = p_at(3 * load + 1), z = p_at(3 * load + 2), m = mass_at(load);
        [[unroll]] for (int j = 0; j < 8; ++j) {
            vec3 other = vec3(eight_shuffle(x, j), eight_shuffle(y, j), eight_shuffle(z, j));
            float weight = eight_shuffle(m, j);
            [[unroll]] for (int k = 0; k < OWN; ++k) {
                vec3 away = other - at[k];
                float square = dot(away, away) + 0.0025;
                pull[k] += weight / (square * sqrt(square)) * away;
            }
        }
    }
    [[unroll]] for (int k = 0; k < OWN; ++k)
        [[unroll]] for (int axis = 0; axis < 3; ++axis) a[3 * (first + 8 * k) + axis] = pull[k][axis];
}
)";

constexpr const char* kPlainGravity = R"(
void main() {
    int i = int(gl_GlobalInvocationID.x);
    vec3 at = vec3(p[3 * i], p[3 * i + 1], p[3 * i + 2]), pull = vec3(0.0);
    for (int j = 0; j < N; ++j) {
        vec3 away = vec3(p[3 * j], p[3 * j + 1], p[3 * j + 2]) - at;
        float square = dot(away, away) + 0.0025;
        pull += mass[j] / (square * sqrt(square)) * away;
    }
    for (int axis = 0; axis < 3; ++axis) a[3 * i + axis] = pull[axis];
}
)";

Tensor gravity_of_pairs(Tensor p, Tensor mass, Tensor softening) {
    Tensor away = unsqueeze(p, 0) - unsqueeze(p, 1);  // [n, n, 3]
    Tensor square = sum(away * away, {.axis = 2}) + softening * softening;
    Tensor weight = mass / (square * sqrt(square));
    return sum(unsqueeze(weight, 2) * away, {.axis = 1});
}

Tensor gravity_by_loop(Tensor p, Tensor mass, Tensor softening) {
    Size count = p.size(0);
    Tensor i = index(mass, 0), x = p(i, 0), y = p(i, 1), z = p(i, 2);
    Tensor ax = zeros({count}), ay = ax, az = ax;
    for (Tensor j : loop(count)) {
        Tensor dx = p(j, 0) - x, dy = p(j, 1) - y, dz = p(j, 2) - z;
        Tensor square = dx * dx + dy * dy + dz * dz + softening * softening;
        Tensor weight = mass(j) / (square * sqrt(square));
        ax += weight * dx, ay += weight * dy, az += weight * dz;
    }
    return stack({ax, ay, az}, {.axis = 1});
}

Contest gravity(Tensor (*function)(Tensor, Tensor, Tensor), int bodies) {
    const double count = bodies;
    std::vector<float> p = numbers(3 * bodies, 0.0f, 1.0f, 1),
                       mass = numbers(bodies, 0.0f, 1.0f / float(bodies), 2);
    auto f = compile(function, {f32("n", 3), f32("n"), f32()});
    auto by_hand = [bodies](const std::string& name, const char* body, As form, int own) {
        HandKernel kernel{name,
                          body,
                          {64, 1, 1},
                          {bodies / 64 / own, 1, 1},
                          {{"p", form, 0}, {"mass", form, 1}, {"a", As::Floats, 2, true}},
                          {{"N", bodies}, {"OWN", own}}};
        return HandProgram{{kernel}, {}, {}};
    };
    return {.least = {16 * count, 12 * count, 18 * count * count},
            .arguments = {p, mass},
            .results = {3 * bodies},
            .firn = [f, x = tensor(p, {bodies, 3}),
                     m = tensor(mass)] { return std::vector<Tensor>{f(x, m, kSoftening)}; },
            .best = by_hand("n_body", kGravity, As::Texels, kOwn),
            .plain = by_hand("plain_n_body", kPlainGravity, As::Floats, 1),
            .processor = n_body_by_hand(bodies),
            .tolerance = 1e-4};
}

}  // namespace

Contest n_body_contest(int bodies) { return gravity(gravity_by_loop, bodies); }

void add_n_bodies(std::vector<Case>& cases) {
    constexpr int kBodies = 8192;
    cases.push_back({"n_body", [] { return gravity(gravity_of_pairs, kBodies); }});
    cases.push_back({"n_body_loop", [] { return n_body_contest(kBodies); }});
}

}  // namespace firn::bench
