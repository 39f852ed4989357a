// Copies of a kernel that each find their own parts of larger buffers.
#include "compiler/kernel/larger_buffers.h"

#include <gtest/gtest.h>

#include <string>

#include "compiler/kernel/interpret/interpret_kernel.h"
#include "compiler/kernel/place.h"
#include "tests/kernel/kernel_by_hand.h"

namespace firn {
namespace {

using namespace test;

constexpr int kElements = 8, kParts = 4;

/// y[i] = x[i] + x[7 - i], behind a condition for all i but the last.
KernelCode mirrored(bool in_order) {
    ByHand k;
    const int x = k.buffer(f32, false), y = k.buffer(f32, true);
    const NodeId l = k.range(RangeKind::Invocation, kElements, 0);
    k.code.group_size = {kElements, 1, 1};
    const NodeId condition = k.add(k.make(KernelOp::Less, boolean, {l, k.integer(kElements - 1)}));
    const RegionId region = k.region();
    const NodeId other = k.op(KernelOp::Sub, i32, {k.integer(kElements - 1), l}, region);
    const NodeId sum =
        k.op(KernelOp::Add, f32, {k.load(region, x, l), k.load(region, x, other)}, region);
    k.store(region, y, l, sum);
    k.effect(kRoot, k.close({}, KernelOp::Branch, {condition}, region));
    for (int b : {x, y}) {
        k.code.buffers[static_cast<size_t>(b)].buffer = b;
        k.code.buffers[static_cast<size_t>(b)].elements = Size(kElements);
    }
    for (Range& range : k.code.ranges) range.name = "r";
    k.code.in_order = in_order;
    place(k.code);
    return k.code;
}

using Numbers = std::vector<int64_t>;

/// The copies' parts of y after copy k has read part `from[k]` of x and written part `to[k]`.
void expect_parts(const Numbers& from, const Numbers& to, bool by_parameter, bool in_order) {
    const Size stride(kPartAlignment), whole(kParts * kPartAlignment);
    const KernelCode code =
        in_larger_buffers(mirrored(in_order), {{5, whole, stride, from}, {6, whole, stride, to}},
                          from.size(), by_parameter);
    verify(code, KernelStage::Placed, "in_larger_buffers");
    std::vector<float> x(kParts * kPartAlignment), y(x.size(), -1), expected = y;
    for (size_t k = 0; k < x.size(); ++k) x[k] = static_cast<float>(k * k);
    for (size_t k = 0; k < from.size(); ++k)
        for (int i = 0; i < kElements - 1; ++i)
            expected[static_cast<size_t>(to[k] * kPartAlignment + i)] =
                x[static_cast<size_t>(from[k] * kPartAlignment + i)] +
                x[static_cast<size_t>(from[k] * kPartAlignment + kElements - 1 - i)];
    std::vector<Scalar> params;
    for (const ParamInfo& param : code.params) params.push_back(scalar_int(param.size.constant()));
    interpret_kernel(code,
                     {std::as_writable_bytes(std::span(x)), std::as_writable_bytes(std::span(y))},
                     params, {}, 8);
    EXPECT_EQ(y, expected) << print(code);
}

TEST(LargerBuffers, EachCopyReadsAndWritesItsOwnParts) {
    const std::vector<std::pair<Numbers, Numbers>> cases{{{2}, {0}},
                                                         {{0, 1, 2}, {0, 1, 2}},
                                                         {{1, 1, 1}, {1, 2, 3}},
                                                         {{3, 2, 1}, {1, 2, 3}},
                                                         {{2, 0, 2}, {3, 0, 2}}};
    for (const auto& [from, to] : cases)
        for (bool by_parameter : {false, true})
            for (bool in_order : {false, true}) expect_parts(from, to, by_parameter, in_order);
}

TEST(LargerBuffers, PartsOfOneBufferAreOneBinding) {
    const Size stride(kPartAlignment), whole(kParts * kPartAlignment);
    ByHand k;
    const int x = k.buffer(f32, false), y = k.buffer(f32, false), z = k.buffer(f32, true);
    const NodeId l = k.range(RangeKind::Invocation, kElements, 0);
    k.store(kRoot, z, l,
            k.op(KernelOp::Add, f32, {k.load(kRoot, x, l), k.load(kRoot, y, l)}, kRoot));
    for (int b : {x, y, z}) k.code.buffers[static_cast<size_t>(b)].buffer = b;
    place(k.code);
    const KernelCode code = in_larger_buffers(
        k.code, {{7, whole, stride, {0}}, {7, whole, stride, {1}}, {7, whole, stride, {2}}}, 1,
        false);
    EXPECT_EQ(code.buffers.size(), 2u) << "what is read, and what is written";
}

TEST(LargerBuffers, CopiesTakeTheLastDimensionThatIsFree) {
    KernelCode code = mirrored(false);
    EXPECT_EQ(free_dimension(code), 2);
    code.groups[2] = Size(3);
    EXPECT_EQ(free_dimension(code), 1);
    code.groups = {Size(2), Size(3), Size::symbol("n")};
    EXPECT_EQ(free_dimension(code), -1);
}

}  // namespace
}  // namespace firn
