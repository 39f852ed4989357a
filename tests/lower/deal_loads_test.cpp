// What all lanes of a subgroup read is loaded by one lane each, and handed round.
#include "compiler/lower/deal_loads.h"

#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "compiler/frontend/frontend.h"

namespace firn {
namespace {

/// Small whole numbers, so that sums are exact in any order.
std::vector<float> numbers(int count) {
    std::vector<float> out;
    for (int k = 0; k < count; ++k) out.push_back(float((k * 7 + k / 5) % 11 - 5));
    return out;
}

/// Every element with every other, three sums at once.
std::tuple<Tensor, Tensor> pairs(Tensor x, Tensor weight) {
    Tensor near = zeros({x.size(0)}), far = near;
    for (Tensor j : loop(weight.size(0))) {
        Tensor away = abs(x - weight(j));
        near += away * weight(j), far += away;
    }
    return {near, far};
}

bool hands_round(const Program& program) {
    return program.kernels.at(0).glsl.find("subgroupShuffle(") != std::string::npos;
}

std::vector<float> both(const Session& session, int own, int others) {
    SessionScope scope(session);
    auto [near, far] = pairs(tensor(numbers(own)), tensor(numbers(others)));
    std::vector<float> out = near.to_vector<float>(), more = far.to_vector<float>();
    out.insert(out.end(), more.begin(), more.end());
    return out;
}

TEST(DealLoads, PairsOfAnyNumberAgreeWithTheOracle) {
    for (int own : {1, 7, 64, 100, 1033, 4096})
        for (int others : {1, 7, 8, 37, 64})
            EXPECT_EQ(both(Session::interpreter(), own, others), both(Session::oracle(), own, others))
                << own << " with " << others;
}

TEST(DealLoads, ACpuHandsRoundWhatAllLanesRead) {
    for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()}) {
        SessionScope scope(Session::interpreter(profile));
        auto program = compile(pairs, {f32(4096), f32(4096)}).program();
        EXPECT_EQ(hands_round(*program), profile.device_class == DeviceClass::Cpu);
    }
}

TEST(DealLoads, ALoopThatEachElementLeavesAloneKeepsItsLoads) {
    SessionScope scope(Session::interpreter());
    auto search = [](Tensor x, Tensor others) {
        Tensor at = zeros({x.size(0)}, i32);
        for (Tensor j : loop(others.size(0))) {
            if_(others(j) >= x, [&] { break_(); });
            at += 1;
        }
        return at;
    };
    EXPECT_FALSE(hands_round(*compile(search, {f32(4096), f32(4096)}).program()));
}

}  // namespace
}  // namespace firn
