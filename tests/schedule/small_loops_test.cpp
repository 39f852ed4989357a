// The cost of a step in loops that one group runs, and in loops that it does not run after all.
#include <gtest/gtest.h>

#include "compiler/algorithms/linear_algebra.h"
#include "tests/schedule/compile_helpers.h"

namespace firn {
namespace {

using Tensors = std::vector<Tensor>;

Tensors factors(const Tensors& a) { return {lu(a[0]).lu}; }

Tensors reflections(const Tensors& a) {
    const Qr of = qr(a[0]);
    return {of.q, of.r};
}

int64_t dispatches(Tensors (*f)(const Tensors&), int64_t n) {
    return stats(*program_for(cpu_profile(), f, {f32(n, n)}), {}).dispatches;
}

TEST(SmallLoops, FactorisationsAreOneDispatch) {
    for (int64_t n : {8, 33, 64}) {
        EXPECT_EQ(dispatches(factors, n), 1) << n;
        EXPECT_EQ(dispatches([](const Tensors& a) { return Tensors{inverse(a[0])}; }, n), 1) << n;
        EXPECT_LE(dispatches(reflections, n), 2) << n << ": two loops";
    }
}

TEST(SmallLoops, WhereNoKernelCanTakeThemAStepCostsALaunch) {
    DeviceProfile small = cpu_profile();
    small.max_body_operations = 200;
    const auto program = program_for(small, factors, {f32(64, 64)});
    EXPECT_GT(stats(*program, {}).dispatches, 64);
    EXPECT_LE(stats(*program, {}).dispatches, 2 * 64 + 1) << "the pivot and the rest";
}

}  // namespace
}  // namespace firn
