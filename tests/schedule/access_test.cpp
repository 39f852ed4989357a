// The indices at which values are asked.
#include "compiler/schedule/access.h"

#include <gtest/gtest.h>

#include "compiler/ir/builder.h"

namespace firn {
namespace {

/// Returns how many of the first axes of a grid of two a value needs that has an element for each
/// index along `axis` of the reshaped tensor.
int axes_needed(const Shape& from, const Shape& to, size_t axis) {
    NodeTable table;
    Builder b{table};
    const Ref whole = input(b, 0, f32, from, false), node = reshape(b, whole, to);
    AccessMaps maps;
    Shape one(from.size(), Size(1));
    one[axis] = from[axis];
    const int map = maps.input_map(*node, 0, maps.identity(to));
    return maps.prefix(maps.projected(map, from, one), 2);
}

TEST(Access, AReshapeKeepsTheFirstAxis) {
    EXPECT_EQ(axes_needed({5, 3, 4}, {5, 12}, 0), 1);
    EXPECT_EQ(axes_needed({5, 3, 4}, {5, 12}, 1), 2);
}

TEST(Access, WhatAReshapeMergesNeedsNoLastAxis) {
    EXPECT_EQ(axes_needed({3, 4, 5}, {12, 5}, 0), 1);
    EXPECT_EQ(axes_needed({3, 4, 5}, {12, 5}, 1), 1);
    EXPECT_EQ(axes_needed({3, 4, 5}, {12, 5}, 2), 2);
}

}  // namespace
}  // namespace firn
