// Which Loops give way to others.
#include <gtest/gtest.h>

#include "compiler/passes/passes.h"
#include "tests/passes/check.h"

namespace firn {
namespace {

/// Two loops over %1, of which the second adds up `kept` besides.
std::string twice(const std::string& end, const std::string& step, const std::string& kept) {
    return R"(graph(%0: f32[4], %1: i32 scalar, %2: i32 scalar) {
    %3: i32 = Constant 0
    %4: i32 = Constant 1
    %5 = Loop %3, %1, %4, %0 (%6: i32, %7: f32[4]) {
        %8: f32[4] = Sin %7
        yield %8
    }
    %9: f32[4] = Result %5 index=0
    %10: f32 = Constant 0.0
    %11: f32[4] = Expand %10
    %12 = Loop %3, )" +
           end +
           R"(, %4, %0, %11 (%13: i32, %14: f32[4], %15: f32[4]) {
        %16: f32[4] = )" +
           step + R"( %14
        %17: f32[4] = Add %15, )" +
           kept + R"(
        yield %16, %17
    }
    %18: f32[4] = Result %12 index=1
    return %9, %18
}
)";
}

TEST(ShareLoops, WhatAnotherDoesBesides) {
    check(share_loops, twice("%1", "Sin", "%14"),
          R"(graph(%0: f32[4], %1: i32 scalar, %2: i32 scalar) {
    %3: i32 = Constant 0
    %4: i32 = Constant 1
    %5: f32 = Constant 0.0
    %6: f32[4] = Expand %5
    %7 = Loop %3, %1, %4, %0, %6 (%8: i32, %9: f32[4], %10: f32[4]) {
        %11: f32[4] = Sin %9
        %12: f32[4] = Add %10, %9
        yield %11, %12
    }
    %13: f32[4] = Result %7 index=0
    %14: f32[4] = Result %7 index=1
    return %13, %14
}
)");
}

/// Equal ones, and those that are made of them.
TEST(ShareLoops, OfEqualOnesTheFirstStays) {
    const auto looped = [](int loop, const std::string& from) {
        const auto id = [&](int k) { return "%" + std::to_string(loop + k); };
        return "    " + id(0) + " = Loop %2, %1, %3, " + from + " (" + id(1) + ": i32, " + id(2) +
               ": f32[4]) {\n        " + id(3) + ": f32[4] = Sin " + id(2) + "\n        yield " +
               id(3) + "\n    }\n    " + id(4) + ": f32[4] = Result " + id(0) + " index=0\n";
    };
    const std::string head = R"(graph(%0: f32[4], %1: i32 scalar) {
    %2: i32 = Constant 0
    %3: i32 = Constant 1
)";
    check(share_loops,
          head + looped(4, "%0") + looped(9, "%8") + looped(14, "%0") + looped(19, "%18") +
              "    return %13, %23\n}\n",
          head + looped(4, "%0") + looped(9, "%8") + "    return %13, %13\n}\n");
}

TEST(ShareLoops, OthersStay) {
    check(share_loops, twice("%2", "Sin", "%14"), twice("%2", "Sin", "%14"));
    check(share_loops, twice("%1", "Cos", "%14"), twice("%1", "Cos", "%14"));
    // It needs the first one's result.
    check(share_loops, twice("%1", "Sin", "%9"), twice("%1", "Sin", "%9"));
}

}  // namespace
}  // namespace firn
