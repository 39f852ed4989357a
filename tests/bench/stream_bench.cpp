// Streams of 16 M floats: a chain of eight elementwise operations, and a sum.
#include <firn/firn.h>

#include <algorithm>

#include "tests/bench/bench.h"
#include "tests/bench/hand_written.h"

namespace firn::bench {
namespace {

constexpr int kElements = 16 << 20;

// Four vec4 per invocation, strided by the group; loads are texel loads of four floats.
constexpr const char* kChain = R"(#version 450
#extension GL_EXT_control_flow_attributes : require
layout(local_size_x = 256) in;
layout(set = 0, binding = 0, rgba32f) uniform readonly imageBuffer x4;
layout(set = 0, binding = 1, std430) writeonly buffer Result { vec4 result[]; };
void main() {
    int base = int(gl_WorkGroupID.x) * 1024 + int(gl_LocalInvocationID.x);
    [[unroll]] for (int k = 0; k < 4; ++k) {
        vec4 x = imageLoad(x4, base + 256 * k);
        vec4 y = max(abs(x * 1.5 + 0.25) - x * x, -1.0);
        result[base + 256 * k] = min(y * x, 2.0);
    }
}
)";

// 256 loads of four floats per invocation with sixteen accumulators unrolled, a shuffle tree at the
// end; a second dispatch adds the partial sums in order.
constexpr const char* kPartialSums = R"(#version 450
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_shuffle : require
layout(local_size_x = 8) in;
layout(set = 0, binding = 0, rgba32f) uniform readonly imageBuffer x4;
layout(set = 0, binding = 1, std430) writeonly buffer Result { float result[]; };
void main() {
    int base = int(gl_WorkGroupID.x) * 2048 + int(gl_LocalInvocationID.x);
    vec4 total = vec4(0.0);
    for (int turn = 0; turn < 16; ++turn) {
        vec4 part = vec4(0.0);
        [[unroll]] for (int k = 0; k < 16; ++k) part += imageLoad(x4, base + 8 * (16 * turn + k));
        total += part;
    }
    float sum = (total.x + total.y) + (total.z + total.w);
    sum += subgroupShuffleXor(sum, 1u);
    sum += subgroupShuffleXor(sum, 2u);
    sum += subgroupShuffleXor(sum, 4u);
    if (gl_LocalInvocationID.x == 0) result[gl_WorkGroupID.x] = sum;
}
)";
constexpr int kPartials = kElements / 4 / 2048;
constexpr const char* kTotal = R"(#version 450
#extension GL_KHR_shader_subgroup_shuffle : require
layout(local_size_x = 8) in;
layout(set = 0, binding = 0, rgba32f) uniform readonly imageBuffer x4;
layout(set = 0, binding = 1, std430) writeonly buffer Result { float result[]; };
void main() {
    vec4 total = vec4(0.0);
    for (int k = 0; k < 64; ++k) total += imageLoad(x4, 8 * k + int(gl_LocalInvocationID.x));
    float sum = (total.x + total.y) + (total.z + total.w);
    sum += subgroupShuffleXor(sum, 1u);
    sum += subgroupShuffleXor(sum, 2u);
    sum += subgroupShuffleXor(sum, 4u);
    if (gl_LocalInvocationID.x == 0) result[0] = sum;
}
)";
static_assert(kPartials == 64 * 8 * 4);

constexpr const char* kPlainChain = R"(#version 450
layout(local_size_x = 256) in;
layout(set = 0, binding = 0, std430) readonly buffer Input { float x[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Result { float result[]; };
void main() {
    // Two dimensions of groups: one has at most 65535.
    uint i = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * 256u + gl_LocalInvocationID.x;
    float v = x[i];
    result[i] = min(max(abs(v * 1.5 + 0.25) - v * v, -1.0) * v, 2.0);
}
)";

// 1024 neighbours per invocation; a second dispatch of one invocation adds the parts.
constexpr const char* kPlainPartialSums = R"(#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer Input { float x[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Result { float result[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    float sum = 0.0;
    for (uint k = 0u; k < 1024u; ++k) sum += x[i * 1024u + k];
    result[i] = sum;
}
)";
constexpr int kPlainPartials = kElements / 1024;
constexpr const char* kPlainTotal = R"(#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) readonly buffer Input { float x[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Result { float result[]; };
void main() {
    float sum = 0.0;
    for (uint k = 0u; k < 16384u; ++k) sum += x[k];
    result[0] = sum;
}
)";
static_assert(kPlainPartials == 16384);

std::vector<float> values() {
    std::vector<float> out(kElements);
    uint32_t state = 1;
    for (float& value : out) {
        state = state * 1664525u + 1013904223u;
        value = float(state >> 8) / float(1 << 24) + 0.5f;  // in [0.5, 1.5)
    }
    return out;
}

/// The difference of the other two sides from the one written by hand at its best.
double largest_difference(const Tensor& firn, const HandWritten& hand, const HandWritten& plain) {
    const std::vector<float> expected = hand.read(0);
    return std::max(relative_difference(firn.to_vector<float>(), expected),
                    relative_difference(plain.read(0), expected));
}

}  // namespace

Contest chain_contest(Executor& executor) {
    auto chain =
        compile([](Tensor x) { return min(max(abs(x * 1.5f + 0.25f) - x * x, -1.0f) * x, 2.0f); },
                {f32("n")});
    auto by_hand = [&](const HandKernel& kernel) {
        return std::make_shared<HandWritten>(
            executor, kernel.name,
            std::vector<HandBuffer>{{kElements, BufferRole::Argument},
                                    {kElements, BufferRole::Result}},
            std::vector<HandKernel>{kernel});
    };
    auto hand = by_hand({"chain",
                         kChain,
                         {256, 1, 1},
                         {texel(4), storage(true)},
                         {0, 1},
                         {kElements / 4096, 1, 1}});
    auto plain = by_hand({"plain_chain",
                          kPlainChain,
                          {256, 1, 1},
                          {storage(false), storage(true)},
                          {0, 1},
                          {256, kElements / 256 / 256, 1}});
    std::vector<float> data = values();
    hand->write(0, data);
    plain->write(0, data);
    Tensor x = tensor(data, {kElements});
    auto y = std::make_shared<Tensor>();
    return {"chain of 8 16M",
            [=]() mutable { *y = chain(x); },
            [=] { hand->run(); },
            [=] { plain->run(); },
            [=] { return largest_difference(*y, *hand, *plain); },
            2.0 * 4 * kElements};
}

Contest sum_contest(Executor& executor) {
    auto total = compile([](Tensor x) { return sum(x); }, {f32("n")});
    auto by_hand = [&](const std::string& name, int64_t parts,
                       const std::vector<HandKernel>& kernels) {
        return std::make_shared<HandWritten>(
            executor, name,
            std::vector<HandBuffer>{{kElements, BufferRole::Argument},
                                    {parts, BufferRole::Temporary},
                                    {1, BufferRole::Result}},
            kernels);
    };
    auto hand =
        by_hand("sum by hand", kPartials,
                {{"partial_sums",
                  kPartialSums,
                  {8, 1, 1},
                  {texel(4), storage(true)},
                  {0, 1},
                  {kPartials, 1, 1}},
                 {"total", kTotal, {8, 1, 1}, {texel(4), storage(true)}, {1, 2}, {1, 1, 1}}});
    auto plain = by_hand("plain sum", kPlainPartials,
                         {{"plain_partial_sums",
                           kPlainPartialSums,
                           {64, 1, 1},
                           {storage(false), storage(true)},
                           {0, 1},
                           {kPlainPartials / 64, 1, 1}},
                          {"plain_total",
                           kPlainTotal,
                           {1, 1, 1},
                           {storage(false), storage(true)},
                           {1, 2},
                           {1, 1, 1}}});
    std::vector<float> data = values();
    hand->write(0, data);
    plain->write(0, data);
    Tensor x = tensor(data, {kElements});
    auto y = std::make_shared<Tensor>();
    // The plain order of additions loses more bits.
    return {"sum of 16M",
            [=]() mutable { *y = total(x); },
            [=] { hand->run(); },
            [=] { plain->run(); },
            [=] { return largest_difference(*y, *hand, *plain); },
            4.0 * kElements,
            1e-4};
}

}  // namespace firn::bench
