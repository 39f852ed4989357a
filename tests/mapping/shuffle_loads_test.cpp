// Elements that all lanes of a subgroup read are loaded by one lane each, and shuffled to the
// others.
#include "compiler/mapping/walk/shuffle_loads.h"

#include <gtest/gtest.h>

#include "compiler/driver/compile.h"
#include "compiler/language.h"
#include "compiler/mapping/mapping.h"
#include "tests/emitting.h"

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
    return program.kernels.at(0).artefact.text.find("subgroupShuffle(") != std::string::npos;
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
            EXPECT_EQ(both(Session::interpreter(), own, others),
                      both(Session::oracle(), own, others))
                << own << " with " << others;
}

TEST(DealLoads, ACpuHandsRoundWhatAllLanesRead) {
    for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()}) {
        SessionScope scope(emitting(profile));
        auto program = compile(pairs, {f32(4096), f32(4096)}).program();
        EXPECT_EQ(hands_round(*program), profile.device_class == DeviceClass::CpuDriver);
    }
}

/// The gradient by the weights of 3 by 3 windows, of 64 pictures with rows of so many pixels,
/// behind a mask. Tiles of many filters keep all cores busy; lanes share the sums of few.
Mapping mapping_of_rows(int64_t row, int64_t filters) {
    SessionScope scope(emitting(cpu_profile()));
    const auto products = [](Tensor g, Tensor x) {
        auto [o, c, p, q, b, i, j] =
            indices<7>({g.size(1), x.size(1), 3, 3, g.size(0), g.size(2), g.size(3)});
        const Tensor own = g(b, o, i, j);
        return sum(select(own == 0.0f, 0.0f, own * zero(x)(b, c, i + p - 1, j + q - 1)),
                   {.axis = {4, 5, 6}});
    };
    const auto f = compile(products, {f32(64, filters, row, row), f32(64, 16, row, row)});
    return *parse_mapping(f.program()->kernels.at(0).mapping);
}

TEST(DealLoads, RowsThatBeginAnywhereInARoundOfLanesAreNotHandedRound) {
    EXPECT_EQ(mapping_of_rows(16, 256).shuffled_loads, 8u);
    const Mapping uneven = mapping_of_rows(14, 32);
    EXPECT_EQ(uneven.shuffled_loads, 1u);
    EXPECT_LT(uneven.copies() * uneven.unroll, 128);
}

TEST(DealLoads, ALoopThatEachElementLeavesAloneKeepsItsLoads) {
    SessionScope scope(emitting());
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

/// A window of `taps` over `in` channels, for `out` of them; the weights are the same for all
/// places.
Tensor windows(Tensor x, Tensor w) {
    auto [o, i, c, t] = indices<4>({w.size(0), x.size(1), x.size(0), w.size(2)});
    return sum(zero(x)(c, i + t - 1) * w(o, c, t), {.axis = {2, 3}});
}
std::vector<float> windowed(const Session& session, int out, int in, int places) {
    SessionScope scope(session);
    return windows(reshape(tensor(numbers(in * places)), {in, places}),
                   reshape(tensor(numbers(out * in * 3)), {out, in, 3}))
        .to_vector<float>();
}

TEST(DealLoads, CopiesOfATileHandRoundWhatTheyRead) {
    SessionScope scope(emitting());
    EXPECT_TRUE(hands_round(*compile(windows, {f32(16, 4096), f32(32, 16, 3)}).program()));
    for (int out : {8, 32, 12})
        for (int places : {4096, 1001})
            EXPECT_EQ(windowed(Session::interpreter(), out, 5, places),
                      windowed(Session::oracle(), out, 5, places))
                << out << ", " << places;
}

}  // namespace
}  // namespace firn
