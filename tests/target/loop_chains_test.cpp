// Some of many loops in sequence stand inside a loop of one iteration.
#include "compiler/target/glsl/loop_chains.h"

#include <gtest/gtest.h>

#include <string>

#include "compiler/driver/compile.h"
#include "compiler/language.h"
#include "compiler/target/cost_table.h"
#include "tests/emitting.h"

namespace firn {
namespace {

/// The code between one loop and the next, or around it.
enum class Between { Nothing, Barriers, OuterLoops };

KernelInfo loops_in_sequence(int count, Between between,
                             const DeviceProfile& profile = cpu_profile()) {
    SessionScope scope(emitting(profile));
    const auto several = [&](const Tensor& x, Tensor& sum, int from) {
        for (int k = from; k < from + 4; ++k)
            for (Tensor i : loop(3)) sum = sum * 0.5f + x(cast<int>(sum * k) + i);
    };
    const auto run = [&](Tensor x) {
        Tensor y = zeros({64});
        kernel({64}, {.group = {64}}, [&](Tensor i) {
            Shared row = shared(f32, 64);
            Tensor sum = x(i);
            for (int k = 0; k < count; k += 4) {
                if (between == Between::OuterLoops)
                    for (Tensor outer : loop(5)) several(x, sum, k);
                else
                    several(x, sum, k);
                if (between != Between::Barriers) continue;
                row(i) = sum;
                barrier();
                sum = row(63 - i);
                barrier();
            }
            y(i) = sum;
        });
        return y;
    };
    return compile(run, {f32(64)}).program()->kernels.at(0);
}

/// The longest chain of loops that a text shows, and how many stand apart.
struct Chain {
    int64_t longest = 0, apart = 0;
};
Chain chain_of(const std::string& text) {
    Chain out;
    int64_t length = 0;
    for (size_t at = text.find("for (int "); at != std::string::npos;
         at = text.find("for (int ", at + 1)) {
        const bool once = text.compare(at + 9, 4, "once") == 0;
        length = once ? 0 : length + 1;
        out.apart += once;
        out.longest = std::max(out.longest, length);
    }
    return out;
}

TEST(LoopChains, OfManyLoopsSomeStandApart) {
    const std::string text = loops_in_sequence(40, Between::Nothing).artefact.text;
    const Chain chain = chain_of(text);
    EXPECT_LE(chain.longest, costs::kLoopsInSequence) << text;
    EXPECT_LE(chain.apart, 40 / (costs::kLoopsInSequence - 2)) << text;
}

TEST(LoopChains, FewLoopsStayAsTheyAre) {
    EXPECT_EQ(chain_of(loops_in_sequence(8, Between::Nothing).artefact.text).apart, 0);
}

TEST(LoopChains, BarriersAndOuterLoopsBeginAnotherChain) {
    EXPECT_EQ(chain_of(loops_in_sequence(40, Between::Barriers).artefact.text).apart, 0);
    const Chain chain = chain_of(loops_in_sequence(8, Between::OuterLoops).artefact.text);
    EXPECT_EQ(chain.apart, 0);
}

TEST(LoopChains, TheirIterationsCount) {
    const KernelInfo kernel = loops_in_sequence(40, Between::Nothing);
    // Three iterations and the end of each loop, but for the last end; the same of one iteration.
    EXPECT_EQ(kernel.back_edges, 40 * 4 - 1 + 2 * chain_of(kernel.artefact.text).apart);
}

TEST(LoopChains, DriversThatCountNoIterationsTakeThemAsTheyAre) {
    EXPECT_EQ(chain_of(loops_in_sequence(40, Between::Nothing, gpu_profile()).artefact.text).apart,
              0);
    DeviceProfile profile = cpu_profile();
    profile.max_back_edges = 0;
    EXPECT_EQ(chain_of(loops_in_sequence(40, Between::Nothing, profile).artefact.text).apart, 0);
}

}  // namespace
}  // namespace firn
