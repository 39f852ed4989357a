// Random graphs, compiled and run by the kernel interpreter, give what the oracle gives.
#include <gtest/gtest.h>

#include <cmath>

#include "compiler/compile.h"
#include "compiler/ir/text.h"
#include "compiler/lower/interpret_kernel.h"
#include "tests/ir/random_graph.h"

namespace firn {
namespace {

uint64_t padded(const HostTensor& tensor) { return (tensor.data.size() + 15) / 16 * 16; }

std::shared_ptr<const Program> compiled(NodeTable& table, const Graph& graph,
                                        const DeviceProfile& profile) {
    CompileOptions options;
    options.spirv = false;
    return compile_graph(table, graph, profile, options);
}

/// Uploads the arguments, runs `program`, and reads results of the shapes of `like`.
std::vector<HostTensor> run_compiled(const std::shared_ptr<const Program>& program,
                                     const RandomProgram& random,
                                     const std::vector<HostTensor>& like) {
    std::unique_ptr<Executor> executor = make_interpreter(program->profile);
    Call call;
    std::vector<std::vector<int64_t>> shapes;
    for (size_t k = 0; k < random.args.size(); ++k) {
        const HostTensor& arg = random.args[k];
        bool scalar = program->arguments[k].scalar;
        shapes.push_back(arg.shape);
        call.scalars.push_back(scalar ? arg.at(0) : Scalar{});
        call.arguments.push_back(scalar ? nullptr : executor->allocate(padded(arg), "argument"));
        if (!scalar) executor->write(*call.arguments.back(), 0, arg.data);
    }
    call.symbols = random.env;
    for (const auto& [name, value] : bind_symbols(*program, shapes, call.scalars))
        call.symbols[name] = value;
    for (const HostTensor& result : like)
        call.results.push_back(executor->allocate(padded(result), "result"));
    executor->run(program, call);
    std::vector<HostTensor> results;
    for (size_t k = 0; k < like.size(); ++k) {
        results.push_back(HostTensor::make(like[k].dtype, like[k].shape));
        executor->read(*call.results[k], 0, results.back().data);
    }
    return results;
}

/// Equal bits; floats may differ by what another order of a sum gives.
bool close(const Scalar& a, const Scalar& b) {
    if (a == b || (std::isnan(a.f) && std::isnan(b.f))) return true;
    if (!a.dtype.is_float()) return false;
    double scale = a.dtype == f16 ? 2e-3 : 1e-5;
    return a.f == b.f || std::fabs(a.f - b.f) <= scale * std::max(1.0, std::fabs(b.f));
}

void expect_compiled_is_oracle(uint64_t seed, const RandomGraphOptions& options,
                               const DeviceProfile& profile) {
    NodeTable table;
    RandomProgram random = RandomGraphs(table, seed, options).make();
    std::vector<HostTensor> expected = interpret(random.graph, random.args, random.env);
    std::vector<HostTensor> got =
        run_compiled(compiled(table, random.graph, profile), random, expected);
    for (size_t r = 0; r < expected.size(); ++r)
        for (int64_t k = 0; k < expected[r].elements(); ++k)
            ASSERT_TRUE(close(got[r].at(k), expected[r].at(k)))
                << "result " << r << ", element " << k << ": " << text(got[r].at(k))
                << " instead of " << text(expected[r].at(k)) << "\n"
                << print(random.graph);
}

class CompiledRandom : public testing::TestWithParam<uint64_t> {};

RandomGraphOptions with_regions(bool regions) {
    RandomGraphOptions options;
    options.regions = regions;
    return options;
}

/// No limit on back edges: the trip counts of random loops are data, which a driver with one
/// refuses.
DeviceProfile patient_cpu() {
    DeviceProfile profile = cpu_profile();
    profile.max_back_edges = 0;
    return profile;
}

TEST_P(CompiledRandom, PlainGraphs) {
    expect_compiled_is_oracle(GetParam(), with_regions(false), patient_cpu());
}
TEST_P(CompiledRandom, LoopsAndBranches) {
    expect_compiled_is_oracle(GetParam(), with_regions(true), patient_cpu());
}
TEST_P(CompiledRandom, LoopsAndBranchesForAGpu) {
    expect_compiled_is_oracle(GetParam(), with_regions(true), gpu_profile());
}
/// Subgroups so small that the short loops of random graphs are worth sharing.
DeviceProfile pairs_of_lanes() {
    DeviceProfile profile = gpu_profile();
    profile.subgroup_size = 2;
    return profile;
}
TEST_P(CompiledRandom, PlainGraphsWhoseLanesShare) {
    expect_compiled_is_oracle(GetParam(), with_regions(false), pairs_of_lanes());
}
TEST_P(CompiledRandom, LoopsAndBranchesWhoseLanesShare) {
    expect_compiled_is_oracle(GetParam(), with_regions(true), pairs_of_lanes());
}
TEST(CompiledRandomLanes, DoShare) {
    int shared = 0;
    for (uint64_t seed = 0; seed < 50; ++seed) {
        NodeTable table;
        const RandomProgram random = RandomGraphs(table, seed, with_regions(true)).make();
        const auto program = compiled(table, random.graph, pairs_of_lanes());
        for (const KernelInfo& kernel : program->kernels)
            shared += kernel.glsl.find("subgroupShuffleXor") != std::string::npos;
    }
    EXPECT_GT(shared, 10);
}
INSTANTIATE_TEST_SUITE_P(Seeds, CompiledRandom, testing::Range(uint64_t{0}, uint64_t{200}));

}  // namespace
}  // namespace firn
