// Gravity between all pairs of 4096 bodies, the inner loop of apps/n_body.
#include <firn/firn.h>

#include <algorithm>

#include "tests/bench/bench.h"
#include "tests/bench/hand_written.h"

namespace firn::bench {
namespace {

constexpr int kBodies = 4096;
constexpr float kSoftening = 0.05f;

// Four bodies per invocation. A subgroup loads as many others as it has lanes, and hands each of
// them round by shuffles.
constexpr const char* kGravity = R"(#version 450
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, r32f) uniform readonly imageBuffer px;
layout(set = 0, binding = 1, r32f) uniform readonly imageBuffer py;
layout(set = 0, binding = 2, r32f) uniform readonly imageBuffer pz;
layout(set = 0, binding = 3, r32f) uniform readonly imageBuffer mass;
layout(set = 0, binding = 4, std430) writeonly buffer X { float ax[]; };
layout(set = 0, binding = 5, std430) writeonly buffer Y { float ay[]; };
layout(set = 0, binding = 6, std430) writeonly buffer Z { float az[]; };
const int n = 4096, own = 4;
const float softening = 0.05;
void main() {
    int lanes = int(gl_SubgroupSize), lane = int(gl_SubgroupInvocationID);
    int first = (int(gl_WorkGroupID.x * gl_NumSubgroups + gl_SubgroupID)) * lanes * own + lane;
    vec3 at[own], pull[own];
    [[unroll]] for (int k = 0; k < own; ++k) {
        int i = first + k * lanes;
        at[k] = vec3(imageLoad(px, i).x, imageLoad(py, i).x, imageLoad(pz, i).x);
        pull[k] = vec3(0.0);
    }
    for (int begin = 0; begin < n; begin += 8) {
        int load = begin + (lane & 7);
        float x = imageLoad(px, load).x, y = imageLoad(py, load).x, z = imageLoad(pz, load).x;
        float m = imageLoad(mass, load).x;
        [[unroll]] for (uint j = 0u; j < 8u; ++j) {
            vec3 other = vec3(subgroupShuffle(x, j), subgroupShuffle(y, j), subgroupShuffle(z, j));
            float weight = subgroupShuffle(m, j);
            [[unroll]] for (int k = 0; k < own; ++k) {
                vec3 away = other - at[k];
                float square = dot(away, away) + softening * softening;
                pull[k] += weight / (square * sqrt(square)) * away;
            }
        }
    }
    [[unroll]] for (int k = 0; k < own; ++k) {
        int i = first + k * lanes;
        ax[i] = pull[k].x;
        ay[i] = pull[k].y;
        az[i] = pull[k].z;
    }
}
)";

constexpr const char* kPlainGravity = R"(#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer PX { float px[]; };
layout(set = 0, binding = 1, std430) readonly buffer PY { float py[]; };
layout(set = 0, binding = 2, std430) readonly buffer PZ { float pz[]; };
layout(set = 0, binding = 3, std430) readonly buffer M { float mass[]; };
layout(set = 0, binding = 4, std430) writeonly buffer X { float ax[]; };
layout(set = 0, binding = 5, std430) writeonly buffer Y { float ay[]; };
layout(set = 0, binding = 6, std430) writeonly buffer Z { float az[]; };
const int n = 4096;
const float softening = 0.05;
void main() {
    int i = int(gl_GlobalInvocationID.x);
    vec3 at = vec3(px[i], py[i], pz[i]), pull = vec3(0.0);
    for (int j = 0; j < n; ++j) {
        vec3 away = vec3(px[j], py[j], pz[j]) - at;
        float square = dot(away, away) + softening * softening;
        pull += mass[j] / (square * sqrt(square)) * away;
    }
    ax[i] = pull.x;
    ay[i] = pull.y;
    az[i] = pull.z;
}
)";

/// A coordinate of every body, or its mass.
std::vector<float> values(int which) {
    std::vector<float> out(kBodies);
    for (int i = 0; i < kBodies; ++i) {
        uint32_t hash = uint32_t(i * 4 + which + 1) * 2654435761u;
        hash = (hash ^ (hash >> 15)) * 2246822519u;
        out[size_t(i)] = float(hash >> 8) / float(1 << 24) * (which == 3 ? 1.0f / kBodies : 1.0f);
    }
    return out;
}

/// The kernels that Firn is compared with.
struct ByHand {
    std::shared_ptr<HandWritten> best, plain;
};

ByHand kernels_by_hand(Executor& executor) {
    auto make = [&](const std::string& name, const char* glsl, const BindingInfo& read,
                    int groups) {
        std::vector<HandBuffer> buffers(4, {kBodies, BufferRole::Argument});
        buffers.resize(7, {kBodies, BufferRole::Result});
        std::vector<BindingInfo> bindings(4, read);
        bindings.resize(7, storage(true));
        HandKernel kernel{name, glsl, {64, 1, 1}, bindings, {0, 1, 2, 3, 4, 5, 6}, {groups, 1, 1}};
        auto side = std::make_shared<HandWritten>(executor, name, buffers, std::vector{kernel});
        for (int which = 0; which < 4; ++which) side->write(which, values(which));
        return side;
    };
    return {make("n_body by hand", kGravity, texel(1), kBodies / 64 / 4),
            make("plain n_body", kPlainGravity, storage(false), kBodies / 64)};
}

/// `pull(axis)` is what Firn found.
Contest contest(const std::string& name, const ByHand& by_hand, const std::function<void()>& run,
                const std::function<std::vector<float>(int)>& pull) {
    return {name,
            run,
            [by_hand] { by_hand.best->run(); },
            [by_hand] { by_hand.plain->run(); },
            [by_hand, pull] {
                double worst = 0;
                for (int axis = 0; axis < 3; ++axis) {
                    const std::vector<float> expected = by_hand.best->read(axis);
                    worst = std::max({worst, relative_difference(pull(axis), expected),
                                      relative_difference(by_hand.plain->read(axis), expected)});
                }
                return worst;
            },
            7.0 * 4 * kBodies};
}

}  // namespace

Contest n_body_contest(Executor& executor) {
    ArgSpec each = f32("n");
    auto gravity = compile(
        [](Tensor x, Tensor y, Tensor z, Tensor mass, Tensor softening) {
            Size count = x.size(0);
            Tensor ax = zeros({count}), ay = ax, az = ax;
            for (Tensor j : loop(count)) {
                Tensor dx = x(j) - x, dy = y(j) - y, dz = z(j) - z;
                Tensor square = dx * dx + dy * dy + dz * dz + softening * softening;
                Tensor weight = mass(j) / (square * sqrt(square));
                ax += weight * dx, ay += weight * dy, az += weight * dz;
            }
            return std::tuple{ax, ay, az};
        },
        {each, each, each, each, f32()});
    std::array<Tensor, 4> bodies;
    for (int which = 0; which < 4; ++which) bodies[size_t(which)] = tensor(values(which));
    auto pull = std::make_shared<std::array<Tensor, 3>>();
    return contest(
        "n_body 4096", kernels_by_hand(executor),
        [=] {
            auto& [ax, ay, az] = *pull;
            std::tie(ax, ay, az) = gravity(bodies[0], bodies[1], bodies[2], bodies[3], kSoftening);
        },
        [=](int axis) { return (*pull)[size_t(axis)].to_vector<float>(); });
}

Contest n_body_pairs_contest(Executor& executor) {
    auto gravity = compile(
        [](Tensor place, Tensor mass, Tensor softening) {
            Size n = mass.size(0);
            Tensor away = reshape(place, {1, n, 3}) - reshape(place, {n, 1, 3});
            Tensor square =
                sum(away * away, {.axis = 2, .keep_dims = true}) + softening * softening;
            return sum(reshape(mass, {1, n, 1}) / (square * sqrt(square)) * away, {.axis = 1});
        },
        {f32("n", 3), f32("n"), f32()});
    std::vector<float> places(3 * kBodies);
    for (int axis = 0; axis < 3; ++axis) {
        const std::vector<float> one = values(axis);
        for (int i = 0; i < kBodies; ++i) places[size_t(3 * i + axis)] = one[size_t(i)];
    }
    Tensor place = tensor(places, {kBodies, 3}), mass = tensor(values(3));
    auto pull = std::make_shared<Tensor>();
    return contest(
        "n_body [n, n, 3]", kernels_by_hand(executor),
        [=] { *pull = gravity(place, mass, kSoftening); },
        [=](int axis) {
            const std::vector<float> all = pull->to_vector<float>();
            std::vector<float> one(kBodies);
            for (int i = 0; i < kBodies; ++i) one[size_t(i)] = all[size_t(3 * i + axis)];
            return one;
        });
}

}  // namespace firn::bench
