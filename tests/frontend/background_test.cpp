// Programs for new sizes are compiled in the background while one that assumes less serves the
// calls.
#include <memory>
#include <string>
#include <vector>

#include "compiler/ir/substitute.h"
#include "compiler/program/vulkan_limits.h"
#include "tests/frontend/oracle_session.h"

namespace firn {
namespace {

class Background : public ::testing::Test {
  protected:
    Background() {
        session.compile_in_background(true);
        session.specialise(false);
    }
    Session session = Session::interpreter();
    SessionScope scope{session};
};

auto row_sums() {
    return compile([](Tensor x) { return sum(x, {.axis = 1}); }, {f32("n", "m")});
}

TEST_F(Background, TheFirstCallCompilesWhatFits) {
    auto sums = row_sums();
    EXPECT_EQ(sums(ones({64, 64})).to_vector<float>(), Floats(64, 64.0f));
    EXPECT_FALSE(sums.stats().better_is_compiling);
    EXPECT_EQ(sums.explain().find("in the background"), std::string::npos);
}

TEST_F(Background, OtherSizesAreServedAtOnceAndBetterLater) {
    auto sums = row_sums();
    sums(ones({64, 64}));
    const auto first = sums.program();
    EXPECT_EQ(sums(ones({3, 1000})).to_vector<float>(), Floats(3, 1000.0f));
    EXPECT_TRUE(sums.stats().better_is_compiling);
    EXPECT_NE(sums.explain().find("compiled in the background"), std::string::npos);
    const auto general = sums.program();
    EXPECT_NE(general, first);
    sums.finish_compiling();
    EXPECT_EQ(sums(ones({3, 1000})).to_vector<float>(), Floats(3, 1000.0f));
    EXPECT_FALSE(sums.stats().better_is_compiling);
    EXPECT_NE(sums.program(), general);
}

TEST_F(Background, AProgramWhoseAssumptionsHoldServes) {
    auto sums = row_sums();
    sums(ones({256, 256}));
    const auto first = sums.program();
    sums.finish_compiling();
    EXPECT_EQ(sums(ones({16, 64})).to_vector<float>(), Floats(16, 64.0f));
    const auto general = sums.program();
    EXPECT_NE(general, first) << "16 is no multiple of 64";
    EXPECT_EQ(sums(ones({128, 192})).to_vector<float>(), Floats(128, 192.0f));
    EXPECT_EQ(sums.program(), first);
}

TEST_F(Background, SizesThatComeAgainGetAProgramOfTheirOwn) {
    session.specialise(true);
    auto sums = row_sums();
    const auto call = [&](int n) {
        EXPECT_EQ(sums(ones({n, 1000})).to_vector<float>(),
                  Floats(static_cast<size_t>(n), 1000.0f));
        sums.finish_compiling();
        return sums.program();
    };
    const auto first = call(64);
    EXPECT_EQ(call(64), first);
    const auto general = call(70), coarse = call(70), own = call(70);
    EXPECT_NE(general, first);
    EXPECT_NE(own, general);
    EXPECT_NE(own, coarse);
    EXPECT_EQ(call(70), own);
    EXPECT_FALSE(sums.stats().better_is_compiling);
    EXPECT_EQ(call(64), first);
}

TEST_F(Background, ExplainAndTuneTakeTheProgramThatFits) {
    auto sums = row_sums();
    sums(ones({64, 64}));
    sums.explain({ones({3, 1000})});
    EXPECT_FALSE(sums.stats().better_is_compiling);
}

TEST_F(Background, MemoryIsGivenAwayToo) {
    auto step = compile([](Tensor x) { return x + 1; }, {f32("n")});
    Tensor x = zeros({64});
    for (int n = 0; n < 6; ++n) {
        x = step(std::move(x));
        Tensor other = zeros({n + 1});
        other = step(std::move(other));
        EXPECT_EQ(other.to_vector<float>(), Floats(static_cast<size_t>(n + 1), 1.0f));
    }
    EXPECT_EQ(x.to_vector<float>(), Floats(64, 6.0f));
}

TEST_F(Background, ManySizesInARow) {
    auto sums = row_sums();
    for (int n = 1; n < 200; n += 7)
        EXPECT_EQ(sums(ones({n, 5})).to_vector<float>(), Floats(static_cast<size_t>(n), 5.0f));
    sums.finish_compiling();
    EXPECT_EQ(sums(ones({8, 5})).to_vector<float>(), Floats(8, 5.0f));
}

TEST_F(Background, ASessionMayEndWhileItCompiles) {
    for (int k = 0; k < 5; ++k) {
        const Session own = Session::interpreter();
        own.compile_in_background(true);
        SessionScope inside(own);
        auto sums = row_sums();
        sums(ones({64, 64}));
        sums(ones({3, 5}));
    }
}

// A gradient rule holds tensors of a session, which must not end on the thread that compiles.
TEST_F(Background, WhatItCompilesHoldsNoRulesOfGradients) {
    NodeTable table;
    Graph copy;
    std::weak_ptr<int> held;
    {
        const auto token = std::make_shared<int>(1);
        held = token;
        const auto twice = compile(
            [&](Tensor x) {
                return custom_gradient([](const auto& xs) { return 2.0f * xs[0]; }, {x},
                                       [token](const auto&, const Tensor&, const Tensor& g) {
                                           return std::vector<Tensor>{2.0f * g};
                                       });
            },
            {f32("n")});
        copy = copied_graph(table, twice.graph());
    }
    EXPECT_TRUE(held.expired());
    EXPECT_EQ(copy.results.size(), 1u);
}

// --- sizes beyond the fastest binding

constexpr int kOfATexelView = 64, kOfAStorageBuffer = 256;  // f32 that one of them takes

DeviceProfile with_small_bindings(bool addresses) {
    DeviceProfile profile = least(cpu_profile());
    profile.max_view_elements = kOfATexelView;
    profile.max_storage_range = 4 * kOfAStorageBuffer;
    profile.buffer_addresses = addresses;
    return profile;
}

auto with_neighbours() {
    return compile([](Tensor x) { return x(arange(x.size(0)) + 1) + 2.0f * x; }, {f32("n")});
}

template <class Fn>
void expect_right(const Fn& function, int n) {
    std::vector<float> x(static_cast<size_t>(n)), expected;
    for (size_t k = 0; k < x.size(); ++k) x[k] = static_cast<float>(k % 100);
    for (size_t k = 0; k < x.size(); ++k)
        expected.push_back(x[std::min(k + 1, x.size() - 1)] + 2 * x[k]);
    EXPECT_EQ(function(tensor(x)).template to_vector<float>(), expected) << n;
}

TEST(BackgroundBindings, SizesBeyondTheFastestBindingAlternateWithSmallOnes) {
    for (bool waits : {false, true}) {
        const Session session = Session::interpreter(with_small_bindings(true));
        session.compile_in_background(true);
        SessionScope scope(session);
        auto neighbours = with_neighbours();
        for (int n : {40, 100, 41, 1000, 64, 63, 256, 300, 40, 1000, 5000, 257, 3, 8, 1})
            for (int again = 0; again < 2; ++again) {
                expect_right(neighbours, n);
                if (waits) neighbours.finish_compiling();
            }
        const auto small = neighbours.program();
        expect_right(neighbours, 1000);
        EXPECT_NE(neighbours.program(), small);
    }
}

TEST(BackgroundBindings, WhatNoBindingTakesIsRefusedAndSmallSizesGoOn) {
    const Session session = Session::interpreter(with_small_bindings(false));
    session.compile_in_background(true);
    SessionScope scope(session);
    auto neighbours = with_neighbours();
    for (int round = 0; round < 3; ++round) {
        expect_right(neighbours, 40);
        expect_right(neighbours, 200);
        expect_parts(user_error([&] { neighbours(ones({300})).to_vector<float>(); }),
                     {"binds 1024 at once", "split the tensor", "background_test.cpp:"});
        neighbours.finish_compiling();
    }
}

TEST(BackgroundOff, InterpretersCompileAsTheyAreCalled) {
    SessionScope scope(Session::interpreter());
    auto sums = row_sums();
    sums(ones({64, 64}));
    sums(ones({3, 1000}));
    EXPECT_FALSE(sums.stats().better_is_compiling);
    EXPECT_EQ(sums.variant_count(), 2u);
}

}  // namespace
}  // namespace firn
