// Random graphs, compiled and run by the kernel interpreter, give the oracle's results: by all
// passes, by those that programs need, by these and each other one, and without each.
#include "compiler/driver/compile.h"
#include "compiler/driver/pass_list.h"
#include "compiler/kernel/interpret/interpret_kernel.h"
#include "tests/excess_sum.h"
#include "tests/ir/random_check.h"
#include "tests/ir/run_random.h"

namespace firn {
namespace {

std::shared_ptr<const Program> compiled(NodeTable& table, const Graph& graph,
                                        const DeviceProfile& profile,
                                        const SkippedPasses& skipped = {}) {
    CompileOptions options;
    options.emission = Emission::Text;
    options.skipped = skipped;
    options.excess_log = excess_file();
    return compile_graph(table, graph, profile, options);
}

/// Equal bits; floats may differ by another order of a sum.
bool close(const Scalar& a, const Scalar& b) {
    return same_bits(a, b) || near(a, b, a.dtype == f16 ? 2e-3 : 1e-5);
}

/// Each of `all`, without some passes, gives the oracle's results.
RandomCheck compiled_is_oracle(const DeviceProfile& profile,
                               const std::vector<SkippedPasses>& all) {
    return [=](NodeTable& table, const RandomProgram& program) -> std::string {
        const std::vector<HostTensor> expected =
            interpret(program.graph, program.args, program.env);
        for (const SkippedPasses& skipped : all) {
            const auto executor = make_interpreter(profile, FunctionValues::OfHost);
            const auto got = run_on(*executor, compiled(table, program.graph, profile, skipped),
                                    program, expected);
            std::string found = difference(got, expected, close);
            if (found.empty()) continue;
            found += "; without";
            for (const std::string& pass : skipped) found += " " + pass;
            return found;
        }
        return "";
    };
}

/// The passes that may be left out, each by itself, and all but each.
std::vector<SkippedPasses> one_by_one() {
    const SkippedPasses all = optional_passes();
    std::vector<SkippedPasses> out;
    for (const std::string& pass : all) {
        out.push_back({pass});
        out.push_back(all);
        out.back().erase(pass);
    }
    return out;
}

RandomGraphOptions with_regions(bool regions) {
    RandomGraphOptions options;
    options.regions = regions;
    return options;
}

/// The device has no limit on back edges: the trip counts of random loops are data, which a driver
/// with a limit refuses.
DeviceProfile patient_cpu() {
    DeviceProfile profile = cpu_profile();
    profile.max_back_edges = 0;
    return profile;
}

/// Subgroups so small that the short loops of random graphs are worth sharing.
DeviceProfile pairs_of_lanes() {
    DeviceProfile profile = gpu_profile();
    profile.subgroup_size = 2;
    return profile;
}

/// So few invocations keep it busy that small grids are worth tiles, unrolling and vectors.
DeviceProfile never_idle(DeviceProfile profile) {
    profile.max_back_edges = 0;
    profile.parallel_invocations = 1;
    return profile;
}

/// The fewest that the specification allows.
DeviceProfile four_bindings(DeviceProfile profile) {
    profile.max_back_edges = 0;
    profile.max_storage_buffers = 4;
    profile.max_views = std::min(profile.max_views, 4u);
    return profile;
}

struct RandomKind {
    const char* name;
    DeviceProfile profile;
    bool regions;
    uint64_t first_seed;
};
std::ostream& operator<<(std::ostream& out, const RandomKind& kind) { return out << kind.name; }
class CompiledRandom : public testing::TestWithParam<RandomKind> {};

TEST_P(CompiledRandom, GivesWhatTheOracleGives) {
    expect_random(random_seeds(GetParam().first_seed, 300), with_regions(GetParam().regions),
                  compiled_is_oracle(GetParam().profile, {optional_passes(), {}}));
}
TEST_P(CompiledRandom, WithoutEachPassToo) {
    expect_random(random_seeds(GetParam().first_seed + 5000, 5), with_regions(GetParam().regions),
                  compiled_is_oracle(GetParam().profile, one_by_one()));
}
INSTANTIATE_TEST_SUITE_P(
    Profiles, CompiledRandom,
    testing::Values(RandomKind{"plain", patient_cpu(), false, 0},
                    RandomKind{"regions", patient_cpu(), true, 10000},
                    RandomKind{"regions_for_a_gpu", gpu_profile(), true, 20000},
                    RandomKind{"plain_with_lanes", pairs_of_lanes(), false, 30000},
                    RandomKind{"regions_with_lanes", pairs_of_lanes(), true, 40000},
                    RandomKind{"tiles", never_idle(cpu_profile()), true, 50000},
                    RandomKind{"tiles_for_a_gpu", never_idle(gpu_profile()), true, 60000},
                    RandomKind{"four_bindings", four_bindings(cpu_profile()), true, 70000},
                    RandomKind{"four_bindings_for_a_gpu", four_bindings(gpu_profile()), true,
                               80000}),
    [](const auto& info) { return std::string(info.param.name); });

/// Programs that random ones were shrunk to, with zeros as arguments.
void expect_found(const char* text) {
    NodeTable table;
    RandomProgram program{parse(table, text), {{"n", 2}, {"m", 3}, {"k", 0}}, {}};
    for (const Ref& arg : program.graph.args) {
        std::vector<int64_t> shape;
        for (const Size& size : arg->shape) shape.push_back(size.evaluate(program.env));
        program.args.push_back(HostTensor::make(arg->dtype, shape));
    }
    for (const DeviceProfile& profile : {patient_cpu(), gpu_profile(), pairs_of_lanes()})
        EXPECT_EQ(failure_of(compiled_is_oracle(profile, {optional_passes(), {}}), table, program),
                  "");
}

TEST(FoundByRandomPrograms, AnIndexThatIsAResultTooInAKernelOfItsShape) {
    expect_found(R"(graph(%0: u32) {
    %1: i32[n, 17, m] = Index axis=1
    %2: i32 = Cast %0
    %3: i32[n, 17, m] = Expand %2
    %4: i32[n, 17, m] = Or %1, %3
    return %4, %1
})");
}

TEST(FoundByRandomPrograms, AnIndexOverANegativeNumber) {
    expect_found(R"(graph(%0: u32[2, 1], %1: i32[7, 3]) {
    %2: i32[7, 3] = Index axis=1
    %3: i32 = Constant -1
    %4: i32[7, 3] = Expand %3
    %5: i32[7, 3] = Div %2, %4
    %6: u32[7, 3] = Gather %0, %1, %5 modes=[clamp, constant] fill=2
    return %6
})");
}

TEST(FoundByRandomPrograms, AnEmptyAxisReadsZeroWhateverAnotherIsFilledWith) {
    expect_found(R"(graph(%0: f16[1, k], %1: i32[3]) {
    %2: f16[3] = Gather %0, %1, %1 modes=[constant, clamp] fill=2.0
    return %2
})");
}

TEST(FoundByRandomPrograms, APadAroundAnEmptyTensor) {
    expect_found(R"(graph(%0: u32[k, 32, 5]) {
    %1: u32[k + 2, 34, 5] = Pad %0 before=[1, 1, 0] after=[1, 1, 0] value=3
    return %1
})");
}

TEST(FoundByRandomPrograms, AReductionThatReadsItsOwnIndexBesideWhatIsTheSameForAll) {
    expect_found(R"(graph(%0: i32[5, 1], %1: i32[32]) {
    %2: i32[5, 32] = Expand %1
    %3: i32[5, 32] = Expand %0
    %4: i32[5, 32] = Add %2, %3
    %5: i32[5, 32, 32] = Index axis=0
    %6: i32[5, 32, 32] = Index axis=2
    %7: i32[5, 32, 32] = Gather %4, %5, %6 modes=[clamp, clamp] fill=0
    %8: bool[5, 32] = LessEqual %3, %4
    %9: i32[5, 32, 32] = Index axis=1
    %10: bool[5, 32, 32] = Gather %8, %6, %9 modes=[wrap, clamp] fill=false
    %11: i32[5, 32, 32] = Cast %10
    %12: i32[5, 32, 32] = Mul %7, %11
    %13: i32[5, 32] = Reduce %12 op=sum axes=[2]
    return %13
})");
}

// A grid that is narrower than its group: all of the group gather what its copies have.
TEST(FoundByRandomPrograms, CopiesOfMoreElementsThanTheGridIsWide) {
    expect_found(R"(graph(%0: bool[m, 2], %1: f16, %2: f32[1, 2, 3], %3: i32[m, 2], %4: f32[m, 2]) {
    %5: i32 = Constant 0
    %6: i32[m, 2] = Expand %5
    %7 = If %0 {
        yield %1
    } else {
        %8: i32 = Constant 2
        %9: i32 = Constant 1
        %10 = Loop %5, %8, %9, %1 (%11: i32, %12: f16) {
            %13: f16 = Constant 1.0
            yield %13
        }
        %14: f16 = Result %10 index=0
        yield %14
    }
    %15: f16[m, 2] = Result %7 index=0
    %16: i32[m, 2] = Cast %15
    %17: f32[1, 2, 3] = Scatter %2, %4, %6, %16, %3 op=last
    return %17
})");
}

TEST(CompiledRandomLanes, DoShare) {
    int shared = 0;
    for (uint64_t seed = 0; seed < 100; ++seed) {
        NodeTable table;
        const RandomProgram random = RandomGraphs(table, seed, with_regions(true)).make();
        const auto program = compiled(table, random.graph, pairs_of_lanes());
        for (const KernelInfo& kernel : program->kernels)
            shared += kernel.artefact.text.find("subgroupShuffleXor") != std::string::npos;
    }
    EXPECT_GT(shared, 10);
}

}  // namespace
}  // namespace firn
