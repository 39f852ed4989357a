// Accesses of a kernel to buffers that are divided in bands.
#include "compiler/mapping/list/bands.h"

#include <gtest/gtest.h>

#include <functional>
#include <span>

#include "compiler/kernel/kernel_builder.h"
#include "compiler/kernel/place.h"

namespace firn {
namespace {

/// The index that is loaded, of the row and what stands in it.
using MakeIndex = std::function<NodeId(KernelBuilder&, NodeId row, NodeId x)>;

NodeId own(KernelBuilder& b, NodeId row, NodeId x) { return b.add(b.mul(row, b.integer(256)), x); }

/// 300 rows of 256: what buffer 0 has at the index goes to each own element of buffer 1.
bool stays(const MakeIndex& index, std::set<int> written = {0, 1}, const Size& bands = Size(300)) {
    KernelCode code;
    KernelBuilder b(code, {});
    const auto range = [&](const char* name, int64_t extent) {
        Range made;
        made.name = name, made.extent = Size(extent);
        return b.range(b.add_range(made));
    };
    const NodeId row = range("y", 300), x = range("x", 256);
    const auto buffer = [&](int id, bool is_written) {
        return b.buffer(id, f32, Size(300 * 256), BindingForm::Storage, 1, is_written);
    };
    const NodeId value = b.load(buffer(0, false), index(b, row, x));
    const NodeId store = b.store(buffer(1, true), own(b, row, x), std::span(&value, 1));
    code[kRoot].effects = {store};
    place(code);
    return stays_in_bands(code, {bands, std::move(written)});
}

TEST(Bands, HoldWhatIsAddedToTheirBegin) {
    EXPECT_TRUE(stays(own));
    EXPECT_TRUE(stays([](KernelBuilder& b, NodeId row, NodeId x) {
        const NodeId next = b.add(x, b.integer(1));
        return own(b, row, b.make(KernelOp::Min, i32, {next, b.integer(255)}));
    }));
    EXPECT_TRUE(stays([](KernelBuilder& b, NodeId row, NodeId x) {
        return own(b, row, b.make(KernelOp::And, i32, {x, b.integer(85)}));
    }));
}

TEST(Bands, AreLeftByWhatMayReachAnother) {
    EXPECT_FALSE(stays([](KernelBuilder& b, NodeId row, NodeId x) {
        return own(b, row, b.add(x, b.integer(1)));
    }));
    EXPECT_FALSE(stays([](KernelBuilder& b, NodeId row, NodeId x) {
        return own(b, row, b.add(x, b.integer(-1)));
    }));
    EXPECT_FALSE(stays([](KernelBuilder& b, NodeId row, NodeId x) {
        return b.add(b.mul(row, b.integer(128)), x);
    }));
    EXPECT_FALSE(stays([](KernelBuilder&, NodeId, NodeId x) { return x; }));
}

TEST(Bands, AreOfWhatIsWrittenAlone) {
    const MakeIndex first_row = [](KernelBuilder&, NodeId, NodeId x) { return x; };
    EXPECT_TRUE(stays(first_row, {1}));
    EXPECT_FALSE(stays(own, {0}));  // its target is not divided in bands
    EXPECT_FALSE(stays(own, {0, 1}, Size(256)));
}

TEST(Bands, DivideABuffer) {
    const Size n = Size::symbol("n");
    EXPECT_EQ(band_elements({n, {}}, n * Size(12)), 12);
    EXPECT_EQ(band_elements({n, {}}, n * Size::symbol("m")), std::nullopt);
    EXPECT_EQ(band_elements({Size(5), {}}, Size(12)), std::nullopt);
}

}  // namespace
}  // namespace firn
