// Symbolic integers: canonical form, simplification, bounds, divisors, text.
#include "compiler/program/size.h"

#include <gtest/gtest.h>

#include <bit>
#include <random>

#include "compiler/base/error.h"
#include "compiler/program/size_env.h"

namespace firn {
namespace {

const Size n = Size::symbol("n"), m = Size::symbol("m"), k = Size::symbol("k");
const Size s = Size::symbol("$0");

void expect_form(const Size& size, const std::string& expected) {
    EXPECT_EQ(size.text(), expected);
    EXPECT_TRUE(parse_size(expected) == size) << parse_size(expected).text();
}

template <class Error, class Function>
std::string message(Function function) {
    try {
        function();
    } catch (const Error& error) {
        return error.what();
    }
    return "nothing was thrown";
}

TEST(Size, SumsAreCanonical) { expect_form(n + 2 + m + n - 1, "m + 2*n + 1"); }
TEST(Size, ProductsCommute) { EXPECT_EQ(n * m, m * n); }
TEST(Size, ProductsExpand) { expect_form((n + 1) * (m - 2), "m*n + m - 2*n - 2"); }
TEST(Size, DifferenceOfEqualsIsZero) { EXPECT_TRUE((n * m - m * n).is(0)); }
TEST(Size, ZeroTimesAnythingIsZero) { EXPECT_TRUE((n * 0).is(0)); }
TEST(Size, NegativeOneIsWritten) { expect_form(n - 1, "n - 1"); }
TEST(Size, LeadingMinusIsWritten) { expect_form(Size(3) - n, "-n + 3"); }
TEST(Size, ConstantOne) { expect_form(1, "1"); }
TEST(Size, EqualFormsHashEqually) { EXPECT_EQ((n * m + n).hash(), (n + m * n).hash()); }
TEST(Size, OrderIsTotal) {
    EXPECT_NE(n < m, m < n);
    EXPECT_FALSE(n < n);
}

TEST(SizeDivision, ByAFactor) { expect_form(floor_div(n * m, m), "n"); }
TEST(SizeDivision, ByAPolynomialFactor) {
    expect_form(floor_div((n + 1) * (m + 2), m + 2), "n + 1");
}
TEST(SizeDivision, SplitsTermsOff) { expect_form(floor_div(n * m + k, m), "n + floordiv(k, m)"); }
TEST(SizeDivision, ByAConstant) { expect_form(floor_div(4 * n + 2, 4), "n"); }
TEST(SizeDivision, CancelsACommonFactor) { expect_form(floor_div(4 * n + 2, 8), "floordiv(n, 2)"); }
TEST(SizeDivision, NestedMerges) { expect_form(floor_div(floor_div(n, 4), 3), "floordiv(n, 12)"); }
TEST(SizeDivision, NestedWithOffsetMerges) {
    expect_form(floor_div(floor_div(n, 4) + 2, 3), "floordiv(n + 8, 12)");
}
TEST(SizeDivision, NestedStaysWhereTheProductIsTooLarge) {
    Size outer = ceil_div(floor_div(n * m * k, int64_t{1} << 40), int64_t{1} << 30);
    expect_form(outer, "floordiv(floordiv(k*m*n, 1099511627776) + 1073741823, 1073741824)");
    EXPECT_EQ(outer.evaluate({{"n", 1 << 30}, {"m", 1 << 30}, {"k", 1}}), 1);
}
TEST(SizeDivision, ByZeroIsZero) { EXPECT_TRUE(floor_div(n, 0).is(0)); }
TEST(SizeDivision, FloorsTowardsMinusInfinity) { EXPECT_TRUE(floor_div(-7, 2).is(-4)); }
TEST(SizeDivision, OfASmallValueIsZero) { EXPECT_TRUE(floor_div(mod(n, 4), 4).is(0)); }
TEST(SizeDivision, CeilingOfAMultiple) { expect_form(ceil_div(n * m, m), "n"); }
TEST(SizeDivision, CeilingIsAFloor) { expect_form(ceil_div(n, 64), "floordiv(n + 63, 64)"); }
TEST(SizeDivision, ModuloOfAMultipleIsTheRest) { EXPECT_TRUE(mod(4 * n + 3, 4).is(3)); }
TEST(SizeDivision, ModuloOneIsZero) { EXPECT_TRUE(mod(n, 1).is(0)); }
TEST(SizeDivision, ModuloDropsMultiples) { expect_form(mod(n * m + k, m), "mod(k, m)"); }
TEST(SizeDivision, ModuloKeepsACommonFactor) {
    expect_form(mod(4 * n + 1, 6), "2*mod(2*n, 3) + 1");
}
TEST(SizeDivision, InnerModuloIsDropped) { expect_form(mod(mod(n, 12) + 5, 4), "mod(n + 1, 4)"); }

TEST(SizeExtrema, OfOrderedSizes) {
    expect_form(min(n, n + 3), "n");
    expect_form(max(n, n + 3), "n + 3");
    expect_form(max(n, 0), "n");
}
TEST(SizeExtrema, CommuteWhenUnordered) { EXPECT_EQ(min(n, m), min(m, n)); }
TEST(SizeExtrema, RepeatedOperandIsDropped) { EXPECT_EQ(min(min(n, m), n), min(n, m)); }

TEST(SizeLogarithm, OfEveryNumber) {
    for (const int64_t v : {-5, 0, 1}) EXPECT_TRUE(log2(Size(v)).is(0)) << v;
    for (int k = 1; k < 31; ++k)
        for (const int64_t v : {(int64_t{1} << k) - 1, int64_t{1} << k, (int64_t{1} << k) + 1}) {
            const int expected = std::bit_width(static_cast<uint64_t>(v)) - 1;
            EXPECT_TRUE(log2(Size(v)).is(expected)) << v;
            EXPECT_EQ(log2(n).evaluate({{"n", v}}), expected) << v;
        }
}
TEST(SizeLogarithm, OfWhatMayBeNegative) { EXPECT_EQ(log2(s).evaluate({{"$0", -9}}), 0); }
TEST(SizeLogarithm, IsSmallInFurtherArithmetic) {
    EXPECT_LT((log2(n) * log2(n)).atoms(), 200);
    EXPECT_LE(log2(n).upper_bound(), 30);
}

TEST(SizeBounds, DimensionsAreNotNegative) { EXPECT_EQ(n.lower_bound(), 0); }
TEST(SizeBounds, DimensionsAreBelowTwoToThe31) { EXPECT_EQ(n.upper_bound(), 2147483647); }
TEST(SizeBounds, ScalarArgumentsMayBeNegative) { EXPECT_EQ(s.lower_bound(), -2147483648ll); }
TEST(SizeBounds, ModuloIsBelowItsDivisor) { EXPECT_EQ(mod(n, 8).upper_bound(), 7); }
TEST(SizeBounds, ModuloOfANegativeIsNotNegative) { EXPECT_EQ(mod(s, 8).lower_bound(), 0); }
TEST(SizeBounds, HugeProductsSaturate) { EXPECT_EQ((n * m * k).upper_bound(), INT64_MAX); }
TEST(SizeBounds, FlooredMultipleIsAtMostTheValue) {
    EXPECT_TRUE(proved_less_equal(4 * floor_div(n, 4), n));
}
TEST(SizeBounds, CeiledMultipleIsAtLeastTheValue) {
    EXPECT_TRUE(proved_less_equal(n, 4 * ceil_div(n, 4)));
}
TEST(SizeBounds, MinimumIsAtMostBoth) { EXPECT_TRUE(proved_less_equal(min(n, m), m)); }
TEST(SizeBounds, MaximumIsAtLeastBoth) { EXPECT_TRUE(proved_less_equal(n, max(n, m))); }
TEST(SizeBounds, MinimumOfTwoIsNotAboveEither) { EXPECT_FALSE(proved_less_equal(n, min(n, m))); }
TEST(SizeBounds, UnrelatedSymbolsAreNotOrdered) { EXPECT_FALSE(proved_less_equal(n, m)); }
TEST(SizeBounds, HalvesAreAtMostTheWhole) {
    EXPECT_TRUE(proved_less_equal(floor_div(n, 2), n));
    EXPECT_TRUE(proved_less_equal(floor_div(n, 2) + floor_div(n, 3), n));
    EXPECT_TRUE(proved_less_equal(n, 3 * floor_div(n, 2) + 1));
    EXPECT_FALSE(proved_less_equal(n, 3 * floor_div(n, 2)));
    EXPECT_FALSE(proved_less_equal(floor_div(n, 2) + floor_div(2 * n, 3), n));
}
TEST(SizeBounds, QuotientsOfPartsAreOrdered) {
    EXPECT_TRUE(proved_less_equal(floor_div(n, 4096) + 1, 16 * floor_div(n, 65536) + 16));
    EXPECT_FALSE(proved_less_equal(floor_div(n, 4096) + 1, 15 * floor_div(n, 65536) + 16));
}
TEST(SizeBounds, AProductMayBeSmallerThanItsFactor) { EXPECT_FALSE(proved_less_equal(n, n * m)); }

TEST(SizeDivisor, OfTerms) { EXPECT_EQ((8 * n + 12 * m).divisor(), 4); }
TEST(SizeDivisor, OfZeroIsZero) { EXPECT_EQ(Size(0).divisor(), 0); }
TEST(SizeDivisor, OfAFlooredMultiple) { EXPECT_EQ((n - mod(n, 4)).divisor(), 4); }
TEST(SizeDivisor, OfADivision) { EXPECT_EQ(floor_div(16 * floor_div(n, 16) + 3, 4).divisor(), 4); }

TEST(SizeEvaluate, DivisionByASymbolOfZero) {
    EXPECT_EQ(floor_div(n, m).evaluate({{"n", 5}, {"m", 0}}), 0);
    EXPECT_EQ(mod(n, m).evaluate({{"n", 5}, {"m", 0}}), 0);
}
TEST(SizeEvaluate, MissingSymbolIsNamed) {
    EXPECT_EQ(message<UserError>([] {
                  (n * m).evaluate({{"n", 5}});
              }),
              "size: symbol 'm' has no value (known: n); use it as the dimension of an argument");
}
TEST(SizeEvaluate, OverflowIsAnError) {
    EXPECT_NE(message<UserError>([] {
                  (n * n).evaluate({{"n", INT64_MAX}});
              }).find("64 bits"),
              std::string::npos);
}
TEST(SizeEvaluate, SubstitutionIsSimultaneous) {
    expect_form((n - 2 * m).substitute({{"n", m}, {"m", n}}), "m - 2*n");
}
TEST(SizeEvaluate, SubstitutionSimplifies) {
    EXPECT_TRUE(floor_div(n, m).substitute({{"n", 4 * k}, {"m", Size(2)}}) == 2 * k);
}
TEST(SizeEvaluate, SymbolsAreSortedAndUnique) {
    EXPECT_EQ((n * floor_div(m, n) + k).symbols(), (std::vector<std::string>{"k", "m", "n"}));
}

TEST(SizeErrors, ConstantOfASymbol) {
    EXPECT_EQ(message<InternalError>([] { n.constant(); }),
              "internal error: size n is not a constant");
}
TEST(SizeErrors, ANumberAsSymbol) {
    EXPECT_NE(message<UserError>([] { Size::symbol("4"); }).find("'4' cannot name a dimension"),
              std::string::npos);
}
TEST(SizeErrors, UnreadableText) {
    for (const char* text :
         {"", "2*", "n +", "floordiv(n)", "n n", "sqrt(n, 2)", "?(n)", "99999999999999999999"})
        EXPECT_THROW(parse_size(text), UserError) << text;
}
TEST(SizeErrors, LeastNumberIsRead) {
    EXPECT_TRUE(parse_size("-9223372036854775808").is(INT64_MIN));
}

TEST(SizeBounds, OneThatDoublesIsRefused) {
    Size size = n;
    const auto double_it = [&] {
        for (int k = 0; k < 200; ++k) size = min(size, floor_div(size, 2) + m);
    };
    EXPECT_EQ(message<UserError>(double_it),
              "size: a size is made of more than 4096 symbols, quotients and the like; compute it "
              "as a tensor, or give "
              "it by the dimension of an argument");
    EXPECT_LE(size.atoms(), 4096);
}
TEST(SizeBounds, AProductOfSumsThatGrowsIsRefused) {
    Size size = n;
    EXPECT_THROW(
        for (int k = 2; k < 200; ++k) size = (size + 1) * (floor_div(n, k) + floor_div(m, k)),
        UserError);
    EXPECT_LE(size.atoms(), 4096);
}
TEST(SizeBounds, QuotientsDeepInsideOneAnotherAreRefused) {
    Size size = n;
    const auto divide = [&] {
        for (int k = 0; k < 10'000; ++k) size = floor_div(size + 1, m);
    };
    EXPECT_NE(message<UserError>(divide).find("128 deep inside one another"), std::string::npos);
    EXPECT_EQ(parse_size(size.text()), size);
    EXPECT_EQ(size.substitute({{"n", n + 1}}).symbols(), (std::vector<std::string>{"m", "n"}));
}
TEST(SizeBounds, ASumOfAThousandDimensionsIsNone) {
    Size size;
    for (int k = 0; k < 1000; ++k) size += Size::symbol("n" + std::to_string(k));
    EXPECT_EQ(size.atoms(), 1000);
}
TEST(SizeBounds, ATextOfManyParenthesesIsRefused) {
    const int many = 100'000;
    EXPECT_NE(message<UserError>([&] {
                  parse_size(std::string(many, '(') + "n" + std::string(many, ')'));
              }).find("parentheses stand more than 256 deep"),
              std::string::npos);
}

TEST(Shapes, ElementCount) { EXPECT_EQ(element_count({n, 4, m}), 4 * m * n); }
TEST(Shapes, Text) { EXPECT_EQ(text(Shape{n, 4, 2 * m}), "[n, 4, 2*m]"); }
TEST(Shapes, TextOfAScalar) { EXPECT_EQ(text(Shape{}), "[]"); }

/// A random expression as a Size and as its plain value.
struct Sample {
    Size size;
    int64_t value;
};
Sample random_sample(std::mt19937& random, const SizeEnv& env, int depth) {
    auto pick = [&](int count) {
        return static_cast<int>(random() % static_cast<unsigned>(count));
    };
    if (depth == 0 || pick(5) == 0) {
        const char* names[] = {"n", "m", "$0"};
        if (pick(2) == 0) return {pick(13) - 4, 0};
        const char* name = names[pick(3)];
        return {Size::symbol(name), env.at(name)};
    }
    Sample a = random_sample(random, env, depth - 1), b = random_sample(random, env, depth - 1);
    a.value = a.size.is_constant() ? a.size.constant() : a.value;
    b.value = b.size.is_constant() ? b.size.constant() : b.value;
    int64_t by = pick(9) + 1;
    auto floored = [](int64_t x, int64_t y) { return x / y - (x % y != 0 && x < 0); };
    switch (pick(7)) {
        case 0: return {a.size + b.size, a.value + b.value};
        case 1: return {a.size - b.size, a.value - b.value};
        case 2: return {a.size * b.size, a.value * b.value};
        case 3: return {floor_div(a.size, by), floored(a.value, by)};
        case 4: return {mod(a.size, by), a.value - by * floored(a.value, by)};
        case 5: return {min(a.size, b.size), std::min(a.value, b.value)};
        default: return {max(a.size, b.size), std::max(a.value, b.value)};
    }
}

// --- data symbols: sizes that only the device knows

const Size count = Size::data("?0", n);

TEST(DataSizes, AreEqualByName) {
    EXPECT_EQ(floor_div(count * 4, 4), Size::data("?0", n));
    EXPECT_FALSE(count == Size::data("?1", n));
    EXPECT_EQ(parse_size((2 * count + m).text()), 2 * count + m);
}
TEST(DataSizes, AreBoundedByWhatTheHostKnows) {
    EXPECT_EQ(largest(2 * count * m + 3), 2 * n * m + 3);
    EXPECT_EQ(largest(n - count), n);
    EXPECT_EQ(smallest(n - count), Size(0));
    EXPECT_EQ(largest(ceil_div(count, 64)), ceil_div(n, 64));
    EXPECT_EQ(largest(Size::data("?1", count + m)), n + m);
    EXPECT_TRUE(proved_less_equal(count, n));
    EXPECT_FALSE(proved_less_equal(n, count));
    EXPECT_EQ(Size::data("?2", 70).upper_bound(), 70);
}
TEST(DataSizes, TheirBoundTakesPartInSubstitution) {
    EXPECT_EQ(largest((count + 1).substitute({{"n", Size(8)}})), Size(9));
    EXPECT_EQ((count + 1).substitute({{"?0", Size(3)}}), Size(4));
}
TEST(DataSizes, NoValueIsBeyondTheBounds) {
    std::mt19937 random(11);
    for (int round = 0; round < 5000; ++round) {
        SizeEnv env{
            {"n", random() % 20}, {"m", random() % 20}, {"$0", int64_t(random() % 40) - 20}};
        const Sample sample = random_sample(random, env, 4);
        if (sample.size.is_constant()) continue;
        // m is now a data symbol with a bound that is at least its value.
        const Size bound = max(Size::symbol("$0"), 0) + Size::symbol("k");
        const Size hidden = sample.size.substitute({{"m", Size::data("?0", bound)}});
        env["k"] = env["m"];
        ASSERT_GE(largest(hidden).evaluate(env), sample.value) << hidden.text();
        ASSERT_LE(smallest(hidden).evaluate(env), sample.value) << hidden.text();
    }
}

TEST(SizeProperty, SimplificationKeepsValuesBoundsDivisorsAndText) {
    std::mt19937 random(7);
    for (int round = 0; round < 20000; ++round) {
        SizeEnv env{
            {"n", random() % 20}, {"m", random() % 20}, {"$0", int64_t(random() % 40) - 20}};
        Sample sample = random_sample(random, env, 4);
        if (sample.size.is_constant()) continue;
        std::string text = sample.size.text();
        ASSERT_EQ(sample.size.evaluate(env), sample.value) << text;
        ASSERT_LE(sample.size.lower_bound(), sample.value) << text;
        ASSERT_GE(sample.size.upper_bound(), sample.value) << text;
        int64_t divisor = sample.size.divisor();
        ASSERT_EQ(divisor == 0 ? sample.value : sample.value % divisor, 0) << text;
        ASSERT_EQ(parse_size(text), sample.size) << text;
    }
}

}  // namespace
}  // namespace firn
