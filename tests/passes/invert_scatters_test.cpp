// Combining stores that become reads from their target's side.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "compiler/ir/text.h"
#include "compiler/passes/passes.h"
#include "tests/passes/check.h"

namespace firn {
namespace {

int inverted(const std::string& text) {
    NodeTable table;
    RuleCounts fired;
    invert_scatters(table, parse(table, text), &fired);
    return fired.empty() ? 0 : fired.begin()->second;
}

/// Integers: the order of sums does not matter, so that the results are equal.
std::string scatter_text(const std::string& op, const std::string& index,
                         const std::string& target = "7") {
    const auto last = 1 + std::count(index.begin(), index.end(), '\n');
    const std::string made = "%" + std::to_string(last + 1);
    return "graph(%0: i32[" + target + "], %1: i32[7, 3]) {\n" + index + "    " + made + ": i32[" +
           target + "] = Scatter %0, %1, %" + std::to_string(last) + " op=" + op + "\n    return " +
           made + "\n}\n";
}
const std::string kSum = R"(    %2: i32[7, 3] = Index axis=0
    %3: i32[7, 3] = Index axis=1
    %4: i32[7, 3] = Add %2, %3
)";
const std::string kEveryOther = R"(    %2: i32[7, 3] = Index axis=0
    %3: i32[7, 3] = Index axis=1
    %4: i32 = Constant 2
    %5: i32[7, 3] = Expand %4
    %6: i32[7, 3] = Mul %2, %5
    %7: i32[7, 3] = Sub %6, %3
)";
const std::string kReversed = R"(    %2: i32[7, 3] = Index axis=0
    %3: i32[7, 3] = Neg %2
    %4: i32 = Constant 6
    %5: i32[7, 3] = Expand %4
    %6: i32[7, 3] = Add %3, %5
)";

TEST(InvertScatters, SumsOfIndicesBecomeAReductionOverTheRest) {
    check(invert_scatters, scatter_text("add", kSum), R"(graph(%0: i32[7], %1: i32[7, 3]) {
    %2: i32[7, 3] = Index axis=0
    %3: i32 = Constant 0
    %4: i32[7, 3] = Expand %3
    %5: i32[7, 3] = Sub %2, %4
    %6: i32[7, 3] = Index axis=1
    %7: i32 = Constant 1
    %8: i32[7, 3] = Expand %7
    %9: i32[7, 3] = Mul %6, %8
    %10: i32[7, 3] = Sub %5, %9
    %11: i32[7, 3] = Gather %1, %10, %6 modes=[constant, constant] fill=0
    %12: i32[7] = Reduce %11 op=sum axes=[1]
    %13: i32[7] = Add %0, %12
    return %13
}
)");
}

/// `3 * %2 + %3 - 1`: the digits of a number, as pixels of windows side by side.
const std::string kDigits = R"(    %2: i32[7, 3] = Index axis=0
    %3: i32[7, 3] = Index axis=1
    %4: i32 = Constant 3
    %5: i32[7, 3] = Expand %4
    %6: i32[7, 3] = Mul %2, %5
    %7: i32[7, 3] = Add %6, %3
    %8: i32 = Constant 1
    %9: i32[7, 3] = Expand %8
    %10: i32[7, 3] = Sub %7, %9
)";
/// The same with windows that overlap, and with gaps between them.
std::string with_stride(int stride) {
    std::string out = kDigits;
    return out.replace(out.find("Constant 3"), 10, "Constant " + std::to_string(stride));
}

TEST(InvertScatters, EveryFormKeepsItsValues) {
    for (const char* op : {"add", "mul", "min", "max"})
        for (const std::string& index :
             {kSum, kEveryOther, kReversed, kDigits, with_stride(2), with_stride(4)})
            for (const char* target : {"1", "7", "16"}) {
                NodeTable table;
                const std::string text = print(parse(table, scatter_text(op, index, target)));
                ASSERT_EQ(inverted(text), 1) << text;
                check(invert_scatters, text, print(invert_scatters(table, parse(table, text))));
            }
}

/// Iterations that each element of the target sums up.
std::string summed_over(const std::string& index) {
    NodeTable table;
    const Graph graph = invert_scatters(table, parse(table, scatter_text("add", index, "16")));
    for (const Ref& node : topological(graph.results))
        if (node->op == Op::Reduce) return node->inputs[0]->shape.back().text();
    return "nothing";
}

TEST(InvertScatters, DigitsAreReadInsteadOfSummedOver) {
    EXPECT_EQ(summed_over(kDigits), "nothing");
    EXPECT_EQ(summed_over(with_stride(4)), "nothing");
}

TEST(InvertScatters, TheShorterAxisIsSummedOver) {
    EXPECT_EQ(summed_over(with_stride(2)), "3");
    EXPECT_EQ(summed_over(kEveryOther), "3");
}

TEST(InvertScatters, WhatIsNotSolvedStays) {
    EXPECT_EQ(inverted(scatter_text("or", kSum)), 0);
    // Both axes are in both equations.
    EXPECT_EQ(inverted(R"(graph(%0: i32[9, 9], %1: i32[7, 3]) {
    %2: i32[7, 3] = Index axis=0
    %3: i32[7, 3] = Index axis=1
    %4: i32[7, 3] = Add %2, %3
    %5: i32[7, 3] = Sub %2, %3
    %6: i32[9, 9] = Scatter %0, %1, %4, %5 op=add
    return %6
}
)"),
              0);
}

TEST(InvertScatters, AFewPlacesOfALargeTargetAreStored) {
    EXPECT_EQ(inverted(scatter_text("add", kSum, "1000")), 0);
    EXPECT_EQ(inverted(scatter_text("add", kSum, "n")), 0);
}

}  // namespace
}  // namespace firn
