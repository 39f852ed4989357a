// Programs for new sizes are compiled in the background while one that assumes less serves the
// calls.
#include <string>
#include <vector>

#include "tests/frontend/oracle_session.h"

namespace firn {
namespace {

class Background : public ::testing::Test {
  protected:
    Background() { session.compile_in_background(true); }
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
