// Long chains of values, each computed from the one before: neither the stack nor time runs out.
#include <cstdlib>

#include "tests/frontend/oracle_session.h"

namespace firn {
namespace {

constexpr int kMillion = 500'000;  // steps of two nodes each
constexpr int kChain = 10'000;

/// Steps of chains that are compiled: FIRN_CHAIN_STEPS, else what takes seconds.
int compiled_steps() {
    const char* asked = std::getenv("FIRN_CHAIN_STEPS");
    return asked ? std::atoi(asked) : 50'000;
}

/// x / 2 + 1, so many times: it comes to 2.
Tensor halved(Tensor x, int steps) {
    for (int k = 0; k < steps; ++k) x = x * 0.5f + 1.0f;
    return x;
}

class LongChains : public ::testing::TestWithParam<const char*> {
  protected:
    static Session session_of(const std::string& name) {
        if (name == "oracle") return Session::oracle();
        return Session::interpreter(name == "gpu" ? gpu_profile() : cpu_profile());
    }
    SessionScope scope_{session_of(GetParam())};
};
INSTANTIATE_TEST_SUITE_P(Executors, LongChains, ::testing::Values("oracle", "cpu", "gpu"),
                         [](const auto& info) { return info.param; });

TEST_P(LongChains, InALoop) {
    Tensor x = tensor({1.0f, 5.0f});
    for (Tensor t : loop(2)) x = halved(x, kChain);
    EXPECT_EQ(x.to_vector<float>(), (Floats{2, 2}));
}

TEST_P(LongChains, InABranch) {
    Tensor x = tensor({1.0f, 5.0f});
    if_(x > 3.0f, [&] { x = halved(x, kChain); });
    EXPECT_EQ(x.to_vector<float>(), (Floats{1, 2}));
}

TEST_P(LongChains, InAKernelByHand) {
    Tensor c = zeros({3});
    kernel({3}, [&](Tensor i) { c(i) = halved(i.as(f32), kChain); });
    EXPECT_EQ(c.to_vector<float>(), (Floats{2, 2, 2}));
}

TEST_P(LongChains, OfReadsAtOtherPlaces) {
    Tensor x = arange(100).as(f32), i = arange(100);
    for (int k = 0; k < 300; ++k) x = x((i * 7 + k) % 100) + 1.0f;
    EXPECT_EQ(sum(x).item<float>(), 4950.0f + 300 * 100);
}

TEST_P(LongChains, OfReductions) {
    Tensor x = ones({4});
    for (int k = 0; k < 300; ++k) x = x + sum(x) * 0.25f - x;
    EXPECT_EQ(x.to_vector<float>(), Floats(4, 1));
}

TEST_P(LongChains, OfStores) {
    Tensor x = zeros({10}), which = arange(2);
    if_(which > 0, [&] {
        for (int k = 0; k < 300; ++k) x(which + k % 5) = x(k % 3) + 1.0f;
    });
    EXPECT_GT(sum(x).item<float>(), 0);
}

TEST_P(LongChains, OfAnIndexThatIsDoubled) {
    Tensor i = arange(4), u = tensor({7.0f, 2.0f, 3.0f, 4.0f}), stored = u;
    for (int k = 0; k < 200; ++k) i = i + i;
    EXPECT_EQ(u(i).to_vector<float>(), Floats(4, 7));
    stored(i) = 5.0f;
    EXPECT_EQ(stored.to_vector<float>(), (Floats{5, 2, 3, 4}));
    EXPECT_EQ(sum(select(i == arange(4), u, 0.0f)).item<float>(), 7);
}

TEST_P(LongChains, OfANumberThatIsDoubled) {
    auto f = compile(
        [](Tensor n, Tensor x) {
            for (int k = 0; k < 200; ++k) n = n + n;
            for (Tensor t : loop(n + 3)) x += 1.0f;
            return x + n.as(f32);
        },
        {i32(), f32("m")});
    EXPECT_EQ(f(5, zeros({2})).to_vector<float>(), (Floats{3, 3}));
}

TEST(LongChain, OfAMillionNodesIsEvaluatedAndLetGo) {
    Session session = Session::oracle();
    SessionScope scope(session);
    { EXPECT_EQ(halved(tensor({1.0f}), kMillion).to_vector<float>(), Floats{2}); }
    EXPECT_LT(session.node_count(), 10u);
}

TEST(LongChain, IsRealisedAsManyKernels) {
    SessionScope scope(Session::interpreter());
    EXPECT_EQ(halved(tensor({1.0f, 5.0f}), compiled_steps()).to_vector<float>(), (Floats{2, 2}));
}

TEST(LongChain, IsCompiledAsManyKernels) {
    SessionScope scope(Session::interpreter());
    auto f = compile([](Tensor x) { return halved(x, compiled_steps()); }, {f32("n")});
    EXPECT_EQ(f(tensor({1.0f, 5.0f, 7.0f})).to_vector<float>(), Floats(3, 2));
}

}  // namespace
}  // namespace firn
