// Stores that are known to have one position for each element.
#include <gtest/gtest.h>

#include <string>

#include "compiler/ir/text.h"
#include "compiler/passes/passes.h"
#include "tests/passes/check.h"

namespace firn {
namespace {

/// 512 positions x along an axis of 1024 places; `index` computes %at from them and from %s, an i32
/// that is the same for all.
bool is_distinct(const std::string& index) {
    NodeTable table;
    RuleCounts fired;
    const std::string text = numbered(
        "graph(%target: f32[1024], %s: i32, %values: f32[512]) {\n    %x: i32[512] = Index axis=0\n"
        "    %all: i32[512] = Expand %s\n" +
        index +
        "    %out: f32[1024] = Scatter %target, %values, %at op=last\n    return %out\n}\n");
    settle_stores(table, parse(table, text), &fired);
    EXPECT_EQ(fired["distinct positions"] + fired["read by owner"], 1) << text;
    return fired["distinct positions"] == 1;
}

std::string times(const std::string& factor) {
    return "    %f: i32 = Constant " + factor +
           "\n    %e: i32[512] = Expand %f\n    %at: i32[512] = Mul %x, %e\n";
}

/// x / d * k + x % d.
std::string blocks(const std::string& d, const std::string& k) {
    return d + "    %ds: i32[512] = Expand %d\n    %q: i32[512] = Div %x, %ds\n" + k +
           "    %ks: i32[512] = Expand %k\n    %high: i32[512] = Mul %q, %ks\n"
           "    %low: i32[512] = Mod %x, %ds\n    %at: i32[512] = Add %high, %low\n";
}
const std::string kPower = "    %1: i32 = Constant 1\n    %d: i32 = ShiftLeft %1, %s\n",
                  kTwice = "    %2: i32 = Constant 2\n    %k: i32 = Mul %2, %d\n";

TEST(SettleStores, MultiplesOfAnIndexAreDistinct) {
    EXPECT_TRUE(is_distinct(times("2")));
    EXPECT_TRUE(is_distinct(times("-3")));
    EXPECT_TRUE(is_distinct("    %at: i32[512] = Xor %x, %all\n"));
    EXPECT_FALSE(is_distinct("    %at: i32[512] = Mul %x, %all\n")) << "by 0 all are 0";
    EXPECT_FALSE(is_distinct("    %at: i32[512] = And %x, %all\n"));
    EXPECT_FALSE(is_distinct("    %at: i32[512] = Mul %x, %x\n"));
}

TEST(SettleStores, MultiplesThatGoAroundAreNot) {
    EXPECT_TRUE(is_distinct(times("8388608")));    // 2^23 * 512 = 2^32
    EXPECT_FALSE(is_distinct(times("16777216")));  // 2^24 * 256 is 0 again
    EXPECT_TRUE(is_distinct(times("16777215")));
}

TEST(SettleStores, PairsOfAButterflyAreDistinct) {
    const std::string shifted = "    %2: i32 = Constant 2\n    %k: i32 = ShiftLeft %2, %s\n";
    EXPECT_TRUE(is_distinct(blocks(kPower, kTwice)));
    EXPECT_TRUE(is_distinct(blocks(kPower, shifted)));
    EXPECT_TRUE(is_distinct(blocks("    %d: i32 = Constant 5\n", "    %k: i32 = Add %d, %d\n")));
}

/// x >> s << %b joined with x & (2^s - 1) by `join`, as %low; then `rest`. `by`: %b, else it is %s.
std::string by_bits(const std::string& by, const std::string& join, const std::string& rest) {
    return kPower + "    %ss: i32[512] = Expand %s\n    %q: i32[512] = ShiftRight %x, %ss\n" + by +
           "    %bs: i32[512] = Expand " + (by.empty() ? "%s" : "%b") +
           "\n    %high: i32[512] = ShiftLeft %q, %bs\n"
           "    %mask: i32 = Sub %d, %1\n    %masks: i32[512] = Expand %mask\n"
           "    %inner: i32[512] = And %x, %masks\n    %low: i32[512] = " +
           join + " %high, %inner\n    %ds: i32[512] = Expand %d\n" + rest;
}
const std::string kNext = "    %b: i32 = Add %s, %1\n", kLow = "    %at: i32[512] = Neg %low\n",
                  kHigh = "    %at: i32[512] = Or %low, %ds\n";

TEST(SettleStores, PairsByShiftsAndMasksAreDistinct) {
    for (const char* join : {"Or", "Add", "Xor"}) {
        EXPECT_TRUE(is_distinct(by_bits(kNext, join, kLow))) << join;
        EXPECT_TRUE(is_distinct(by_bits(kNext, join, kHigh))) << join;
    }
    EXPECT_TRUE(is_distinct(by_bits("", "Or", kLow))) << "x itself";
}

TEST(SettleStores, BitsThatMayBeThereAlreadyAreNot) {
    EXPECT_FALSE(is_distinct(by_bits("", "Or", kHigh)));
    EXPECT_FALSE(is_distinct(by_bits("    %2: i32 = Constant 2\n    %b: i32 = Add %s, %2\n", "Or",
                                     "    %2s: i32[512] = Expand %2\n"
                                     "    %at: i32[512] = Or %low, %2s\n")));
    EXPECT_FALSE(
        is_distinct("    %5: i32 = Constant 5\n    %d: i32[512] = Expand %5\n"
                    "    %10: i32 = Constant 10\n    %k: i32[512] = Expand %10\n"
                    "    %q: i32[512] = Div %x, %d\n    %high: i32[512] = Mul %q, %k\n"
                    "    %low: i32[512] = Mod %x, %d\n    %at: i32[512] = Or %high, %low\n"))
        << "bits of blocks of 5 overlap";
}

TEST(SettleStores, BlocksThatMayBeEmptyOrOverlapAreNot) {
    EXPECT_FALSE(is_distinct(blocks("    %d: i32 = Abs %s\n", kTwice))) << "by 0 all are 0";
    EXPECT_FALSE(
        is_distinct(blocks("    %c: i32 = Constant 4\n    %d: i32 = ShiftLeft %c, %s\n", kTwice)))
        << "shifted by 30 it is 0";
    EXPECT_FALSE(is_distinct(blocks(kPower, "    %k: i32 = Constant 1\n")));
    EXPECT_FALSE(
        is_distinct(blocks(kPower, "    %3: i32 = Constant 3\n    %k: i32 = Mul %3, %d\n")))
        << "it may go around";
}

TEST(SettleStores, EveryAxisOfThePositionsNeedsAnIndex) {
    NodeTable table;
    RuleCounts fired;
    settle_stores(table,
                  parse(table,
                        "graph(%0: f32[8, 8], %1: f32[4, 4], %2: i32) {\n"
                        "    %3: i32[4, 4] = Index axis=0\n    %4: i32[4, 4] = Expand %2\n"
                        "    %5: i32[4, 4] = Xor %3, %4\n"
                        "    %6: f32[8, 8] = Scatter %0, %1, %5, %5 op=last\n"
                        "    return %6\n}\n"),
                  &fired);
    EXPECT_EQ(fired["distinct positions"], 0);
    EXPECT_EQ(fired["read by owner"], 1);
}

}  // namespace
}  // namespace firn
