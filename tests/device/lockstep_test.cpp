// Masked lockstep on the device, against plain arrays.
#include "tests/device/on_device.h"
#include "tests/frontend/lockstep_programs.h"

namespace firn {
namespace {

class LockstepOnDevice : public OnDevice {};

/// Several programs in one, so that the device is asked once for all of them.
void check(const std::vector<lockstep::Program>& programs) {
    std::vector<Tensor> got;
    std::vector<int> expected;
    std::string what;
    for (const lockstep::Program& program : programs) {
        lockstep::Recorded recorded;
        recorded.record(program);
        got.insert(got.end(), {recorded.w, recorded.y});
        lockstep::Native native;
        native.run(program);
        expected.insert(expected.end(), native.w.begin(), native.w.end());
        expected.insert(expected.end(), native.y.begin(), native.y.end());
        what += lockstep::text(program) + "\n";
    }
    ASSERT_EQ(stack(got).to_vector<int>(), expected) << what;
}

constexpr size_t kTogether = 5;

TEST_F(LockstepOnDevice, PairsOfStatements) {
    if (!session()) GTEST_SKIP() << "no device";
    SessionScope scope(*session());
    const std::vector<lockstep::Program> all = lockstep::all_pairs();
    std::vector<lockstep::Program> some;
    for (size_t k = 0; k < all.size() && !HasFatalFailure(); k += 23) {  // ten places for each pair
        some.push_back(all[k]);
        if (some.size() == kTogether) check(std::exchange(some, {}));
    }
    if (!HasFatalFailure() && !some.empty()) check(some);
}

TEST_F(LockstepOnDevice, RandomPrograms) {
    if (!session()) GTEST_SKIP() << "no device";
    SessionScope scope(*session());
    for (unsigned seed = 0; seed < 10 && !HasFatalFailure(); seed += kTogether) {
        std::vector<lockstep::Program> some;
        for (unsigned k = 0; k < kTogether; ++k)
            some.push_back(lockstep::Generator(seed + k).block(2, false));
        check(some);
    }
}

}  // namespace
}  // namespace firn
