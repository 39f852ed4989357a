// Rows of a 4096 x 4096 matrix: their sums, and their softmax.
#include <firn/firn.h>

#include <algorithm>

#include "tests/bench/bench.h"
#include "tests/bench/hand_written.h"

namespace firn::bench {
namespace {

constexpr int kRows = 4096, kColumns = 4096;
constexpr int64_t kElements = int64_t(kRows) * kColumns;

// A row per subgroup: 32 loads of four floats unrolled, a shuffle tree at the end.
constexpr const char* kRowSums = R"(#version 450
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_shuffle : require
layout(local_size_x = 8) in;
layout(set = 0, binding = 0, rgba32f) uniform readonly imageBuffer x4;
layout(set = 0, binding = 1, std430) writeonly buffer Result { float result[]; };
void main() {
    int base = int(gl_WorkGroupID.x) * 1024 + int(gl_LocalInvocationID.x);
    vec4 total = vec4(0.0);
    for (int turn = 0; turn < 4; ++turn) {
        vec4 part = vec4(0.0);
        [[unroll]] for (int k = 0; k < 32; ++k) part += imageLoad(x4, base + 8 * (32 * turn + k));
        total += part;
    }
    float sum = (total.x + total.y) + (total.z + total.w);
    sum += subgroupShuffleXor(sum, 1u);
    sum += subgroupShuffleXor(sum, 2u);
    sum += subgroupShuffleXor(sum, 4u);
    if (gl_LocalInvocationID.x == 0) result[gl_WorkGroupID.x] = sum;
}
)";

constexpr const char* kPlainRowSums = R"(#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer Input { float x[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Result { float result[]; };
void main() {
    uint row = gl_GlobalInvocationID.x;
    float sum = 0.0;
    for (uint k = 0u; k < 4096u; ++k) sum += x[row * 4096u + k];
    result[row] = sum;
}
)";

// A row per subgroup, which stays in the first cache for its three passes.
constexpr const char* kSoftmax = R"(#version 450
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_shuffle : require
layout(local_size_x = 8) in;
layout(set = 0, binding = 0, rgba32f) uniform readonly imageBuffer x4;
layout(set = 0, binding = 1, std430) writeonly buffer Result { vec4 result[]; };
void main() {
    int base = int(gl_WorkGroupID.x) * 1024 + int(gl_LocalInvocationID.x);
    vec4 most = imageLoad(x4, base);
    for (int turn = 0; turn < 8; ++turn) {
        vec4 part = most;
        [[unroll]] for (int k = 0; k < 16; ++k) part = max(part, imageLoad(x4, base + 8 * (16 * turn + k)));
        most = part;
    }
    float top = max(max(most.x, most.y), max(most.z, most.w));
    top = max(top, subgroupShuffleXor(top, 1u));
    top = max(top, subgroupShuffleXor(top, 2u));
    top = max(top, subgroupShuffleXor(top, 4u));
    vec4 total = vec4(0.0);
    for (int turn = 0; turn < 16; ++turn) {
        vec4 part = vec4(0.0);
        [[unroll]] for (int k = 0; k < 8; ++k) part += exp(imageLoad(x4, base + 8 * (8 * turn + k)) - top);
        total += part;
    }
    float sum = (total.x + total.y) + (total.z + total.w);
    sum += subgroupShuffleXor(sum, 1u);
    sum += subgroupShuffleXor(sum, 2u);
    sum += subgroupShuffleXor(sum, 4u);
    float scale = 1.0 / sum;
    for (int turn = 0; turn < 32; ++turn)
        [[unroll]] for (int k = 0; k < 4; ++k) {
            int at = base + 8 * (4 * turn + k);
            result[at] = exp(imageLoad(x4, at) - top) * scale;
        }
}
)";

constexpr const char* kPlainSoftmax = R"(#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer Input { float x[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Result { float result[]; };
void main() {
    uint row = gl_GlobalInvocationID.x * 4096u;
    float top = x[row];
    for (uint k = 1u; k < 4096u; ++k) top = max(top, x[row + k]);
    float sum = 0.0;
    for (uint k = 0u; k < 4096u; ++k) sum += exp(x[row + k] - top);
    for (uint k = 0u; k < 4096u; ++k) result[row + k] = exp(x[row + k] - top) / sum;
}
)";

std::vector<float> values() {
    std::vector<float> out(static_cast<size_t>(kElements));
    uint32_t state = 1;
    for (float& value : out) {
        state = state * 1664525u + 1013904223u;
        value = float(state >> 8) / float(1 << 22) - 1.0f;  // in [-1, 3)
    }
    return out;
}

/// A contest over the rows of one matrix; by hand a row per subgroup, and plainly a row per
/// invocation.
Contest row_contest(Executor& executor, const std::string& name, Tensor (*function)(Tensor),
                    const char* best, const char* plain_glsl, int64_t results) {
    auto by_hand = [&](const std::string& label, const HandKernel& kernel) {
        return std::make_shared<HandWritten>(
            executor, label,
            std::vector<HandBuffer>{{kElements, BufferRole::Argument},
                                    {results, BufferRole::Result}},
            std::vector<HandKernel>{kernel});
    };
    auto hand =
        by_hand(name + " by hand",
                {"rows", best, {8, 1, 1}, {texel(4), storage(true)}, {0, 1}, {kRows, 1, 1}});
    auto plain = by_hand("plain " + name, {"plain_rows",
                                           plain_glsl,
                                           {64, 1, 1},
                                           {storage(false), storage(true)},
                                           {0, 1},
                                           {kRows / 64, 1, 1}});
    const std::vector<float> data = values();
    hand->write(0, data);
    plain->write(0, data);
    auto rows = compile(function, {f32("n", "m")});
    Tensor x = tensor(data, {kRows, kColumns});
    auto y = std::make_shared<Tensor>();
    return {name,
            [=]() mutable { *y = rows(x); },
            [=] { hand->run(); },
            [=] { plain->run(); },
            [=] {
                const std::vector<float> expected = hand->read(0);
                return std::max(relative_difference(y->to_vector<float>(), expected),
                                relative_difference(plain->read(0), expected));
            },
            4.0 * double(kElements + results),
            1e-4};
}

}  // namespace

Contest rowsum_contest(Executor& executor) {
    return row_contest(
        executor, "rowsum 4096x4096", [](Tensor x) { return sum(x, {.axis = 1}); }, kRowSums,
        kPlainRowSums, kRows);
}

Contest softmax_contest(Executor& executor) {
    return row_contest(
        executor, "softmax 4096x4096",
        [](Tensor x) {
            Tensor e = exp(x - max(x, {.axis = 1, .keep_dims = true}));
            return e / sum(e, {.axis = 1, .keep_dims = true});
        },
        kSoftmax, kPlainSoftmax, kElements);
}

}  // namespace firn::bench
