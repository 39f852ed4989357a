// Ids of kernel code are no numbers and no ids of another kind.
#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <vector>

#include "compiler/kernel/kernel_code.h"

namespace firn {
namespace {

template <class From, class To>
constexpr bool kConverts = std::is_convertible_v<From, To>;

static_assert(!kConverts<int, NodeId> && !kConverts<NodeId, int> && !kConverts<NodeId, bool>);
static_assert(!std::is_constructible_v<NodeId, RegionId> &&
              !std::is_constructible_v<RangeId, NodeId>);
template <class Index>
concept IndexesNodes = requires(ByNode<int> values, Index index) {
    values[index];
};
static_assert(IndexesNodes<NodeId> && !IndexesNodes<RegionId> && !IndexesNodes<int>);

TEST(Ids, NameNothingUntilTheyAreGivenAPlace) {
    EXPECT_FALSE(NodeId());
    EXPECT_TRUE(NodeId(0));
    EXPECT_LT(NodeId(), NodeId(0));
}

TEST(Ids, OfValuesRunFromTheFirstToTheLast) {
    const ByRange<std::string> values{"a", "b", "c"};
    std::string met;
    for (RangeId id : values.ids()) met += values[id];
    EXPECT_EQ(met, "abc");
    EXPECT_EQ(values.end_id(), RangeId(3));
    for (NodeId id : ByNode<int>().ids()) ADD_FAILURE() << id.number();
}

}  // namespace
}  // namespace firn
