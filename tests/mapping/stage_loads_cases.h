// Programs whose operands groups can load together, in mappings that do.
#pragma once
#include <numeric>

#include "compiler/driver/compile.h"
#include "compiler/driver/tune.h"
#include "compiler/language.h"
#include "compiler/mapping/steps.h"
#include "tests/ir/run_random.h"

namespace firn {

struct StagedCase {
    const char* name;
    Tensor (*function)(const std::vector<Tensor>&);
    std::vector<ArgSpec> specs;
    std::vector<std::vector<int64_t>> shapes;  // of the arguments of a call
    friend std::ostream& operator<<(std::ostream& out, const StagedCase& test) {
        return out << test.name;
    }
};

inline std::vector<StagedCase> staged_cases() {
    using Tensors = std::vector<Tensor>;
    auto product = [](const Tensors& a) { return matmul(a[0], a[1]); };
    auto right_rows = [](const Tensors& a) { return matmul(a[0], transpose(a[1])); };
    auto left_columns = [](const Tensors& a) { return matmul(transpose(a[0]), a[1]); };
    auto layer = [](const Tensors& a) { return max(matmul(a[0] * 2.0f, a[1]) + a[2], 0.0f); };
    auto halves = [](const Tensors& a) { return matmul(a[0], a[1]).as(f32); };
    auto greatest = [](const Tensors& a) {
        return max(unsqueeze(a[0], -1) + unsqueeze(a[1], -3), {.axis = -2});
    };
    auto pairs = [](const Tensors& a) {
        Tensor near = zeros({a[0].size(0)});
        for (Tensor j : loop(a[1].size(0))) near += abs(a[0] - a[1](j)) * a[1](j);
        return near;
    };
    auto two = [](const Tensors& a) { return matmul(a[0], a[1]) * matmul(a[2], transpose(a[3])); };
    auto sharing = [](const Tensors& a) {
        return any(unsqueeze(a[0] > 3.0f, -1) & unsqueeze(a[1] > 3.0f, -3), {.axis = -2}).as(f32);
    };
    auto as_floats = [](const Tensors& a) { return matmul(a[0], a[1]).as(f32); };
    auto shifted = [](const Tensors& a) {
        auto [i, j, k] = indices<3>({a[0].size(0), a[1].size(1), a[1].size(0)});
        return sum(zero(a[0])(i + 1, k - 2) * a[1](k, j), {.axis = 2});
    };
    auto some_turns = [](const Tensors& a) {
        Tensor out = zeros({a[0].size(0), a[1].size(1)});
        auto [i, j] = indices<2>(out.shape());
        for (Tensor k : loop(a[2] + 13)) out += a[0](i, k) * a[1](k, j);
        return out;
    };
    // Not as a product that is kept in memory first.
    auto convolved = [](const Tensors& a) {
        auto [b, o, i, j, c, k, l] = indices<7>(
            {a[0].size(0), a[1].size(0), a[0].size(2), a[0].size(3), a[0].size(1), 3, 3});
        return sum(zero(a[0])(b, c, i + k - 1, j + l - 1) * a[1](o, c, k, l), {.axis = {4, 5, 6}});
    };
    auto nested = [](const Tensors& a) { return einsum("icl,clj->ij", {a[0], a[1]}); };
    return {
        {"whole_tiles", product, {f32(64, 16), f32(16, 64)}, {{64, 16}, {16, 64}}},
        {"odd_sizes", product, {f32(37, 19), f32(19, 45)}, {{37, 19}, {19, 45}}},
        {"symbolic_sizes", product, {f32("n", "k"), f32("k", "m")}, {{21, 9}, {9, 18}}},
        {"symbolic_sizes_of_nothing", product, {f32("n", "k"), f32("k", "m")}, {{5, 0}, {0, 6}}},
        {"one_row", product, {f32("n", "k"), f32("k", "m")}, {{1, 33}, {33, 50}}},
        {"rows_of_both", right_rows, {f32(36, 24), f32(44, 24)}, {{36, 24}, {44, 24}}},
        {"columns_of_both", left_columns, {f32(18, 34), f32(18, 70)}, {{18, 34}, {18, 70}}},
        {"batches", product, {f32("b", 34, 12), f32("b", 12, 37)}, {{3, 34, 12}, {3, 12, 37}}},
        {"one_for_all_batches", product, {f32(3, 34, 12), f32(12, 40)}, {{3, 34, 12}, {12, 40}}},
        {"a_layer", layer, {f32(48, 20), f32(20, 36), f32(36)}, {{48, 20}, {20, 36}, {36}}},
        {"halves", halves, {f16(36, 16), f16(16, 40)}, {{36, 16}, {16, 40}}},
        {"the_greatest_sums", greatest, {f32(39, 14), f32(14, 41)}, {{39, 14}, {14, 41}}},
        {"pairs", pairs, {f32("n"), f32("m")}, {{75}, {29}}},
        {"two_products",
         two,
         {f32(38, 9), f32(9, 42), f32(38, 21), f32(42, 21)},
         {{38, 9}, {9, 42}, {38, 21}, {42, 21}}},
        {"windows",
         convolved,
         {f32("n", 20, 9, 37), f32(8, 20, 3, 3)},
         {{1, 20, 9, 37}, {8, 20, 3, 3}}},
        {"pairs_of_conditions", sharing, {f32(36, 12), f32(12, 40)}, {{36, 12}, {12, 40}}},
        {"integers", as_floats, {i32(36, 12), i32(12, 40)}, {{36, 12}, {12, 40}}},
        {"doubles", as_floats, {f64(36, 12), f64(12, 40)}, {{36, 12}, {12, 40}}},
        {"zeros_outside", shifted, {f32(40, 12), f32(14, 36)}, {{40, 12}, {14, 36}}},
        {"as_many_turns_as_asked",
         some_turns,
         {f32(1, 12), f32(14, 360), i32()},  // several rows would be a sequence each
         {{1, 12}, {14, 360}, {}}},
        {"a_loop_in_a_loop", nested, {f32("n", 3, 11), f32(3, 11, 40)}, {{37, 3, 11}, {3, 11, 40}}},
    };
}

/// Small whole numbers, so that sums are exact in any order.
inline std::vector<HostTensor> numbers(const StagedCase& test) {
    std::vector<HostTensor> out;
    for (size_t a = 0; a < test.shapes.size(); ++a) {
        out.push_back(HostTensor::make(test.specs[a].dtype, test.shapes[a]));
        for (int64_t k = 0; k < out[a].elements(); ++k)
            out[a].set(
                k, scalar_int((k * 7 + k / 5 + static_cast<int64_t>(a)) % 11 - 5).to(out[a].dtype));
    }
    return out;
}

/// Calls `change` for a mapping of each kernel, with tiles of up to eight; those that can stage in
/// it are mapped anew.
template <class Change>
std::shared_ptr<const Program> staged(std::shared_ptr<const Program> program, Change change,
                                      int* count) {
    for (size_t k = 0; k < program->kernels.size(); ++k) {
        std::shared_ptr<const KernelCode> lowered;
        for_dispatches(program->steps, [&](const DispatchStep& step) {
            if (step.kernel == static_cast<int>(k)) lowered = step.lowered;
        });
        if (!lowered) continue;
        Mapping mapping;
        for (const Range& range : lowered->ranges)
            if (range.kind == RangeKind::Grid)
                mapping.tile.insert(mapping.tile.begin(),
                                    std::gcd(range.extent.divisor(), int64_t{8}));
        change(mapping);
        if (mapping.staged_iterations == 1 ||
            !why_illegal({*lowered, mapping, program->profile, {}}).empty())
            continue;
        auto changed = with_mapping(*program, static_cast<int>(k), mapping, {});
        if (!program->kernels[k].artefact.words.empty()) compile_kernel(*changed, k, {});
        program = changed;
        ++*count;
    }
    return program;
}

/// A case's program, compiled for a session, with the oracle's results.
struct PreparedCase {
    std::shared_ptr<const Program> program;
    RandomProgram random;
    std::vector<float> expected;

    PreparedCase(const StagedCase& test, const Session& session) {
        random.args = numbers(test);
        {
            SessionScope scope(Session::oracle());
            std::vector<Tensor> args;
            for (size_t a = 0; a < test.shapes.size(); ++a) {
                std::vector<float> values;
                for (int64_t k = 0; k < random.args[a].elements(); ++k)
                    values.push_back(static_cast<float>(random.args[a].at(k).to(f32).f));
                const Shape shape(test.shapes[a].begin(), test.shapes[a].end());
                args.push_back(cast(tensor(values, shape), test.specs[a].dtype));
            }
            expected = test.function(args).to_vector<float>();
        }
        SessionScope scope(session);
        program = compile([&](const std::vector<Tensor>& args) { return test.function(args); },
                          test.specs)
                      .program();
    }
};

/// Some of the program can be staged, and then it gives the same.
template <class Change>
void expect_staged_is_oracle(const PreparedCase& test, Executor& executor, Change change) {
    int count = 0;
    const auto program = staged(test.program, change, &count);
    EXPECT_GT(count, 0) << "nothing is staged";
    const std::vector<HostTensor> like{
        HostTensor::make(f32, {static_cast<int64_t>(test.expected.size())})};
    const HostTensor got = run_on(executor, program, test.random, like)[0];
    for (size_t k = 0; k < test.expected.size(); ++k)
        ASSERT_EQ(static_cast<float>(got.at(static_cast<int64_t>(k)).f), test.expected[k])
            << "element " << k << " " << program->kernels[0].mapping;
}

}  // namespace firn
