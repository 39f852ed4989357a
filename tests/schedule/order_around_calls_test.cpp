// The order of steps among which the host makes calls.
#include "compiler/schedule/order_around_calls.h"

#include <gtest/gtest.h>

namespace firn {
namespace {

using Order = std::vector<size_t>;

TEST(OrderAroundCalls, StaysWithoutCalls) {
    EXPECT_EQ(order_around_calls({{}, {false, {0}}, {}}), (Order{0, 1, 2}));
    EXPECT_EQ(order_around_calls({}), (Order{}));
}

TEST(OrderAroundCalls, CallsBeginAsSoonAsTheyCan) {
    // Kernel 1 needs nothing, call 2 what kernel 0 makes.
    EXPECT_EQ(order_around_calls({{}, {}, {true, {0}}}), (Order{0, 2, 1}));
}

TEST(OrderAroundCalls, WhatNeedsACallComesLast) {
    // The call, its reader, and a kernel that needs neither.
    EXPECT_EQ(order_around_calls({{true, {}}, {false, {0}}, {}}), (Order{0, 2, 1}));
}

TEST(OrderAroundCalls, WhatLeadsToTheNextCallComesFirst) {
    // Two gradients, 0 and 2, their sums over processes, 1 and 4, and the updates, 3 and 5.
    EXPECT_EQ(order_around_calls(
                  {{}, {true, {0}}, {false, {0}}, {false, {1}}, {true, {2}}, {false, {4}}}),
              (Order{0, 1, 2, 4, 3, 5}));
}

TEST(OrderAroundCalls, CallsKeepTheirOrder) {
    EXPECT_EQ(order_around_calls({{}, {true, {0}}, {true, {0}}, {true, {0}}}), (Order{0, 1, 2, 3}));
}

}  // namespace
}  // namespace firn
