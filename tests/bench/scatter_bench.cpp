// Four million numbers added where random indices say: to a thousand places, and to a million.
#include <firn/firn.h>

#include <bit>

#include "tests/bench/bench.h"

namespace firn::bench {
namespace {

constexpr int kItems = 4 << 20;

constexpr const char* kClear = R"(
void main() { y[gl_GlobalInvocationID.x] = 0.0; }
)";

// Few places: a copy of them in each invocation's own memory, which needs no atomics.
constexpr const char* kFew = R"(
float near[1024];
void main() {
    int lane = int(gl_LocalInvocationID.x);
    for (int k = 0; k < 1024; ++k) near[k] = 0.0;
    int base = int(gl_WorkGroupID.x) * 65536 + lane;
    for (int turn = 0; turn < 1024; ++turn) {
        int slot[8];
        float number[8];
        [[unroll]] for (int k = 0; k < 8; ++k) {
            int item = base + 8 * (8 * turn + k);
            slot[k] = place_at(item), number[k] = x_at(item);
        }
        [[unroll]] for (int k = 0; k < 8; ++k) near[slot[k]] += number[k];
    }
    for (int k = 0; k < 1024; ++k) {
        float all = eight_sum(near[k]);
        if (lane == 0) atomicAdd(y[k], all);
    }
}
)";
constexpr const char* kMany = R"(
void main() {
    int base = int(gl_WorkGroupID.x) * 4096 + int(gl_LocalInvocationID.x);
    [[unroll]] for (int k = 0; k < 16; ++k) {
        int item = base + 256 * k;
        atomicAdd(y[place_at(item)], x_at(item));
    }
}
)";
constexpr const char* kPlain = R"(
void main() {
    uint item = gl_GlobalInvocationID.x;
    atomicAdd(y[place[item]], x[item]);
}
)";

HandProgram scatter(const char* body, int places, uint32_t group, int per_group, bool texels) {
    HandKernel clear{
        "clear", kClear, {256, 1, 1}, {places / 256, 1, 1}, {{"y", As::Floats, 2, true}}, {}};
    HandKernel add{"scatter",
                   body,
                   {group, 1, 1},
                   {kItems / per_group, 1, 1},
                   {{"place", texels ? As::IntTexels : As::Ints, 0},
                    {"x", texels ? As::Texels : As::Floats, 1},
                    {"y", As::Floats, 2, true}},
                   {}};
    return {{clear, add}, {}, {}};
}

Contest scatter_contest(int places) {
    std::vector<int> where;
    std::vector<float> bits, values = numbers(kItems, 0.0f, 1.0f, 2);
    for (float number : numbers(kItems, 0.0f, float(places), 1)) {
        where.push_back(static_cast<int>(number));
        bits.push_back(std::bit_cast<float>(where.back()));
    }
    auto f = compile(
        [places](Tensor place, Tensor x) {
            Tensor y = zeros({places});
            scatter_add(y(place), x);
            return y;
        },
        {i32("n"), f32("n")});
    const bool few = places <= 1024;
    return {.least = {8.0 * kItems, 4.0 * places, kItems, kItems},
            .arguments = {bits, values},
            .results = {places},
            .firn = [f, place = tensor(where),
                     x = tensor(values)] { return std::vector<Tensor>{f(place, x)}; },
            .best = few ? scatter(kFew, places, 8, 65536, true)
                        : scatter(kMany, places, 256, 4096, true),
            .plain = scatter(kPlain, places, 256, 256, false),
            .tolerance = 1e-4};
}

}  // namespace

void add_scatters(std::vector<Case>& cases) {
    cases.push_back({"scatter_1k", [] { return scatter_contest(1 << 10); }, Section::Own,
                     "a sum reads what it adds to and stores it again"});
    cases.push_back({"scatter_1M", [] { return scatter_contest(1 << 20); }, Section::Own,
                     "a sum at a place that others may share takes as long as many reads"});
}

}  // namespace firn::bench
