// Symbols from the shapes of a call, and the messages for calls that do not fit.
#include <gtest/gtest.h>

#include "compiler/base/error.h"
#include "tests/program/program_builder.h"

namespace firn {
namespace {

using namespace test;

const Size n = Size::symbol("n"), m = Size::symbol("m");

Program wave() {
    Program p;
    p.name = "wave";
    add_argument(p, "u", {n, m});
    add_argument(p, "v", {n, m});
    add_scalar(p, "dt", f32);
    return p;
}
std::vector<Scalar> wave_scalars() { return {{}, {}, scalar_float(0.1)}; }
std::string wave_error(const std::vector<std::vector<int64_t>>& shapes) {
    return message<UserError>([&] { bind_symbols(wave(), shapes, wave_scalars()); });
}

TEST(BindSymbols, TakesDimensions) {
    EXPECT_EQ(bind_symbols(wave(), {{4, 6}, {4, 6}, {}}, wave_scalars()),
              (SizeEnv{{"n", 4}, {"m", 6}}));
}
TEST(BindSymbols, ZeroIsASize) {
    EXPECT_EQ(bind_symbols(wave(), {{0, 6}, {0, 6}, {}}, wave_scalars()).at("n"), 0);
}
TEST(BindSymbols, MismatchNamesBothArgumentsAndShapes) {
    EXPECT_EQ(
        wave_error({{4, 6}, {4, 7}, {}}),
        "wave: size 'm' is 6 by argument 0 'u' [4, 6] and 7 by argument 1 'v' [4, 7], declared "
        "as f32[n, m] and f32[n, m]; give both the same size");
}
TEST(BindSymbols, SameSymbolTwiceInOneArgument) {
    Program p;
    p.name = "trace";
    add_argument(p, "a", {n, n});
    EXPECT_EQ(
        message<UserError>([&] {
            bind_symbols(p, {{3, 4}}, {{}});
        }),
        "trace: size 'n' is 3 by argument 0 'a' [3, 4] and 4 by argument 0 'a' [3, 4], declared "
        "as f32[n, n] and f32[n, n]; give both the same size");
}
TEST(BindSymbols, WrongRank) {
    EXPECT_EQ(
        wave_error({{4}, {4, 6}, {}}),
        "wave: argument 0 'u' [4] has 1 dimensions and is declared as f32[n, m] with 2; reshape "
        "it");
}
TEST(BindSymbols, TensorForAScalar) {
    EXPECT_EQ(wave_error({{4, 6}, {4, 6}, {1}}),
              "wave: argument 2 'dt' [1] has 1 dimensions and is declared as f32[] with 0; give a "
              "plain value");
}
TEST(BindSymbols, NegativeDimension) {
    EXPECT_EQ(wave_error({{-1, 6}, {4, 6}, {}}),
              "wave: argument 0 'u' [-1, 6] has a dimension of -1; a dimension is from 0 to "
              "2147483647");
}
TEST(BindSymbols, MissingArgument) {
    EXPECT_EQ(wave_error({{4, 6}}),
              "wave: takes 3 arguments and was given 1; give one value for each");
}
TEST(BindSymbols, ScalarOfAnotherType) {
    EXPECT_EQ(
        message<UserError>([] {
            bind_symbols(wave(), {{4, 6}, {4, 6}, {}}, {{}, {}, scalar_int(1)});
        }),
        "wave: argument 2 'dt' is a value of type i32 and is declared as f32; convert it before "
        "the call");
}
TEST(BindSymbols, IntegerScalarsAreSymbols) {
    Program p;
    add_scalar(p, "steps", i32);
    EXPECT_EQ(bind_symbols(p, {{}}, {scalar_int(-7)}), (SizeEnv{{"$0", -7}}));
}
TEST(BindSymbols, FixedDimensionsAreChecked) {
    Program p;
    p.name = "image";
    add_argument(p, "x", {n, 3});
    EXPECT_EQ(
        message<UserError>([&] {
            bind_symbols(p, {{8, 4}}, {{}});
        }),
        "image: argument 0 'x' [8, 4] does not fit f32[n, 3]: dimension 1 is 4 and must be 3; "
        "give it that size");
}
TEST(BindSymbols, ExpressionsAreCheckedAfterAllSymbols) {
    Program p;
    p.name = "faces";
    add_argument(p, "x", {n + 1});
    add_argument(p, "y", {n});
    EXPECT_EQ(bind_symbols(p, {{5}, {4}}, {{}, {}}).at("n"), 4);
    EXPECT_EQ(
        message<UserError>([&] {
            bind_symbols(p, {{4}, {4}}, {{}, {}});
        }),
        "faces: argument 0 'x' [4] does not fit f32[n + 1]: dimension 0 is 4 and must be 5 (n = 4 "
        "by argument 1 'y' [4]); give it that size");
}
TEST(BindSymbols, UnsolvableSymbol) {
    Program p;
    p.name = "faces";
    add_argument(p, "x", {n + 1});
    EXPECT_EQ(message<UserError>([&] { bind_symbols(p, {{4}}, {{}}); }),
              "faces: size 'n' of argument 0 'x' [4], declared as f32[n + 1], cannot be found: no "
              "argument has it as a dimension by itself; add one");
}
TEST(BindSymbols, GuardsAreChecked) {
    Program p = wave();
    p.guards.push_back({n, m, "a + b: sizes differ (wave.cpp:7)"});
    EXPECT_NO_THROW(bind_symbols(p, {{4, 4}, {4, 4}, {}}, wave_scalars()));
    EXPECT_EQ(
        message<UserError>([&] {
            bind_symbols(p, {{4, 6}, {4, 6}, {}}, wave_scalars());
        }),
        "wave: a + b: sizes differ (wave.cpp:7): n is 4 and m is 6 with m = 6 by argument 0 'u' "
        "[4, 6], n = 4 by argument 0 'u' [4, 6]; give sizes that make them equal");
}

}  // namespace
}  // namespace firn
