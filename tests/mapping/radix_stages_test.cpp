// Iterations of a kernel that are joined: those that keep to their bands, and write all of them.
#include "compiler/mapping/list/radix_stages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace firn {
namespace {

/// A loop of a kernel over 32 or 64 indices x0 that reads 64 elements of buffer 0 and stores to
/// buffer 1; %d is the distance of the iteration.
struct Loop {
    std::string body;
    std::string ranges = "  x0 grid < 64\n";
    std::string type = "f32";
    bool swaps = true;
};

std::string filled(std::string text, const std::string& type) {
    for (size_t at; (at = text.find("T ")) != std::string::npos;) text.replace(at, 1, type);
    return text;
}

/// Elements of the bands of two iterations; 0: they are not joined.
int64_t joined(const Loop& loop) {
    Program program;
    ListedKernel kernel;
    kernel.code =
        parse_kernel("kernel\n  placed\n  b0 " + loop.type + "[64] storage of 0\n  b1 " +
                     loop.type + "[64] storage written of 1\n  p0 i32 = $t\n" + loop.ranges +
                     "{\n  %1 = ShiftLeft i32 1 p0\n" + filled(loop.body, loop.type) + "}\n");
    ListedLoop listed;
    listed.loop.induction = "$t";
    listed.loop.trips = Size(6);
    if (loop.swaps) listed.loop.rotation = {{0, 1}, {1, 0}};
    listed.body.push_back({std::move(kernel)});
    for (const RadixStages& stages : find_stages(program, listed)) {
        const auto made = join_stages(stages, 2, Size::symbol("$t"), BandDistance::Any, {});
        if (!made) continue;
        verify(made->code, KernelStage::Ready, "join_stages");
        const auto count = [&](KernelOp op) {
            return std::count_if(made->code.nodes.begin(), made->code.nodes.end(),
                                 [&](const KernelNode& n) { return n.op == op; });
        };
        EXPECT_EQ(count(KernelOp::Load), count(KernelOp::Store));
        return count(KernelOp::Store);
    }
    return 0;
}

const std::string kOwn = "  %2 = Load T b0 x0\n",
                  kOther = "  %3 = Xor i32 x0 %1 in 0 63\n  %4 = Load T b0 %3\n",
                  kSum = "  %5 = Add T %2 %4\n", kStore = "  ! %6 = Store T b1 x0 %5\n";
const std::string kPairs =
                      "  %10 = Div i32 x0 %1\n  %11 = Mod i32 x0 %1\n  %12 = Mul i32 %10 %1\n"
                      "  %13 = Mul i32 %12 2\n  %14 = Add i32 %13 %11\n  %15 = Add i32 %14 %1\n"
                      "  %16 = Load T b0 %14\n  %17 = Load T b0 %15\n",
                  kHalf = "  x0 grid < 32\n";

TEST(RadixStages, OfTwoIterationsABandHasFourElements) {
    EXPECT_EQ(joined({kOwn + kOther + kSum + kStore}), 4);
    EXPECT_EQ(
        joined({kPairs + "  ! %18 = Store T b1 %14 %17\n  ! %19 = Store T b1 %15 %16\n", kHalf}),
        4);
}

TEST(RadixStages, WordsAreKeptAsTheyAre) {
    EXPECT_EQ(joined({kOwn + kOther + kSum + kStore, "  x0 grid < 64\n", "i32"}), 4);
    EXPECT_EQ(joined({kOwn + kOther + kSum + kStore, "  x0 grid < 64\n", "f16"}), 0)
        << "memory rounds them";
}

TEST(RadixStages, BuffersChangePlaces) {
    EXPECT_EQ(joined({.body = kOwn + kOther + kSum + kStore, .swaps = false}), 0);
    EXPECT_EQ(joined({kOwn + kOther + kSum +
                      "  %7 = Load T b1 x0\n  %8 = Add T %5 %7\n"
                      "  ! %6 = Store T b1 x0 %8\n"}),
              0)
        << "reads what it writes";
}

TEST(RadixStages, EveryElementOfABandIsWrittenOnce) {
    EXPECT_EQ(joined({kPairs + "  ! %18 = Store T b1 %14 %17\n", kHalf}), 0);
    EXPECT_EQ(joined({kPairs + "  ! %18 = Store T b1 %14 %17\n  ! %19 = Store T b1 %14 %16\n"
                               "  ! %20 = Store T b1 %15 %16\n",
                      kHalf}),
              0);
}

TEST(RadixStages, NothingElseIsRead) {
    EXPECT_EQ(joined({kOwn + "  %3 = Add i32 x0 %1\n  %4 = Load T b0 %3\n" + kSum + kStore}), 0);
    EXPECT_EQ(joined({kOwn + "  %3 = Xor i32 x0 1\n  %4 = Load T b0 %3\n" + kSum + kStore}), 0);
    EXPECT_EQ(joined({kOwn + "  %3 = Mul i32 %1 4\n  %9 = Xor i32 x0 %3\n  %4 = Load T b0 %9\n" +
                      kSum + kStore}),
              0)
        << "4 distances away";
}

/// All of them begin at the same place, and other axes keep them apart.
TEST(RadixStages, BandsAreApart) {
    EXPECT_EQ(joined({"  %3 = Xor i32 x0 %1\n  %4 = Load T b0 %3\n  %7 = Add i32 x0 1\n"
                      "  %2 = Load T b0 %7\n" +
                      kSum + kStore}),
              0)
        << "shifted by one";
    const std::string rows = "  y1 grid < 4\n  x0 grid < 16\n", row = "  %7 = Mul i32 y1 16\n";
    const auto at = [&](const std::string& index) {
        return row +
               "  %3 = Xor i32 x0 %1\n  %8 = Add i32 %3 %7\n  %2 = Load T b0 %8\n"
               "  %9 = Add i32 " +
               index +
               "\n  %5 = Load T b0 %9\n"
               "  %10 = Add T %2 %5\n  ! %6 = Store T b1 %9 %10\n";
    };
    EXPECT_EQ(joined({at("x0 %7"), rows}), 4);
    EXPECT_EQ(joined({row + "  %3 = Xor i32 x0 %1\n  %2 = Load T b0 %3\n  %4 = Load T b0 x0\n"
                            "  %5 = Add T %2 %4\n  ! %6 = Store T b1 x0 %5\n",
                      rows}),
              0)
        << "each row has the same bands";
    EXPECT_EQ(joined({row + "  %20 = Add i32 y1 1\n  %21 = Mod i32 %20 4\n"
                            "  %22 = Mul i32 %21 16\n  %3 = Xor i32 x0 %1\n"
                            "  %8 = Add i32 %3 %22\n  %2 = Load T b0 %8\n"
                            "  %9 = Add i32 x0 %7\n  ! %6 = Store T b1 %9 %2\n",
                      rows}),
              0)
        << "of another row";
}

TEST(RadixStages, ADistanceIsABit) {
    EXPECT_EQ(joined({"  %7 = Mul i32 x0 3\n  %8 = Mul i32 %1 3\n  %3 = Xor i32 %7 %8\n"
                      "  %9 = Div i32 %3 3\n  %4 = Load T b0 %9\n" +
                      kOwn + kSum + kStore}),
              0)
        << "3 is two of them";
}

}  // namespace
}  // namespace firn
