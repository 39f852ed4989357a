// Operations of which there is one that does the work of several.
#include "compiler/mapping/behind/combine_operations.h"

#include <gtest/gtest.h>

#include <cctype>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "compiler/language.h"

namespace firn {
namespace {

/// `body` of an invocation that may compute with a number x and its index i, below n.
std::string kernel(const std::string& body) {
    return R"(kernel
  group_size 64 1 1
  groups floordiv(n + 63, 64); 1; 1
  guards 1
  placed
  b0 f32[n] storage of 0
  b1 f32[n] storage written of 1
  b2 f32[n] storage written of 2
  p0 i32 = n
  p1 i32 argument 2
  g0 group < floordiv(n + 63, 64)
  t1 invocation < 64
{
  %1 = Mul i32 g0 64 in 0 2147483584 mod 64 0
  %2 = Add i32 %1 t1 in 0 2147483647
  %3 = Load f32 b0 %2
)" + body + "}\n";
}

/// Returns the text behind the load, with nodes numbered from there.
std::string tail(const KernelCode& code) {
    const std::string text = print(code);
    std::string out;
    std::map<std::string, std::string> numbers;
    for (size_t at = text.find('\n', text.find("Load f32")) + 1; at + 2 < text.size(); ++at) {
        out += text[at];
        if (text[at] != '%') continue;
        std::string number;
        while (std::isdigit(static_cast<unsigned char>(text[at + 1]))) number += text[++at];
        out += numbers.emplace(number, std::to_string(numbers.size())).first->second;
    }
    return out;
}
std::string as_it_is(const std::string& body) { return tail(parse_kernel(kernel(body))); }
std::string combined(const std::string& body) {
    KernelCode code = parse_kernel(kernel(body));
    verify(code, KernelStage::Placed, "parse");
    combine_operations(code);
    verify(code, KernelStage::Placed, "combine_operations");
    return tail(code);
}

TEST(CombineOperations, TakesOnePlusTheTanhThatNobodyElseAsksFor) {
    EXPECT_EQ(combined("  %4 = Tanh f32 %3\n"
                       "  %5 = Add f32 1.0 %4\n"
                       "  ! %6 = Store f32 b1 %2 %5\n"),
              as_it_is("  %5 = OnePlusTanh f32 %3\n"
                       "  ! %6 = Store f32 b1 %2 %5\n"));
    const std::string twice =
        "  %4 = Tanh f32 %3\n"
        "  %5 = Add f32 %4 1.0\n"
        "  ! %6 = Store f32 b1 %2 %5\n"
        "  ! %7 = Store f32 b2 %2 %4\n";
    EXPECT_EQ(combined(twice), as_it_is(twice));
    const std::string two =
        "  %4 = Tanh f32 %3\n"
        "  %5 = Add f32 %4 2.0\n"
        "  ! %6 = Store f32 b1 %2 %5\n";
    EXPECT_EQ(combined(two), as_it_is(two));
}

TEST(CombineOperations, TakesTwoComparisonsOfOneIndex) {
    EXPECT_EQ(combined("  %4 = LessEqual bool 0 p1\n"
                       "  %5 = Less bool p1 100\n"
                       "  %6 = And bool %5 %4\n"
                       "  ! %8 = Branch guard %6 {\n"
                       "    ! %7 = Store f32 b1 %2 %3\n"
                       "  }\n"),
              as_it_is("  %6 = InRange bool p1 100\n"
                       "  ! %8 = Branch guard %6 {\n"
                       "    ! %7 = Store f32 b1 %2 %3\n"
                       "  }\n"));
}

TEST(CombineOperations, LeavesComparisonsWithWhatMayBeNegative) {
    const std::string ends_anywhere =
        "  %4 = LessEqual bool 0 %2\n"
        "  %5 = Less bool %2 p1\n"
        "  %6 = And bool %4 %5\n"
        "  ! %8 = Branch guard %6 {\n"
        "    ! %7 = Store f32 b1 %2 %3\n"
        "  }\n";
    EXPECT_EQ(combined(ends_anywhere), as_it_is(ends_anywhere));
    const std::string of_two_indices =
        "  %4 = LessEqual bool 0 p1\n"
        "  %5 = Less bool %2 100\n"
        "  %6 = And bool %4 %5\n"
        "  ! %8 = Branch guard %6 {\n"
        "    ! %7 = Store f32 b1 %2 %3\n"
        "  }\n";
    EXPECT_EQ(combined(of_two_indices), as_it_is(of_two_indices));
}

TEST(CombineOperations, TakesAShiftForAPowerOfTwo) {
    EXPECT_EQ(combined("  %4 = ShiftLeft i32 1 p1\n"
                       "  %5 = Div i32 %2 %4\n"
                       "  %6 = Mod i32 %2 %4\n"
                       "  %7 = Add i32 %5 %6\n"
                       "  ! %8 = Store f32 b1 %7 %3\n"),
              as_it_is("  %4 = ShiftLeft i32 1 p1\n"
                       "  %5 = ShiftRight i32 %2 p1\n"
                       "  %6 = LowBits i32 %2 %4\n"
                       "  %7 = Add i32 %5 %6\n"
                       "  ! %8 = Store f32 b1 %7 %3\n"));
    const std::string may_be_negative =
        "  %4 = ShiftLeft i32 1 %2\n"
        "  %5 = Div i32 p1 %4\n"
        "  ! %8 = Store f32 b1 %5 %3\n";
    EXPECT_EQ(combined(may_be_negative), as_it_is(may_be_negative));
    const std::string other_numbers =
        "  %4 = ShiftLeft i32 3 p1\n"
        "  %5 = Mod i32 %2 %4\n"
        "  ! %8 = Store f32 b1 %5 %3\n";
    EXPECT_EQ(combined(other_numbers), as_it_is(other_numbers));
}

/// Checks the ends of ranges, and nan.
TEST(CombineOperations, MeansWhatItsPartsMean) {
    Session session = Session::interpreter();
    const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
    const Tensor x = tensor({-inf, -1.0f, 0.0f, inf, nan});
    const Tensor at = tensor({INT32_MIN, -1, 0, 4, 5});
    const std::vector<float> y = (1.0f + tanh(x)).to_vector<float>();
    EXPECT_EQ(y[0], 0);
    EXPECT_NEAR(y[1], 1 + std::tanh(-1.0), 1e-7);
    EXPECT_EQ(y[2], 1);
    EXPECT_EQ(y[3], 2);
    EXPECT_TRUE(std::isnan(y[4]));
    const std::vector<bool> inside = ((0 <= at) & (at < 5)).to_vector<bool>();
    EXPECT_EQ(inside, (std::vector<bool>{false, false, true, true, false}));
    // Counts are masked: 31 makes the sign bit, 32 one.
    const Tensor i = arange(100) * 20000000, power = 1 << tensor({0, 3, 30, 31, 32, -1});
    const Tensor q = unsqueeze(i, 1) / power, r = unsqueeze(i, 1) % power;
    Session oracle = Session::oracle();
    const Tensor same = arange(100) * 20000000, powers = 1 << tensor({0, 3, 30, 31, 32, -1});
    EXPECT_EQ(q.to_vector<int>(), (unsqueeze(same, 1) / powers).to_vector<int>());
    EXPECT_EQ(r.to_vector<int>(), (unsqueeze(same, 1) % powers).to_vector<int>());
}

/// Returns whether the sine of %9, which `body` computes, becomes one for angles of few periods.
bool is_of_few(const std::string& body) {
    const std::string out = combined(body + "  %10 = Sin f32 %9\n  ! %11 = Store f32 b1 %2 %10\n");
    return out.find("SinOfFew") != std::string::npos;
}

TEST(CombineOperations, TurnsAreFewWhereBoundsSaySo) {
    EXPECT_TRUE(
        is_of_few("  %4 = Mod i32 %2 1000 in 0 999\n"
                  "  %5 = Cast f32 %4\n"
                  "  %9 = Mul f32 %5 100.0\n"));
    EXPECT_FALSE(
        is_of_few("  %4 = Mod i32 %2 1001 in 0 1000\n"
                  "  %5 = Cast f32 %4\n"
                  "  %9 = Mul f32 %5 100.0\n"));
    EXPECT_FALSE(is_of_few("  %9 = Add f32 %3 1.0\n")) << "of memory";
    EXPECT_FALSE(is_of_few("  %5 = Cast f32 %2\n  %9 = Add f32 %5 1.0\n")) << "of any index";
}

TEST(CombineOperations, TurnsOfWhatIsMadeOfFractionsAndTurnsAreFew) {
    EXPECT_TRUE(is_of_few("  %4 = Frac f32 %3\n  %9 = Mul f32 %4 6.2831855\n"));
    EXPECT_TRUE(
        is_of_few("  %4 = Sin f32 %3\n  %5 = Abs f32 %4\n  %6 = Neg f32 %5\n"
                  "  %9 = Sub f32 5.0 %6\n"));
    EXPECT_TRUE(
        is_of_few("  %4 = Bitcast u32 %3\n  %5 = ShiftRight u32 %4 8:u32\n"
                  "  %6 = Cast f32 %5\n  %9 = Div f32 %6 16777216.0\n"));
    EXPECT_FALSE(is_of_few("  %4 = Frac f32 %3\n  %9 = Div f32 1.0 %4\n"));
    EXPECT_FALSE(is_of_few("  %4 = Frac f32 %3\n  %5 = Sub f32 %4 %3\n  %9 = Neg f32 %5\n"));
}

/// One of two that is no number leaves the other.
TEST(CombineOperations, TurnsOfWhatIsClampedAreFew) {
    EXPECT_TRUE(is_of_few("  %4 = Min f32 %3 100.0\n  %9 = Max f32 %4 -100.0\n"));
    EXPECT_FALSE(is_of_few("  %4 = Min f32 %3 100.0\n  %9 = Max f32 %4 -1e6\n"));
    EXPECT_FALSE(is_of_few("  %4 = Sin f32 %3\n  %9 = Min f32 %4 %3\n"));
    EXPECT_FALSE(is_of_few("  %4 = Sin f32 %3\n  %5 = Max f32 %3 -1.0\n  %9 = Min f32 %4 %5\n"));
    EXPECT_TRUE(
        is_of_few("  %4 = Less bool %3 1.0\n  %5 = Frac f32 %3\n"
                  "  %9 = Select f32 %4 %5 70.0\n"));
}

}  // namespace
}  // namespace firn
