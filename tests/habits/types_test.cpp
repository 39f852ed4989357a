// The types of elements and their promotion: compiler/types.md has the tables, from the library
// itself. FIRN_WRITE_README=1 writes the page anew.
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "compiler/language.h"
#include "tests/habits/page.h"

namespace firn {
namespace {

using Ints = std::vector<int>;

std::string named(DType type) { return std::string("`") + type.name() + "`"; }

/// A column for each type.
std::string type_heads(const std::string& corner) {
    std::string out = "| " + corner + " |", rule = "|---|";
    for (DType type : kAllTypes) out += " " + named(type) + " |", rule += "---|";
    return out + "\n" + rule + "\n";
}

/// Returns the range of an element, beyond its name.
std::string stored(DType type) {
    if (type.is_bool()) return "a word, 0 or 1";
    return std::to_string(type.bytes()) + (type.bytes() == 1 ? " byte" : " bytes");
}

/// Returns the type of a C++ vector whose elements have the same memory.
std::string in_cpp(DType type) {
    if (type.is_bool()) return "`bool`";
    if (type == f32) return "`float`";
    if (type == f64) return "`double`";
    if (type.is_float()) return "none: `x.as(" + std::string(type.name()) + ")`";
    return std::string(type.is_signed() ? "`int" : "`uint") + std::to_string(8 * type.bytes()) +
           "_t`";
}

Tensor some(DType type) { return ones({2}, type); }

std::string page_of_types() {
    std::ostringstream out;
    out << R"(# Types of elements

Every entry is what the library answers, asked by `tests/habits`, which writes this page.

| | stored as | elements of a `std::vector` | `-x` | `sum(x)` | `max(x)` | `max(x, 1)` | `sort(x)` | `mean(x)` | `sqrt(x)` | `x + 1` | `x + 0.5` | `hypot(3.0f, x)` |
|---|---|---|---|---|---|---|---|---|---|---|---|---|
)";
    for (DType type : kAllTypes) {
        const Tensor x = some(type);
        out << "| " << named(type) << " | " << stored(type) << " | " << in_cpp(type);
        for (const Tensor& y : {-x, sum(x), max(x), max(x, 1), sort(x), mean(x), sqrt(x), x + 1,
                                x + 0.5, hypot(3.0f, x)})
            out << " | " << named(y.dtype());
        out << " |\n";
    }
    out << R"(
`f16` and `bf16` are computed in f32 and rounded after each operation; their sums and products of matrices are
made in f32 and rounded at the end. Integers of 8 and 16 bits and bools are only storage: arithmetic on them is i32, and
`x = (x + 1).as(u8)` wraps. A C++ number of any width takes the type of the tensors beside it; a floating-point
number beside integers makes both f32. A list `tensor({1.5, 2.5})` is f32 and a list of integers i32; a
`std::vector<double>` is f64, for which a device needs 64-bit floats (`.as(f32)` is the way out where it has none); every
function takes it, to a few units in its last place.

If neither type holds all values of the other, two integers of 8 and 16 bits give i32, and the two floats of 16 bits give f32.
i32 and u32 (i64 and u64) give the signed type, with the bits of the other. Integers beside floats become floats.
A store converts to the tensor's type: floats beyond an integer's range saturate, integers wrap.
`scatter_add` and its kin work on every type of at most 32 bits, and on wider ones where positions provably never meet; sums into
integers of 8 and 16 bits wrap.

## Two tensors in one operation

The table has the type of `select(c, x, y)`, and of `min`, `max`, `clamp` and `clip`, which give an element as it was; a C++
number that the type does not hold, as in `max(x, 300)` of u8, makes an integer of 8 or 16 bits i32. The other functions of
several operands (`hypot`, `pow`, `mix`) and `x + y` give the same type, but i32 instead of an integer of 8 or 16 bits or a bool.

)";
    out << type_heads("");
    for (DType row : kAllTypes) {
        out << "| " << named(row) << " |";
        for (DType column : kAllTypes)
            out << " " << named(select(some(boolean), some(row), some(column)).dtype()) << " |";
        out << "\n";
    }
    return out.str();
}

class TypesOfElements : public ::testing::Test {
    Session session_ = Session::oracle();
    SessionScope scope_{session_};
};

TEST_F(TypesOfElements, ThePageHasWhatTheLibrarySays) {
    expect_page("compiler/types.md", page_of_types());
}

TEST_F(TypesOfElements, FunctionsOfTwoAgreeWithArithmetic) {
    for (DType a : kAllTypes)
        for (DType b : kAllTypes) {
            const Tensor x = some(a), y = some(b);
            const DType own = select(some(boolean), x, y).dtype(), meeting = arithmetic_type(own);
            for (const Tensor& z :
                 {min(x, y), max(y, x), clamp(x, y, x), clip(y, x, y), min(x, y, x), max(y, x, y)})
                EXPECT_STREQ(z.dtype().name(), own.name()) << a.name() << " " << b.name();
            for (const Tensor& z : {x + y, x * y, pow(x, y), mix(x, y, x)})
                EXPECT_STREQ(z.dtype().name(), meeting.name()) << a.name() << " " << b.name();
            EXPECT_STREQ(hypot(x, y).dtype().name(), meeting.is_float() ? meeting.name() : "f32");
        }
}

TEST_F(TypesOfElements, TheWidthAndThePlaceOfANumberDoNotCount) {
    for (DType type : kAllTypes) {
        const Tensor x = some(type);
        const DType whole = arithmetic_type(type), real = type.is_float() ? type : f32;
        for (const Tensor& y : {x + 3, 3u + x, x * int64_t{3}, pow(x, 3)})
            EXPECT_STREQ(y.dtype().name(), whole.name()) << type.name();
        for (const Tensor& y : {x + 3.0, 3.0f + x, min(3.0, x), hypot(3, x), hypot(x, 3.0f),
                                hypot(int64_t{3}, x), pow(x, 3.0f), mix(x, 3.0, 0.5f)})
            EXPECT_STREQ(y.dtype().name(), real.name()) << type.name();
        const DType kept = type.is_bool() ? i32 : type;
        for (const Tensor& y : {min(3, x), max(x, 3u), clamp(x, 0, 3), clip(x, int64_t{0}, 3)})
            EXPECT_STREQ(y.dtype().name(), kept.name()) << type.name();
    }
}

TEST_F(TypesOfElements, WhatGivesAnElementKeepsItsType) {
    const Tensor bytes = tensor(std::vector<uint8_t>{3, 250, 7}),
                 small = tensor(std::vector<int8_t>{3, -100, 7}), flags = bytes > 5;
    const auto is = [](const Tensor& got, DType type, const Ints& values) {
        EXPECT_STREQ(got.dtype().name(), type.name());
        EXPECT_EQ(got.as(i32).to_vector<int>(), values);
    };
    is(max(bytes), u8, {250});
    is(min(small, ReduceOptions{.keep_dims = true}), i8, {-100});
    is(max(flags), boolean, {1});
    is(min(flags), boolean, {0});
    is(max(bytes, 5), u8, {5, 250, 7});
    is(max(bytes, 300), i32, {300, 300, 300});
    is(min(bytes, -1), i32, {-1, -1, -1});
    is(max(small, -1), i8, {3, -1, 7});
    is(clamp(bytes, 4, 200), u8, {4, 200, 7});
    is(clip(bytes, -5, 200), i32, {3, 200, 7});
    is(clip(small, bytes, 5), i32, {3, 5, 5});
    is(max(flags, flags == false), boolean, {1, 1, 1});
    is(max(flags, 2), i32, {2, 2, 2});
    is(max(bytes, bytes.as(f32)), f32, {3, 250, 7});
    EXPECT_STREQ(max(bytes, 0.5f).dtype().name(), "f32");
    EXPECT_EQ(argmax(bytes).item<int>(), 1);
    EXPECT_EQ(argmin(small).item<int>(), 1);
}

}  // namespace
}  // namespace firn
