// Programs by native code on each level of the processor, beside the oracle.
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "engine/firn/firn.h"

namespace firn {

/// A suite that runs on each level that this processor has: FIRN_CPU is the level.
class NativeLevel : public testing::TestWithParam<const char*> {
  protected:
    void SetUp() override {
        if (const std::string why = why_no_cpu_session(); !why.empty()) GTEST_SKIP() << why;
        setenv("FIRN_CPU", GetParam(), 1);
        try {
            cpu_session();
        } catch (const UserError& error) {
            GTEST_SKIP() << error.what();
        }
    }
    void TearDown() override { unsetenv("FIRN_CPU"); }

    /// The numbers of a program by native code and by the oracle are the same.
    template <class F>
    static void expect_equal(const std::string& what, const F& program) {
        std::vector<double> expected, got;
        {
            SessionScope scope(Session::oracle());
            expected = program().template to_vector<double>();
        }
        {
            SessionScope scope(cpu_session());
            got = program().template to_vector<double>();
        }
        EXPECT_EQ(got, expected) << what;
    }
};

inline auto native_levels() { return testing::Values("sse2", "avx2", "avx512"); }
inline std::string level_name(const testing::TestParamInfo<const char*>& level) {
    return level.param;
}

/// Numbers from 0 to 100 in memory, whose sums are exact.
inline Tensor small_numbers(const Shape& shape, DType type) {
    int64_t count = 1;
    for (const Size& size : shape) count *= size.constant();
    Tensor out = reshape(arange(int(count)) * 7 % 101, shape).as(type);
    realize(out);
    return out;
}

}  // namespace firn
