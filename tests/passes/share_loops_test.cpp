// Loops that other loops replace.
#include <gtest/gtest.h>

#include "compiler/ir/text.h"
#include "compiler/passes/passes.h"
#include "tests/passes/check.h"

namespace firn {
namespace {

/// Returns two loops over %1, of which the second also adds up `kept`.
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

/// Equal loops, and loops that use them.
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
    // The second loop needs the first one's result.
    check(share_loops, twice("%1", "Sin", "%9"), twice("%1", "Sin", "%9"));
}

/// Returns a loop of %1 iterations that contains another loop, which takes sines of `from`, with
/// values from %`first` on; `sums`: it also adds up what its iterations begin with.
std::string nested(int first, const std::string& from, bool sums) {
    const auto id = [&](int k) { return "%" + std::to_string(first + k); };
    const std::string own = id(2) + ": i32, " + id(3) + ": f32[4]",
                      inner = "        " + id(5) + " = Loop %2, %3, %3, " + id(3) + " (" + id(6) +
                              ": i32, " + id(7) + ": f32[4]) {\n            " + id(8) +
                              ": f32[4] = Sin " + id(7) + "\n            yield " + id(8) +
                              "\n        }\n        " + id(9) + ": f32[4] = Result " + id(5) +
                              " index=0\n";
    const std::string more = "        " + id(10) + ": f32[4] = Add " + id(4) + ", " + id(3) + "\n";
    return "    " + id(1) + " = Loop %2, %1, %3, " + from + (sums ? ", %5" : "") + " (" + own +
           (sums ? ", " + id(4) + ": f32[4]" : "") + ") {\n" + inner + (sums ? more : "") +
           "        yield " + id(9) + (sums ? ", " + id(10) : "") + "\n    }\n    " + id(11) +
           ": f32[4] = Result " + id(1) + " index=0\n" +
           (sums ? "    " + id(12) + ": f32[4] = Result " + id(1) + " index=1\n" : "");
}

const char* const kNestedHead = R"(graph(%0: f32[4], %1: i32 scalar) {
    %2: i32 = Constant 0
    %3: i32 = Constant 1
    %4: f32 = Constant 0.0
    %5: f32[4] = Expand %4
)";

/// Returns the graph after the pass as text.
std::string shared(const std::string& named) {
    NodeTable table;
    return print(share_loops(table, parse(table, numbered(named)), nullptr));
}

int64_t count_of(const std::string& text, const std::string& what) {
    int64_t count = 0;
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
        ++count;
    return count;
}

TEST(ShareLoops, LoopsInTheirIterationsAreCompared) {
    const std::string both = kNestedHead + nested(100, "%0", false) + nested(200, "%0", true);
    EXPECT_EQ(count_of(shared(both + "    return %111, %212\n}\n"), " = Loop "), 2);
    std::string other = both + "    return %111, %212\n}\n";
    other.replace(other.rfind("Sin"), 3, "Cos");
    EXPECT_EQ(count_of(shared(other), " = Loop "), 4);
}

/// Two pairs, the second of which begins with a branch's value of the first pair's result.
TEST(ShareLoops, WhatStandsBetweenThemIsThereOnce) {
    const std::string branch = R"(    %300: bool = Less %2, %1
    %301 = If %300 {
        %302: f32[4] = Exp %111
        yield %302
    } else {
        yield %111
    }
    %303: f32[4] = Result %301 index=0
)";
    const std::string after =
        shared(kNestedHead + nested(100, "%0", false) + nested(200, "%0", true) + branch +
               nested(400, "%303", false) + nested(500, "%303", true) +
               "    return %212, %303, %411, %512\n}\n");
    EXPECT_EQ(count_of(after, " = If "), 1);
    EXPECT_EQ(count_of(after, " = Loop "), 4);
}

TEST(ShareLoops, EqualKernelsByHandAreOne) {
    const auto kernel = [](int first) {
        const auto id = [&](int k) { return "%" + std::to_string(first + k); };
        return "    " + id(0) + " = Loop %2, %3, %3, %0 by_hand grid=[4] group=[4] (" + id(1) +
               ": i32, " + id(2) + ": f32[4]) {\n        " + id(3) + ": i32[4] = Invocation " +
               id(1) + " axis=0\n        " + id(4) + ": f32[4] = Cast " + id(3) + "\n        " +
               id(5) + ": f32[4] = Scatter " + id(2) + ", " + id(4) + ", " + id(3) +
               " op=last by_hand\n        yield " + id(5) + "\n    }\n    " + id(6) +
               ": f32[4] = Result " + id(0) + " index=0\n";
    };
    const std::string after =
        shared(kNestedHead + kernel(10) + kernel(20) + "    return %16, %26, %1\n}\n");
    EXPECT_EQ(count_of(after, " = Loop "), 1);
}

}  // namespace
}  // namespace firn
