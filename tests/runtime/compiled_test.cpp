// Random graphs, compiled and run on the device without Firn's caches, give the oracle's results.
#include "compiler/driver/compile.h"
#include "engine/runtime/vulkan_executor.h"
#include "tests/gpu/device_fixture.h"
#include "tests/ir/random_check.h"
#include "tests/ir/run_random.h"

namespace firn {
namespace {

/// Equal bits; floats may differ by another order and the device's functions.
bool close(const Scalar& a, const Scalar& b) {
    return same_bits(a, b) || near(a, b, a.dtype == f16 ? 4e-3 : 1e-4);
}

class CompiledOnDevice : public DeviceTest {
  protected:
    void expect_oracle(const RandomSeeds& seeds, RandomGraphOptions options) {
        options.any_function = false;
        VulkanExecutor executor(device);
        expect_random(seeds, options, [&](NodeTable& table, const RandomProgram& program) {
            const std::vector<HostTensor> expected =
                interpret(program.graph, program.args, program.env);
            CompileOptions compile;
            compile.validate = true;
            const auto compiled = compile_graph(table, program.graph, device->profile(), compile);
            return difference(run_on(executor, compiled, program, expected), expected, close);
        });
    }
};

TEST_F(CompiledOnDevice, SmallGraphs) { expect_oracle(random_seeds(100000, 110), {.nodes = 14}); }
TEST_F(CompiledOnDevice, PlainGraphs) { expect_oracle(random_seeds(0, 50), {.regions = false}); }
TEST_F(CompiledOnDevice, LoopsAndBranches) { expect_oracle(random_seeds(200000, 50), {}); }

}  // namespace
}  // namespace firn
