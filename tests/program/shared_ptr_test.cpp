// Ownership by SharedPtr, which is that of the standard's shared pointers.
#include "compiler/base/shared_ptr.h"

#include <gtest/gtest.h>

#include <memory>

namespace firn {
namespace {

struct Base {
    int value = 7;
};
struct Derived : Base {};

TEST(SharedPtr, SharesTheCountOfWhatItIsMadeOf) {
    auto made = std::make_shared<int>(7);
    SharedPtr<int> a = made;
    EXPECT_EQ(made.use_count(), 2);
    SharedPtr<int> b = a;
    EXPECT_EQ(made.use_count(), 3);
    SharedPtr<int> moved = std::move(b);
    EXPECT_EQ(made.use_count(), 3);
    EXPECT_FALSE(b);
    EXPECT_EQ(*moved, 7);
    moved = a;
    EXPECT_EQ(made.use_count(), 3);
    a = nullptr;
    moved = SharedPtr<int>();
    EXPECT_EQ(made.use_count(), 1);
}

TEST(SharedPtr, OutlivesWhatItIsMadeOf) {
    auto made = std::make_shared<int>(7);
    std::weak_ptr<int> seen = made;
    {
        SharedPtr<int> kept = std::move(made);
        EXPECT_FALSE(seen.expired());
        kept = std::shared_ptr<int>(kept);
        EXPECT_EQ(*kept, 7);
    }
    EXPECT_TRUE(seen.expired());
}

TEST(SharedPtr, AssignedToItselfItStays) {
    std::weak_ptr<int> seen;
    {
        SharedPtr<int> kept = std::make_shared<int>(7);
        seen = std::shared_ptr<int>(kept);
        SharedPtr<int>& same = kept;
        kept = same;
        kept = std::move(same);
        EXPECT_EQ(*kept, 7);
    }
    EXPECT_TRUE(seen.expired());
}

TEST(SharedPtr, ConvertsToTheStandardsAndToBases) {
    SharedPtr<Base> base = std::make_shared<Derived>();
    std::shared_ptr<const Base> back = base;
    EXPECT_EQ(back.use_count(), 2);
    EXPECT_EQ(back->value, 7);
    SharedPtr<const void> opaque = back;
    EXPECT_EQ(back.use_count(), 3);
    std::shared_ptr<Base> none = SharedPtr<Base>();
    EXPECT_EQ(none, nullptr);
    EXPECT_FALSE((std::is_convertible_v<SharedPtr<Base>, std::shared_ptr<Derived>>));
    EXPECT_FALSE((std::is_convertible_v<SharedPtr<const Base>, std::shared_ptr<Base>>));
}

TEST(SharedPtr, EndsWhatItAdopts) {
    static int ended = 0;
    {
        SharedPtr<int> kept(new int(7), [](void* object) {
            ++ended;
            delete static_cast<int*>(object);
        });
        SharedPtr<int> copy = kept;
        kept = nullptr;
        EXPECT_EQ(ended, 0);
        EXPECT_EQ(*copy, 7);
    }
    EXPECT_EQ(ended, 1);
}

}  // namespace
}  // namespace firn
