// Operands that the invocations of a group would read again and again are staged in shared memory.
#include "compiler/mapping/walk/stage_loads.h"

#include <gtest/gtest.h>

#include <set>

#include "compiler/driver/explain.h"
#include "compiler/kernel/bindings.h"
#include "compiler/kernel/interpret/interpret_kernel.h"
#include "compiler/mapping/choice/vary_mapping.h"
#include "compiler/mapping/steps.h"
#include "tests/ir/random_check.h"
#include "tests/mapping/stage_loads_cases.h"
#include "tests/schedule/compile_helpers.h"

namespace firn {
namespace {

class StagedCases : public testing::TestWithParam<StagedCase> {};
INSTANTIATE_TEST_SUITE_P(StageLoads, StagedCases, testing::ValuesIn(staged_cases()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(StagedCases, GiveWhatTheOracleGives) {
    const auto executor = make_interpreter(gpu_profile());
    const PreparedCase test(GetParam(), Session::interpreter(gpu_profile()));
    for (const auto& [x, y] : {std::pair{4u, 4u}, {8u, 4u}, {16u, 8u}})
        for (int64_t iterations : {2, 3, 8})
            for (int64_t unroll : {1, 4})
                expect_staged_is_oracle(test, *executor, [&](Mapping& m) {
                    const bool line = m.tile.size() < 2;
                    m.group.x = line ? x * y : x, m.group.y = line ? 1 : y;
                    for (int64_t& tile : m.tile) tile = std::min<int64_t>(tile, x / 2);
                    m.staged_iterations = iterations, m.unroll = unroll;
                });
}

TEST(StageLoads, RandomProgramsGiveWhatTheOracleGives) {
    int count = 0;
    const auto staged_is_oracle = [&](NodeTable& table, const RandomProgram& random) {
        CompileOptions options;
        options.emission = Emission::Text;
        auto program = compile_graph(table, random.graph, gpu_profile(), options);
        program = staged(
            program,
            [](Mapping& m) {
                m.group.x = m.tile.size() < 2 ? 16 : 4, m.group.y = m.tile.size() < 2 ? 1 : 4;
                m.staged_iterations = 2;
            },
            &count);
        const std::vector<HostTensor> expected = interpret(random.graph, random.args, random.env);
        const auto executor = make_interpreter(gpu_profile());
        return difference(run_on(*executor, program, random, expected), expected,
                          [](const Scalar& a, const Scalar& b) {
                              return same_bits(a, b) || near(a, b, a.dtype == f16 ? 2e-3 : 1e-5);
                          });
    };
    expect_random(random_seeds(70000, 300), {}, staged_is_oracle);
    EXPECT_GT(count, 10);
}

constexpr auto product = [](const std::vector<Tensor>& a) {
    return std::vector<Tensor>{matmul(a[0], a[1])};
};
constexpr auto turned = [](const std::vector<Tensor>& a) {
    return std::vector<Tensor>{matmul(a[0], transpose(a[1]))};
};

/// The bytes of bound memory that a product of 64 x 64 reads, in tiles of 4 x 4 and groups of 8
/// x 8.
int64_t bytes_read(int64_t staged_iterations) {
    const auto program = program_for(gpu_profile(), product, {f32(64, 64), f32(64, 64)});
    Mapping m;
    m.tile = {4, 4}, m.group.x = 8, m.group.y = 8, m.staged_iterations = staged_iterations;
    const KernelCode code = map_kernel(*std::get<DispatchStep>(program->steps.at(0).step).lowered,
                                       m, gpu_profile(), {});
    std::vector<std::byte> memory(64 * 64 * 4);
    return interpret_kernel(code, std::vector<std::span<std::byte>>(bound_buffers(code), memory),
                            {}, {}, 32)
        .bound_bytes_read;
}

TEST(StageLoads, AGroupReadsEachElementOnce) {
    EXPECT_EQ(bytes_read(16), 4 * 64 * (32 + 32) * 4);  // groups, iterations, both operands
    EXPECT_EQ(bytes_read(1), bytes_read(16) * 8);
}

TEST(StageLoads, FourNeighboursOfATileAreReadAtOnce) {
    const auto program = program_for(gpu_profile(), product, {f32(1024, 1024), f32(1024, 1024)});
    const std::string& glsl = program->kernels.at(0).artefact.text;
    EXPECT_NE(glsl.find("shared vec4 b3["), std::string::npos) << glsl;
    const size_t loop = glsl.find("for (int r5");  // of staged iterations
    ASSERT_NE(loop, std::string::npos) << glsl;
    EXPECT_NE(glsl.find("vec4", loop), std::string::npos);
    EXPECT_EQ(glsl.find("& 3]", loop), std::string::npos) << glsl;  // an element of a block
}

TEST(StageLoads, BlocksOfFourAreLoadedBehindTheLastWholeTileToo) {
    const auto program = program_for(gpu_profile(), product, {f32(1000, 100), f32(100, 1000)});
    for (const char* buffer : {"vec4 b0[", "vec4 b1["})
        EXPECT_NE(program->kernels.at(0).artefact.text.find(buffer), std::string::npos)
            << program->kernels[0].artefact.text;
}

TEST(StageLoads, AGpuStagesProductsOfEitherOrder) {
    for (const auto& function : {+product, +turned}) {
        const auto program =
            program_for(gpu_profile(), function, {f32(1024, 1024), f32(1024, 1024)});
        EXPECT_EQ(program->kernels.at(0).mapping.substr(0, 20), "tile 8x8 group 16x16");
        EXPECT_NE(program->kernels[0].mapping.find("stage 16"), std::string::npos);
        EXPECT_NE(explain(*program).find(std::to_string(program->kernels[0].shared_bytes) +
                                         " bytes shared"),
                  std::string::npos);
        EXPECT_LE(program->kernels[0].shared_bytes, gpu_profile().shared_bytes / 2);
    }
}

TEST(StageLoads, ConvolutionsStageTheirWeightsForTheirShortLoopsToo) {
    auto convolved = [](const std::vector<Tensor>& a) {
        return std::vector<Tensor>{conv2d(a[0], a[1], {.padding = 1})};
    };
    const auto program =
        program_for(gpu_profile(), convolved, {f32(8, 64, 56, 56), f32(64, 64, 3, 3)});
    ASSERT_EQ(program->kernels.size(), 1u);
    EXPECT_NE(program->kernels[0].mapping.find("stage 16"), std::string::npos)
        << program->kernels[0].mapping;
    EXPECT_EQ(program->kernels[0].shared_bytes,
              3 * 16 * 3 * 12 * 4u);  // rows of windows, iterations, places, eight weights
}

TEST(StageLoads, NeitherACpuNorWhatReadsEachElementOnceStages) {
    auto columns = [](const std::vector<Tensor>& a) {
        return std::vector<Tensor>{sum(a[0] * unsqueeze(a[1], 1), {.axis = 0})};
    };
    const auto mapping = [](const auto& program) { return program->kernels.at(0).mapping; };
    EXPECT_EQ(mapping(program_for(cpu_profile(), product, {f32(1024, 1024), f32(1024, 1024)}))
                  .find("staged"),
              std::string::npos);
    EXPECT_EQ(
        mapping(program_for(gpu_profile(), columns, {f32(1024, 1024), f32(1024)})).find("staged"),
        std::string::npos);
}

TEST(StageLoads, WhatIsTheSameForAGroupIsStagedForManyIterations) {
    auto pairs = [](const std::vector<Tensor>& a) {
        Tensor out = zeros({a[0].size(0)});
        for (Tensor j : loop(a[0].size(0))) out += abs(a[0] - a[0](j));
        return std::vector<Tensor>{out};
    };
    const auto program = program_for(gpu_profile(), pairs, {f32(65536)});
    EXPECT_NE(program->kernels.at(0).mapping.find("stage 256"), std::string::npos)
        << program->kernels[0].mapping;
}

TEST(StageLoads, TuningTriesOtherIterationsThatFit) {
    for (const uint32_t bytes : {20000u, 60000u}) {
        DeviceProfile profile = gpu_profile();
        profile.shared_bytes = bytes;
        const auto program = program_for(profile, product, {f32(1024, 1024), f32(1024, 1024)});
        const KernelCode& lowered = *std::get<DispatchStep>(program->steps.at(0).step).lowered;
        std::set<int64_t> iterations;
        for (const Mapping& m :
             vary_mapping(lowered, choose_mapping(lowered, profile, {}), profile, {})) {
            iterations.insert(m.staged_iterations);
            EXPECT_EQ(why_illegal({lowered, m, profile, {}}), "") << text(m);
        }
        EXPECT_TRUE(iterations.contains(1));
        EXPECT_EQ(iterations.contains(32), bytes == 60000u);
    }
}

}  // namespace
}  // namespace firn
