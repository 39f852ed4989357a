// Streams of 16 M floats: a chain of eight elementwise operations, gelu, a sum, and a scan.
#include <firn/firn.h>

#include "tests/bench/bench.h"

namespace firn::bench {
namespace {

constexpr int kStreamElements = 16 << 20;

// Four vec4 per invocation, strided by the group.
HandKernel best_elementwise(const std::string& name, const std::string& function) {
    return {name,
            function + R"(
void main() {
    int base = int(gl_WorkGroupID.x) * 1024 + int(gl_LocalInvocationID.x);
    [[unroll]] for (int k = 0; k < 4; ++k) y[base + 256 * k] = f(x_at(base + 256 * k));
}
)",
            {256, 1, 1},
            {kStreamElements / 4096, 1, 1},
            {{"x", As::Texels4, 0}, {"y", As::Vec4s, 1, true}},
            {}};
}

HandKernel plain_elementwise(const std::string& name, const std::string& function) {
    return {name,
            function + R"(
void main() {
    // Two dimensions of groups: one has at most 65535.
    uint i = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * 256u + gl_LocalInvocationID.x;
    y[i] = f(x[i]);
}
)",
            {256, 1, 1},
            {256, kStreamElements / 256 / 256, 1},
            {{"x", As::Floats, 0}, {"y", As::Floats, 1, true}},
            {}};
}

Contest elementwise(const std::string& name, const std::string& best, const std::string& plain,
                    double operations, float low, float high, Tensor (*function)(Tensor),
                    ProcessorProgram processor) {
    std::vector<float> values = numbers(kStreamElements, low, high);
    auto compiled = compile(function, {f32("n")});
    return {.least = {4.0 * kStreamElements, 4.0 * kStreamElements, operations * kStreamElements},
            .arguments = {values},
            .results = {kStreamElements},
            .firn = [=, x = tensor(values)] { return std::vector<Tensor>{compiled(x)}; },
            .best = {{best_elementwise(name, best)}, {}, {}},
            .plain = {{plain_elementwise("plain_" + name, plain)}, {}, {}},
            .processor = std::move(processor)};
}

Contest chain() {
    auto text = [](const std::string& type) {
        return type + " f(" + type +
               " x) { return min(max(abs(x * 1.5 + 0.25) - x * x, -1.0) * x, 2.0); "
               "}";
    };
    return elementwise(
        "chain", text("vec4"), text("float"), 8, 0.5f, 1.5f,
        [](Tensor x) { return min(max(abs(x * 1.5f + 0.25f) - x * x, -1.0f) * x, 2.0f); },
        chain_by_hand(kStreamElements));
}

Contest gelu() {
    // tanh by exp takes half the time of tanh() on drivers that have no instruction for it.
    return elementwise(
        "gelu",
        "vec4 f(vec4 x) { return x - x / (1.0 + exp(x * "
        "(1.5957691 + 0.071354816 * x * x))); }",
        "float f(float x) { return 0.5 * x * (1.0 + "
        "tanh(0.79788456 * (x + 0.044715 * x * x * x))); }",
        9, -4.0f, 4.0f,
        [](Tensor x) {
            return 0.5f * x * (1.0f + tanh(0.79788456f * (x + 0.044715f * x * x * x)));
        },
        gelu_by_hand(kStreamElements));
}

// 256 loads of four floats per invocation, sixteen unrolled, then shuffles; a second dispatch adds
// the partial sums.
constexpr int kPartials = kStreamElements / 4 / 2048, kPlainPartials = kStreamElements / 1024;
HandProgram best_sum() {
    HandKernel partial{"partial_sums",
                       R"(
void main() {
    int base = int(gl_WorkGroupID.x) * 2048 + int(gl_LocalInvocationID.x);
    vec4 total = vec4(0.0);
    for (int turn = 0; turn < 16; ++turn) {
        vec4 part = vec4(0.0);
        [[unroll]] for (int k = 0; k < 16; ++k) part += x_at(base + 8 * (16 * turn + k));
        total += part;
    }
    float sum = eight_sum((total.x + total.y) + (total.z + total.w));
    if (gl_LocalInvocationID.x == 0) y[gl_WorkGroupID.x] = sum;
}
)",
                       {8, 1, 1},
                       {kPartials, 1, 1},
                       {{"x", As::Texels4, 0}, {"y", As::Floats, 2, true}},
                       {}};
    HandKernel total{
        "total",
        R"(
void main() {
    vec4 total = vec4(0.0);
    for (int k = 0; k < 64; ++k) total += x_at(8 * k + int(gl_LocalInvocationID.x));
    float sum = eight_sum((total.x + total.y) + (total.z + total.w));
    if (gl_LocalInvocationID.x == 0) y[0] = sum;
}
)",     {8, 1, 1}, {1, 1, 1}, {{"x", As::Texels4, 2}, {"y", As::Floats, 1, true}}, {}};
    static_assert(kPartials == 64 * 8 * 4);
    return {{partial, total}, {kPartials}, {}};
}

// 1024 neighbours per invocation; a second dispatch of one invocation adds the parts.
HandProgram plain_sum() {
    HandKernel partial{"plain_partial_sums",
                       R"(
void main() {
    uint i = gl_GlobalInvocationID.x;
    float sum = 0.0;
    for (uint k = 0u; k < 1024u; ++k) sum += x[i * 1024u + k];
    y[i] = sum;
}
)",
                       {64, 1, 1},
                       {kPlainPartials / 64, 1, 1},
                       {{"x", As::Floats, 0}, {"y", As::Floats, 2, true}},
                       {}};
    HandKernel total{"plain_total",
                     R"(
void main() {
    float sum = 0.0;
    for (int k = 0; k < PARTIALS; ++k) sum += x[k];
    y[0] = sum;
}
)",
                     {1, 1, 1},
                     {1, 1, 1},
                     {{"x", As::Floats, 2}, {"y", As::Floats, 1, true}},
                     {{"PARTIALS", kPlainPartials}}};
    return {{partial, total}, {kPlainPartials}, {}};
}

Contest sum_of_all() {
    std::vector<float> values = numbers(kStreamElements, 0.5f, 1.5f);
    auto total = compile([](Tensor x) { return sum(x); }, {f32("n")});
    return {.least = {4.0 * kStreamElements, 4, kStreamElements},
            .arguments = {values},
            .results = {1},
            .firn = [=, x = tensor(values)] { return std::vector<Tensor>{total(x)}; },
            .best = best_sum(),
            .plain = plain_sum(),
            .processor = sum_by_hand(kStreamElements),
            .tolerance = 1e-4};  // the plain order of additions loses more bits
}

Contest scan_of_all() {
    std::vector<float> values = numbers(kStreamElements, 0.5f, 1.5f);
    auto scan = compile([](Tensor x) { return cumsum(x); }, {f32("n")});
    return {.least = {4.0 * kStreamElements, 4.0 * kStreamElements, kStreamElements},
            .arguments = {values},
            .results = {kStreamElements},
            .firn = [=, x = tensor(values)] { return std::vector<Tensor>{scan(x)}; },
            .best = {},
            .plain = {},
            .processor = scan_by_hand(kStreamElements),
            .tolerance = 1e-4,
            .expected =
                [values] {
                    std::vector<float> out;
                    double sum = 0;
                    for (float value : values) out.push_back(float(sum += double(value)));
                    return std::vector<std::vector<float>>{out};
                }};
}

}  // namespace

void add_streams(std::vector<Case>& cases) {
    cases.push_back({"chain", chain});
    cases.push_back({"gelu", gelu});
    cases.push_back({"sum", sum_of_all});
    cases.push_back({"scan", scan_of_all});
}

}  // namespace firn::bench
