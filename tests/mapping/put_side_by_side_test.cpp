// Kernels of a list that become one, and their order.
#include <gtest/gtest.h>

#include "compiler/mapping/list/list_passes.h"
#include "tests/mapping/listed_steps.h"

namespace firn {
namespace {

using test::names, test::steps;

/// A kernel that is Ready and copies its input of `elements`.
ListedKernel listed_kernel(const std::string& name, int from, int to, int elements = 8) {
    const std::string n = std::to_string(elements);
    ListedKernel out;
    out.code = parse_kernel("kernel\n  b0 f32[" + n + "] storage of " + std::to_string(from) +
                            "\n  b1 f32[" + n + "] storage written of " + std::to_string(to) +
                            "\n  x0 grid < " + n +
                            "\n{\n  %1 = Load f32 b0 x0\n  ! %2 = Store f32 b1 x0 %1\n}\n");
    out.lines = {name};
    return out;
}

ListedKernel large(const std::string& name, int from, int to) {
    return listed_kernel(name, from, to, 1 << 24);
}

std::string after(std::vector<ListedStep> steps) {
    const DeviceProfile profile = gpu_profile();
    KernelList list{std::make_shared<Program>(), std::move(steps)};
    put_side_by_side(list, {profile, {}, {}});
    return names(list.steps);
}

TEST(PutSideBySide, KernelsThatDoNotNeedEachOtherBecomeOne) {
    EXPECT_EQ(
        after(steps(listed_kernel("a", 0, 1), listed_kernel("b", 2, 3), listed_kernel("c", 0, 4))),
        "a b c");
}

TEST(PutSideBySide, WhatNeedsAnotherComesAfterIt) {
    EXPECT_EQ(after(steps(listed_kernel("a", 0, 1), listed_kernel("b", 1, 2))), "a; b");
    EXPECT_EQ(after(steps(listed_kernel("a", 0, 1), listed_kernel("b", 2, 0))), "a; b")
        << "a reads first";
}

TEST(PutSideBySide, OneWaitsPastALargeKernelThatDoesNotNeedIt) {
    EXPECT_EQ(after(steps(listed_kernel("a", 0, 1), large("l", 2, 3), listed_kernel("b", 4, 5))),
              "l; a b");
    EXPECT_EQ(after(steps(listed_kernel("a", 0, 1), large("l", 1, 3), listed_kernel("b", 4, 5))),
              "a; l; b");
}

TEST(PutSideBySide, NoneWaitsPastACopyALoopOrASize) {
    const ListedKernel a = listed_kernel("a", 0, 1), b = listed_kernel("b", 2, 3),
                       c = listed_kernel("c", 4, 5);
    EXPECT_EQ(after(steps(a, CopyStep{6, 7}, b)), "a; copy; b");
    EXPECT_EQ(after(steps(a, ListedSize{"n", 1}, b)), "a; size; b");
    EXPECT_EQ(after(steps(a, ListedLoop{{}, steps(b, c)}, listed_kernel("d", 6, 7))),
              "a; (b c); d");
}

TEST(PutSideBySide, KernelsByHandAndOfRowsStandAlone) {
    ListedKernel by_hand = listed_kernel("h", 2, 3), of_rows = by_hand;
    by_hand.by_hand = true;
    const Node root{};
    of_rows.row_root = &root;
    EXPECT_EQ(after(steps(listed_kernel("a", 0, 1), by_hand, listed_kernel("b", 4, 5))), "a; h; b");
    EXPECT_EQ(after(steps(listed_kernel("a", 0, 1), of_rows, listed_kernel("b", 4, 5))), "h; a b");
}

TEST(PutSideBySide, WhatStandsApartBeginsAnew) {
    ListedKernel start = listed_kernel("s", 2, 3);
    start.apart = true;
    EXPECT_EQ(after(steps(listed_kernel("a", 0, 1), start, listed_kernel("b", 4, 5))), "a; s b");
}

TEST(PutSideBySide, TheWorkOfAllIsTheirSum) {
    ListedKernel a = listed_kernel("a", 0, 1), b = listed_kernel("b", 2, 3);
    a.work.operations = Size(3), b.work.operations = Size(4);
    const DeviceProfile profile = gpu_profile();
    KernelList list{std::make_shared<Program>(), steps(a, b)};
    put_side_by_side(list, {profile, {}, {}});
    EXPECT_EQ(std::get<ListedKernel>(list.steps.at(0).step).work.operations, Size(7));
}

}  // namespace
}  // namespace firn
