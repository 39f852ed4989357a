// Reading and matching patterns.
#include "compiler/ir/pattern.h"

#include <gtest/gtest.h>

#include "compiler/base/error.h"
#include "compiler/ir/builder.h"

namespace firn {
namespace {

TEST(Patterns, EqualNamesMatchOneNode) {
    NodeTable table;
    Builder b{table};
    Ref x = input(b, 0, i32, {4}, false), y = input(b, 1, i32, {4}, false);
    Bindings same, different;
    EXPECT_TRUE(match(parse_pattern("Sub(x, x)"), elementwise(b, Op::Sub, {x, x}), same));
    EXPECT_FALSE(match(parse_pattern("Sub(x, x)"), elementwise(b, Op::Sub, {x, y}), different));
}

TEST(Patterns, CommutativeOperationsMatchInBothOrders) {
    NodeTable table;
    Builder b{table};
    Ref x = input(b, 0, i32, {4}, false), y = input(b, 1, i32, {4}, false);
    Bindings bindings;
    EXPECT_TRUE(match(parse_pattern("Add(x, Neg(y))"),
                      elementwise(b, Op::Add, {elementwise(b, Op::Neg, {x}), y}), bindings));
    EXPECT_EQ(bindings['x' - 'a'], y);
}

TEST(Patterns, LiteralsMatchTheSignOfZero) {
    NodeTable table;
    Builder b{table};
    Bindings bindings;
    EXPECT_TRUE(match(parse_pattern("-0.0"), constant_float(b, -0.0), bindings));
    EXPECT_FALSE(match(parse_pattern("-0.0"), constant_float(b, 0.0), bindings));
    EXPECT_FALSE(match(parse_pattern("0"), constant_float(b, -0.0), bindings));
    EXPECT_TRUE(match(parse_pattern("-1"), constant_int(b, 0xffffffff, u32), bindings));
}

TEST(Patterns, TextThatIsNoneIsAnInternalError) {
    for (const char* text : {"Add(x", "Add(x)", "Nothing(x)", "x y", "Reshape(x)", ""})
        EXPECT_THROW(parse_pattern(text), InternalError) << text;
}

}  // namespace
}  // namespace firn
