// Ifs that become Selects.
#include <gtest/gtest.h>

#include "compiler/passes/passes.h"
#include "tests/passes/check.h"

namespace firn {
namespace {

TEST(BranchesToSelect, APlainBranch) {
    check(branches_to_select, R"(graph(%0: bool, %1: f32[4], %2: f32) {
    %3 = If %0 {
        %4: f32[4] = Sin %1
        yield %4
    } else {
        yield %2
    }
    %5: f32[4] = Result %3 index=0
    return %5
}
)",
          R"(graph(%0: bool, %1: f32[4], %2: f32) {
    %3: bool[4] = Expand %0
    %4: f32[4] = Sin %1
    %5: f32[4] = Expand %2
    %6: f32[4] = Select %3, %4, %5
    return %6
}
)");
}

TEST(BranchesToSelect, NestedBranches) {
    check(branches_to_select, R"(graph(%0: bool[4], %1: bool[4], %2: f32[4]) {
    %3 = If %0 {
        %4 = If %1 {
            %5: f32[4] = Sin %2
            yield %5
        } else {
            yield %2
        }
        %6: f32[4] = Result %4 index=0
        yield %6
    } else {
        %7: f32[4] = Cos %2
        yield %7
    }
    %8: f32[4] = Result %3 index=0
    return %8
}
)",
          R"(graph(%0: bool[4], %1: bool[4], %2: f32[4]) {
    %3: f32[4] = Sin %2
    %4: f32[4] = Select %1, %3, %2
    %5: f32[4] = Cos %2
    %6: f32[4] = Select %0, %4, %5
    return %6
}
)");
}

const char* const kLoopInABranch = R"(graph(%0: bool%SHAPE%, %1: f32[4]) {
    %2 = If %0 {
        %3: i32 = Constant 0
        %4: i32 = Constant 3
        %5: i32 = Constant 1
        %6 = Loop %3, %4, %5, %1 (%7: i32, %8: f32[4]) {
            %9: f32[4] = Sin %8
            yield %9
        }
        %10: f32[4] = Result %6 index=0
        yield %10
    } else {
        yield %1
    }
    %11: f32[4] = Result %2 index=0
    return %11
}
)";
std::string with_shape(std::string text, const std::string& shape) {
    return text.replace(text.find("%SHAPE%"), 7, shape);
}

TEST(BranchesToSelect, AScalarConditionOverALoopStays) {
    std::string text = with_shape(kLoopInABranch, "");
    check(branches_to_select, text, text);
}

TEST(BranchesToSelect, AShapedConditionOverALoopBecomesASelect) {
    check(branches_to_select, with_shape(kLoopInABranch, "[4]"), R"(graph(%0: bool[4], %1: f32[4]) {
    %2: i32 = Constant 0
    %3: i32 = Constant 3
    %4: i32 = Constant 1
    %5 = Loop %2, %3, %4, %1 (%6: i32, %7: f32[4]) {
        %8: f32[4] = Sin %7
        yield %8
    }
    %9: f32[4] = Result %5 index=0
    %10: f32[4] = Select %0, %9, %1
    return %10
}
)");
}

TEST(BranchesToSelect, AnUncheckedReadThatLosesItsConditionIsClamped) {
    check(branches_to_select, R"(graph(%0: bool, %1: f32[4, 3], %2: i32[3]) {
    %3 = If %0 {
        %4: i32 = Constant 3
        %5: i32[3] = Expand %4
        %6: i32[3] = And %2, %5
        %7: i32[3] = Index axis=0
        %8: f32[3] = Gather %1, %6, %7 modes=[unchecked, unchecked] fill=0.0
        yield %8
    } else {
        %9: f32 = Constant 0.0
        yield %9
    }
    %10: f32[3] = Result %3 index=0
    return %10
}
)",
          R"(graph(%0: bool, %1: f32[4, 3], %2: i32[3]) {
    %3: bool[3] = Expand %0
    %4: i32 = Constant 3
    %5: i32[3] = Expand %4
    %6: i32[3] = And %2, %5
    %7: i32[3] = Index axis=0
    %8: f32[3] = Gather %1, %6, %7 modes=[clamp, unchecked] fill=0.0
    %9: f32 = Constant 0.0
    %10: f32[3] = Expand %9
    %11: f32[3] = Select %3, %8, %10
    return %11
}
)");
}

TEST(BranchesToSelect, ABranchInsideALoop) {
    check(branches_to_select, R"(graph(%0: f32[4], %1: i32 scalar) {
    %2: i32 = Constant 0
    %3: i32 = Constant 1
    %4 = Loop %2, %1, %3, %0 (%5: i32, %6: f32[4]) {
        %7: bool = Less %5, %3
        %8 = If %7 {
            %9: f32[4] = Neg %6
            yield %9
        } else {
            yield %6
        }
        %10: f32[4] = Result %8 index=0
        yield %10
    }
    %11: f32[4] = Result %4 index=0
    return %11
}
)",
          R"(graph(%0: f32[4], %1: i32 scalar) {
    %2: i32 = Constant 0
    %3: i32 = Constant 1
    %4 = Loop %2, %1, %3, %0 (%5: i32, %6: f32[4]) {
        %7: bool = Less %5, %3
        %8: bool[4] = Expand %7
        %9: f32[4] = Neg %6
        %10: f32[4] = Select %8, %9, %6
        yield %10
    }
    %11: f32[4] = Result %4 index=0
    return %11
}
)");
}

}  // namespace
}  // namespace firn
