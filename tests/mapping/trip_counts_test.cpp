// Loops take all their iterations, however many at once.
#include <gtest/gtest.h>

#include "compiler/language.h"

namespace firn {
namespace {

// The end is a loop's result: it becomes a number when mapping writes that loop out.
TEST(TripCounts, OfALoopWhoseEndMappingFindsOut) {
    for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()})
        for (const int n : {0, 3, 4, 15, 16, 31, 40}) {
            SessionScope scope(Session::interpreter(profile));
            auto f = compile(
                [&](Tensor start) {
                    Tensor last = start, sum = 0;
                    for (Tensor k : loop(any(index({5}, 0)) + n)) {
                        last = k;
                        sum += k;
                    }
                    return stack({last, sum});
                },
                {i32()});
            EXPECT_EQ(f(-1).to_vector<int>(), (std::vector<int>{n, n * (n + 1) / 2}))
                << profile.name << " " << n;
        }
}

}  // namespace
}  // namespace firn
