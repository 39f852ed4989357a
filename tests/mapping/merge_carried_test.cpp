// Equal carried values of a loop are merged, and the loop gives the same results.
#include "compiler/mapping/before/merge_carried.h"

#include <gtest/gtest.h>

namespace firn {
namespace {

/// A loop of 8 iterations over `body`, which has the arguments %4, %5 and %6 that begin with
/// `inits`, and the index k0; its results are stored side by side.
KernelCode loop_of(const std::string& inits, const std::string& body) {
    return parse_kernel(
        "kernel\n  b0 f32[8] storage of 0\n  b1 f32[3] storage written of 1\n"
        "  k0 serial < 8 count 8 most 8\n  leaves %0 k0 in 0 7, %1 0.0, %2 8, %3 1.0, %30 0, %31 "
        "1, %32 2,\n{\n"
        "  %20 = For k0 " +
        inits + " {\n    arg %4 f32\n    arg %5 f32\n    arg %6 f32\n" + body +
        "  }\n  %21 = Result f32 %20\n  ! %22 = Store f32 b1 0 %21\n"
        "  %23 = Result f32 #1 %20\n  ! %24 = Store f32 b1 1 %23\n"
        "  %25 = Result f32 #2 %20\n  ! %26 = Store f32 b1 2 %25\n}\n");
}

size_t carried(const KernelCode& code) {
    for (const KernelNode& n : code.nodes)
        if (n.op == KernelOp::For) return n.args.size();
    return 0;
}

TEST(MergeCarried, SumsThatAreEqualAreOne) {
    const KernelCode code = loop_of("0.0 0.0 0.0",
                                    "    %7 = Load f32 b0 k0\n    %8 = Add f32 %4 %7\n"
                                    "    %9 = Add f32 %5 %7\n    %10 = Add f32 %6 %7\n"
                                    "    yield %8 %9 %10\n");
    EXPECT_EQ(carried(merge_carried(code, {})), 1u);
}

TEST(MergeCarried, SumsThatBeginApartStay) {
    const KernelCode code = loop_of("0.0 1.0 0.0",
                                    "    %7 = Load f32 b0 k0\n    %8 = Add f32 %4 %7\n"
                                    "    %9 = Add f32 %5 %7\n    %10 = Add f32 %6 %7\n"
                                    "    yield %8 %9 %10\n");
    EXPECT_EQ(carried(merge_carried(code, {})), 2u);
}

TEST(MergeCarried, ValuesThatIterationsChangeOtherwiseStay) {
    const KernelCode code = loop_of("0.0 0.0 0.0",
                                    "    %7 = Load f32 b0 k0\n    %8 = Add f32 %4 %7\n"
                                    "    %9 = Add f32 %5 %7\n    %10 = Mul f32 %6 %7\n"
                                    "    yield %8 %9 %10\n");
    EXPECT_EQ(carried(merge_carried(code, {})), 2u);
}

TEST(MergeCarried, ValuesThatChangePlacesAreEqualWhileTheyBeginAlike) {
    const std::string iteration =
        "    %7 = Load f32 b0 k0\n    %8 = Add f32 %6 %7\n    yield %5 %6 %8\n";
    EXPECT_EQ(carried(merge_carried(loop_of("0.0 0.0 0.0", iteration), {})), 3u);
    EXPECT_EQ(carried(merge_carried(loop_of("0.0 0.0 0.0", "    yield %5 %6 %4\n"), {})), 1u);
    EXPECT_EQ(carried(merge_carried(loop_of("0.0 1.0 0.0", "    yield %5 %6 %4\n"), {})), 3u);
}

}  // namespace
}  // namespace firn
