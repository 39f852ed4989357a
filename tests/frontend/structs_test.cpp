// Structs of tensors as what functions take and give.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <tuple>
#include <utility>

#include "compiler/base/error.h"
#include "compiler/language.h"

namespace firn {
namespace {

struct Wind {
    vec2 speed;
    Tensor strength;
};
struct State {
    Tensor u, v;
    Wind wind;
    std::array<Tensor, 2> sums;
};
static_assert(Results<State>::count == 7);
static_assert(kMembers<State> == 4 && kMembers<Wind> == 2);

State stepped(State s, const Tensor& dt) {
    const Tensor moved = s.u + dt * s.v * s.wind.strength + s.wind.speed.x;
    return {
        moved, s.v - dt * moved, {s.wind.speed * 2.0f, s.wind.strength}, {sum(moved), s.sums[0]}};
}

State start() {
    return {tensor({1.0f, 2.0f}),
            tensor({0.5f, -1.0f}),
            {vec2(0.25f, 4.0f), Tensor(2.0f)},
            {Tensor(0.0f), Tensor(9.0f)}};
}

std::vector<ArgSpec> specs() {
    return {f32("n"), f32("n"), f32(), f32(), f32(), f32(), f32(), f32()};
}

void expect_first(const State& s) {
    EXPECT_EQ(s.u.to_vector<float>(), (std::vector<float>{1.75f, 1.25f}));
    EXPECT_EQ(s.v.to_vector<float>(), (std::vector<float>{-0.375f, -1.625f}));
    EXPECT_EQ(s.wind.speed.y.item<float>(), 8);
    EXPECT_EQ(s.sums[0].item<float>(), 3);
    EXPECT_EQ(s.sums[1].item<float>(), 0);
}

class Structs : public testing::TestWithParam<bool> {
  protected:
    SessionScope scope{GetParam() ? Session::interpreter(gpu_profile()) : Session::oracle()};
};
INSTANTIATE_TEST_SUITE_P(Executors, Structs, testing::Bool(), [](const auto& row) {
    return std::string(row.param ? "interpreter" : "oracle");
});

TEST_P(Structs, AreTakenAndGivenByCompiledFunctions) {
    const auto step = compile_arity<8>([](State s, Tensor dt) { return stepped(std::move(s), dt); },
                                       specs(), here());
    expect_first(step(start(), 0.5f));
}

TEST_P(Structs, AreTakenAndGivenByJit) {
    auto step = jit([](State s, Tensor dt) { return stepped(std::move(s), dt); });
    expect_first(step(start(), 0.5f));
    const auto twice = compile(
        [&](Tensor u, Tensor v) {
            State s = start();
            s.u = u, s.v = v;
            return step(step(s, 0.5f), 0.5f);
        },
        {f32("n"), f32("n")});
    State by_hand = stepped(stepped(start(), 0.5f), 0.5f);
    EXPECT_EQ(twice(start().u, start().v).u.to_vector<float>(), by_hand.u.to_vector<float>());
    EXPECT_EQ(step.shape_count(), 1u);
}

TEST_P(Structs, AreGivenAwayWhereTheyAreMovedIn) {
    const auto step = compile_arity<8>([](State s, Tensor dt) { return stepped(std::move(s), dt); },
                                       specs(), here());
    State s = start();
    realize(s.u, s.v);
    s = step(std::move(s), 0.5f);
    expect_first(s);
    State other = start();
    realize(other.u, other.v);
    const State next = step(std::move(other), 0.5f);
    expect_first(next);
    EXPECT_THROW(other.u.to_vector<float>(), UserError);  // it has no value any more
    State kept = start();
    expect_first(step(kept, 0.5f));
    EXPECT_EQ(kept.u.to_vector<float>(), (std::vector<float>{1, 2}));
}

TEST_P(Structs, StandInTuplesAndPairs) {
    const auto both = compile(
        [](Tensor x) {
            return std::pair{Wind{vec2(x, 2.0f * x), x + 1.0f}, x};
        },
        {f32()});
    const auto [wind, x] = both(3.0f);
    EXPECT_EQ(wind.speed.y.item<float>(), 6);
    EXPECT_EQ(wind.strength.item<float>(), 4);
    EXPECT_EQ(x.item<float>(), 3);
}

/// A member that is assigned later; its type is the function's signature.
struct Simulation {
    State now = start();
    Compiled<State(State, Tensor)> step;
};

TEST_P(Structs, AFunctionIsAMember) {
    Simulation simulation;
    simulation.step =
        compile(stepped, {f32("n"), f32("n"), f32(), f32(), f32(), f32(), f32(), f32()});
    const State next = simulation.step(simulation.now, 0.5f), expected = stepped(start(), 0.5f);
    EXPECT_EQ(next.u.to_vector<float>(), expected.u.to_vector<float>());
    EXPECT_EQ(next.sums[0].item<float>(), expected.sums[0].item<float>());
    Simulation copy = simulation;
    EXPECT_EQ(copy.step(copy.now, 0.5f).v.to_vector<float>(), expected.v.to_vector<float>());
}

TEST_P(Structs, AFunctionThatIsNotAssignedYetSaysSo) {
    Simulation simulation;
    Compiled<Tensor, 2> sum;
    const auto message = [](const auto& use) -> std::string {
        try {
            use();
        } catch (const UserError& error) {
            return error.what();
        }
        return "";
    };
    for (const std::string& each :
         {message([&] { simulation.step(simulation.now, 0.5f); }), message([&] { sum(1, 2); }),
          message([&] { sum.explain(); }), message([&] { sum.stats(); })})
        EXPECT_NE(each.find("before it is assigned; assign the result"), each.npos) << each;
}

/// Arguments by their names, with defaults.
struct Weather {
    Tensor wind = 1.0f, rain = 0.25f, heat = 0.0f;
};

TEST_P(Structs, NameArgumentsAndHaveDefaults) {
    auto step = compile([](Tensor x, Weather w) { return x * w.wind - w.rain + w.heat * 10.0f; },
                        {f32("n"), f32(), f32(), f32()});
    const Tensor x = tensor({1.0f, 2.0f});
    EXPECT_EQ(step(x, Weather{}).to_vector<float>(), (std::vector<float>{0.75f, 1.75f}));
    EXPECT_EQ(step(x, Weather{.wind = 3.0f, .heat = 0.5f}).to_vector<float>(),
              (std::vector<float>{7.75f, 10.75f}));
    EXPECT_EQ(step.variant_count(), 1u);  // they are numbers of the call
}

}  // namespace
}  // namespace firn
