// Nests of loops interchanged so that neighbours share reads give the oracle's results.
#include <gtest/gtest.h>

#include <functional>

#include "compiler/language.h"
#include "compiler/mapping/mapping.h"
#include "compiler/program/program.h"

namespace firn {
namespace {

using Step = std::function<Tensor(Tensor total, Tensor tap)>;

/// Taps of a picture with four channels, rows outside, columns inside.
auto taps(int rows, int columns, const Step& step, int side) {
    return compile(
        [=](Tensor u) {
            auto [i, j, k] = indices<3>(u.shape());
            Tensor total = zeros(u.shape());
            for (Tensor y : loop(rows))
                for (Tensor x : loop(columns)) total = step(total, u(i + y, j - x, k));
            return total;
        },
        {f32(side, side, 4)});
}

Tensor add(Tensor total, Tensor tap) { return total + tap; }
Tensor keep_half(Tensor total, Tensor tap) { return min(total + total, 100.0f) + tap; }

Mapping mapping_of_taps(int rows, int columns, const Step& step) {
    SessionScope scope(Session::interpreter(cpu_profile()));
    const auto f = taps(rows, columns, step, 512);
    return *parse_mapping(f.program()->kernels.at(0).mapping);
}

TEST(InterchangeLoops, NeighboursShareWhatTheInnerLoopReads) {
    const Mapping m = mapping_of_taps(17, 17, add);
    EXPECT_GE(m.written_out, 17);
    EXPECT_GT(m.tile_of(1), 1);
}

/// Returns the trip count of the kernel's inner loop.
int64_t inner_trips(int rows, int columns) {
    SessionScope scope(Session::interpreter(cpu_profile()));
    const auto program = taps(rows, columns, add, 512).program();
    const KernelCode& code = *std::get<DispatchStep>(program->steps.at(0).step).lowered;
    int64_t trips = -1;
    for (const KernelRegion& region : code.regions)
        for (NodeId id : region.order)
            if (region.range && code[id].op == KernelOp::For)
                trips = code[code[code[id].as<BodyAttr>().region].range].max_trips;
    return trips;
}

TEST(InterchangeLoops, WhatIsTooLongToBeWrittenOutStays) {
    EXPECT_EQ(inner_trips(17, 9), 17);
    EXPECT_EQ(inner_trips(100, 9), 9);
}

TEST(InterchangeLoops, GiveWhatTheOracleGives) {
    const Shape shape{91, 91, 4};
    const auto run = [&](const Session& session, int rows, int columns, const Step& step) {
        SessionScope scope(session);
        const int64_t count = element_count(shape).constant();
        const Tensor u = reshape(cast<float>(arange(count) * 7 % 11 - 5), shape);
        return taps(rows, columns, step, 91)(u).to_vector<float>();
    };
    DeviceProfile profile = cpu_profile();
    profile.parallel_invocations = 8;
    for (const Step& step : {Step(add), Step(keep_half)})
        for (const auto& [rows, columns] : {std::pair{17, 3}, {3, 5}, {9, 1}, {1, 9}})
            EXPECT_EQ(run(Session::interpreter(profile), rows, columns, step),
                      run(Session::oracle(), rows, columns, step))
                << rows << " by " << columns;
}

}  // namespace
}  // namespace firn
