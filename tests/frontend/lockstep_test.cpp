// Shaped conditions as masked lockstep: stores, and reads by neighbours and sums.
#include "tests/frontend/lockstep_programs.h"
#include "tests/frontend/oracle_session.h"
#include "tests/ir/random_check.h"

namespace firn {
namespace {

class Lockstep : public ::testing::TestWithParam<int> {
  protected:
    static Session of(int executor) {
        if (executor == 0) return Session::oracle();
        return executor == 1 ? Session::interpreter() : Session::interpreter(gpu_profile());
    }
    static void check(const lockstep::Program& program) {
        lockstep::Native native;
        native.run(program);
        lockstep::Recorded recorded;
        recorded.record(program);
        ASSERT_EQ(recorded.w.to_vector<int>(), Ints(native.w.begin(), native.w.end()))
            << lockstep::text(program);
        ASSERT_EQ(recorded.y.to_vector<int>(), Ints(native.y.begin(), native.y.end()))
            << lockstep::text(program);
    }
    Session session_ = of(GetParam());
    SessionScope scope_{session_};
};
std::string executor_name(const ::testing::TestParamInfo<int>& info) {
    const char* names[] = {"oracle", "cpu", "gpu"};
    return names[info.param];
}
INSTANTIATE_TEST_SUITE_P(Executors, Lockstep, ::testing::Range(0, 3), executor_name);

TEST_P(Lockstep, StoresReachEveryPlaceBesideAnAssignment) {
    Tensor i = arange(6), w = i * 0;
    if_(i < 3, [&] {
        w = w + 1;
        w(5 - i) = 5;
    });
    EXPECT_EQ(w.to_vector<int>(), (Ints{1, 1, 1, 5, 5, 5}));
}

TEST_P(Lockstep, NeighboursReadWhatInactiveElementsHad) {
    Tensor i = arange(6), w = arange(6), y = i * 0, s = i * 0;
    if_(i < 3, [&] {
        w = w + 10;
        y = w(i + 1);
        s = sum(w);
    });
    EXPECT_EQ(y.to_vector<int>(), (Ints{11, 12, 3, 0, 0, 0}));
    EXPECT_EQ(s.to_vector<int>(), (Ints{45, 45, 45, 0, 0, 0}));
}

TEST_P(Lockstep, NeighboursOfElementsThatLeftReadWhatTheyHad) {
    for (bool skip : {false, true}) {
        Tensor i = arange(6), w = arange(6), y = i * 0;
        for (Tensor t : loop(1)) {
            if_(i >= 3, [&] { skip ? continue_() : break_(); });
            w = w + 10 + t;
            y = w(i + 1);
        }
        EXPECT_EQ(y.to_vector<int>(), (Ints{11, 12, 3, 0, 0, 0}));
    }
}

TEST_P(Lockstep, AConditionThatTakesAShapeLaterMasksToo) {
    // `count` is one number where the condition is recorded, and one for each element when the loop
    // closes.
    Tensor i = arange(6), count = 0, w = arange(6), y = i * 0;
    for ([[maybe_unused]] Tensor t : loop(2)) {
        if_(
            count < 3, [&] { w = w + 10, y = w(i + 1); }, [&] { w = w - 1, w(5 - i) = w; });
        count = count + i;
    }
    lockstep::Array w0{0, 1, 2, 3, 4, 5}, y0{};
    for (int k = 0; k < 6; ++k) w0[size_t(k)] += 10;
    for (int k = 0; k < 6; ++k) y0[size_t(k)] = w0[size_t(std::min(k + 1, 5))];
    for (int k = 0; k < 3; ++k) w0[size_t(k)] += 10;
    for (int k = 0; k < 3; ++k) y0[size_t(k)] = w0[size_t(k + 1)];
    for (int k = 3; k < 6; ++k) w0[size_t(k)] -= 1;
    const lockstep::Array before = w0;
    for (int k = 3; k < 6; ++k) w0[size_t(5 - k)] = before[size_t(k)];
    EXPECT_EQ(w.to_vector<int>(), Ints(w0.begin(), w0.end()));
    EXPECT_EQ(y.to_vector<int>(), Ints(y0.begin(), y0.end()));
}

TEST_P(Lockstep, EveryPairOfStatementsInEveryPlace) {
    for (const lockstep::Program& program : lockstep::all_pairs()) check(program);
}

TEST_P(Lockstep, RandomPrograms) {
    const RandomSeeds seeds = random_seeds(0, GetParam() == 0 ? 400 : 60);
    for (uint64_t seed = seeds.first; seed < seeds.first + seeds.count && !HasFatalFailure();
         ++seed) {
        SCOPED_TRACE(seed);
        check(lockstep::Generator(static_cast<unsigned>(seed)).block(3, false));
    }
}

}  // namespace
}  // namespace firn
