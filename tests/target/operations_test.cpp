// The GLSL text of operations, literals and the functions that are copied into a kernel.
#include "compiler/target/glsl/operations.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "compiler/base/error.h"
#include "compiler/target/glsl/spirv.h"

namespace firn {
namespace {

std::string of_two(KernelOp op, DType dtype, const std::string& a, const std::string& b) {
    return operation_glsl(op, dtype, {dtype, dtype}, {a, b});
}
std::string cast_of(DType to, DType from) {
    return operation_glsl(KernelOp::Cast, to, {from}, {"x"});
}

std::string message_of(KernelOp op, DType dtype) {
    try {
        operation_glsl(op, dtype, {dtype}, {"x"});
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

TEST(Operations, SimpleArithmeticIsTheOperator) {
    EXPECT_EQ(of_two(KernelOp::Add, f32, "a", "b"), "(a + b)");
}

TEST(Operations, HalfPrecisionIsRoundedAfterEachOperation) {
    EXPECT_EQ(of_two(KernelOp::Mul, f16, "a", "b"), "firn_round_f16((a * b))");
}
TEST(Operations, WideNumbersAreRoundedToHalvesOnce) {
    const auto cast = [](DType to, DType from) {
        return operation_glsl(KernelOp::Cast, to, {from}, {"a"});
    };
    EXPECT_EQ(cast(f16, f64), "firn_round_f16(firn_odd_f32_from_f64(a))");
    EXPECT_EQ(cast(bf16, i32), "firn_round_bf16(firn_odd_f32_from_i32(a))");
    EXPECT_EQ(cast(f16, i64), "firn_round_f16(float(a))");
    EXPECT_EQ(cast(bf16, f32), "firn_round_bf16(a)");
}
TEST(Operations, AnExactOperationOnHalfPrecisionIsNotRounded) {
    EXPECT_EQ(operation_glsl(KernelOp::Floor, f16, {f16}, {"a"}), "floor(a)");
}
TEST(Operations, SmallIntegersWrap) {
    EXPECT_EQ(of_two(KernelOp::Add, u8, "a", "b"), "((a + b) & 255u)");
    EXPECT_EQ(of_two(KernelOp::Add, i16, "a", "b"), "bitfieldExtract((a + b), 0, 16)");
}

TEST(Operations, DivisionByAVariableIsGuarded) {
    EXPECT_EQ(of_two(KernelOp::Div, i32, "a", "b"), "firn_div_i32(a, b)");
}
TEST(Operations, DivisionByALiteralIsNot) {
    EXPECT_EQ(of_two(KernelOp::Div, i32, "a", "3"), "(a / 3)");
}
TEST(Operations, DivisionByTheLiteralZeroIsGuarded) {
    EXPECT_EQ(of_two(KernelOp::Div, i32, "a", "0"), "firn_div_i32(a, 0)");
}
TEST(Operations, DivisionByANegativeLiteralIsGuarded) {
    EXPECT_EQ(of_two(KernelOp::Div, i32, "a", "(-1)"), "firn_div_i32(a, (-1))");
}
TEST(Operations, RemainderByALiteralIsPlainWhereGlslDefinesIt) {
    EXPECT_EQ(of_two(KernelOp::Mod, u32, "a", "7u"), "(a % 7u)");
    EXPECT_EQ(of_two(KernelOp::Mod, i32, "a", "7"), "firn_mod_i32(a, 7)");
}
TEST(Operations, RemainderByASmallPositiveLiteralHasFewerCases) {
    EXPECT_EQ(of_two(KernelOp::Mod, f32, "a", "7.0"), "firn_mod_f32(a, 7.0)");
    EXPECT_EQ(of_two(KernelOp::Mod, f32, "a", "8.0"), "firn_mod_by_f32(a, 8.0)");
    EXPECT_EQ(of_two(KernelOp::Mod, f32, "a", "1.0e+30"), "firn_mod_f32(a, 1.0e+30)");
    EXPECT_EQ(of_two(KernelOp::Mod, f32, "a", "(-7.0)"), "firn_mod_f32(a, (-7.0))");
    EXPECT_EQ(of_two(KernelOp::Mod, f32, "a", "b"), "firn_mod_f32(a, b)");
}

TEST(Operations, ShiftCountsAreMasked) {
    EXPECT_EQ(of_two(KernelOp::ShiftLeft, i32, "a", "b"), "(a << (int(b) & 31))");
    EXPECT_EQ(of_two(KernelOp::ShiftRight, u64, "a", "b"), "(a >> (int(b) & 63))");
}

TEST(Operations, AChoiceBetweenExpressionsNeverBranches) {
    const std::vector<DType> types = {boolean, f32, f32};
    EXPECT_EQ(operation_glsl(KernelOp::Select, f32, types, {"c", "a", "b"}), "(c ? a : b)");
    EXPECT_EQ(operation_glsl(KernelOp::Select, f32, types, {"c", "(a * a)", "b"}),
              "mix(b, (a * a), c)");
}

TEST(Operations, ALiteralIsTheSecondOperandOfAMinimum) {
    EXPECT_EQ(of_two(KernelOp::Min, f32, "(-2.5)", "(a * b)"), "firn_min_f32((a * b), (-2.5))");
    EXPECT_EQ(of_two(KernelOp::Max, f32, "a", "b"), "firn_max_f32(a, b)");
}

TEST(Operations, CastsOfFloatsToIntegersSaturate) {
    EXPECT_EQ(cast_of(i32, f32), "firn_i32_from_f32(x)");
    EXPECT_EQ(cast_of(u8, f16), "min(firn_u32_from_f32(x), 255u)");
    EXPECT_EQ(cast_of(i16, bf16), "clamp(firn_i32_from_f32(x), -32768, 32767)");
}
TEST(Operations, HalfPrecisionIsHeldInAFloatSoWideningIsFree) { EXPECT_EQ(cast_of(f32, f16), "x"); }

TEST(Operations, EveryRowAndTypeIsEitherTextOrAUserError) {
    for (int k = 0; k < kElementwiseCount; ++k) {
        const auto op = static_cast<KernelOp>(k);
        const auto arity = static_cast<size_t>(info(op).arity);
        for (DType dtype : kAllTypes) {
            const std::vector<DType> types(arity, dtype);
            const std::vector<std::string> operands(arity, "x");
            if (supported(op, dtype))
                EXPECT_NE(operation_glsl(op, dtype, types, operands), "") << info(op).name;
            else
                EXPECT_THROW(operation_glsl(op, dtype, types, operands), UserError)
                    << info(op).name;
        }
    }
}

TEST(Operations, AnOperationThatATypeHasNotIsNamedWithTheType) {
    EXPECT_EQ(message_of(KernelOp::Sin, i32),
              "Sin of i32: GLSL has no such operation on this type; cast the operand "
              "first (to a type that has it, such as i32 or f32)");
}

TEST(Literals, AreTheShortestTextOfTheirBits) {
    EXPECT_EQ(glsl_literal(scalar_float(0.1)), "0.1");
    EXPECT_EQ(glsl_literal(scalar_float(3)), "3.0");
    EXPECT_EQ(glsl_literal(scalar_float(1e20)), "1e+20");
    EXPECT_EQ(glsl_literal(scalar_float(0.1, f64)), "0.1lf");
}
TEST(Literals, NegativeOnesStandInParentheses) {
    EXPECT_EQ(glsl_literal(scalar_float(-2.5)), "(-2.5)");
    EXPECT_EQ(glsl_literal(scalar_int(-7)), "(-7)");
}
TEST(Literals, WhatHasNoDigitsIsWrittenByItsBits) {
    EXPECT_EQ(glsl_literal(scalar_float(INFINITY)), "uintBitsToFloat(2139095040u)");
    EXPECT_EQ(glsl_literal(scalar_float(-0.0)), "uintBitsToFloat(2147483648u)");
    EXPECT_EQ(glsl_literal(scalar_float(1e-45)), "uintBitsToFloat(1u)");
}
TEST(Literals, TheSmallestIntegersAreCastFromUnsigned) {
    EXPECT_EQ(glsl_literal(scalar_int(INT32_MIN)), "int(2147483648u)");
    EXPECT_EQ(glsl_literal(scalar_int(INT64_MIN, i64)), "int64_t(9223372036854775808ul)");
}

size_t occurrences(const std::string& text, const std::string& part) {
    size_t count = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        ++count;
    return count;
}

TEST(MathLibrary, OfNothingIsEmpty) { EXPECT_EQ(math_library({}), ""); }

TEST(MathLibrary, ASharedPartComesOnceAndBeforeItsUsers) {
    const std::string text = math_library({"firn_sin", "firn_cos"});
    EXPECT_EQ(occurrences(text, "float firn_sin_part("), 1u);
    EXPECT_LT(text.find("float firn_sin_part("), text.find("float firn_sin("));
}

TEST(MathLibrary, LeavesOutWhatIsNotNeeded) {
    EXPECT_EQ(math_library({"firn_exp"}).find("firn_log"), std::string::npos);
}

TEST(MathLibrary, AnUnknownFunctionIsAnInternalError) {
    EXPECT_THROW(math_library({"firn_nothing"}), InternalError);
}

TEST(Operations, WhatADeviceRoundsOtherwiseIsCorrected) {
    DeviceProfile profile = cpu_profile();
    const auto quotient = [&](DType dtype) {
        return operation_glsl(profile, KernelOp::Div, dtype, {dtype, dtype}, {"a", "b"});
    };
    EXPECT_EQ(quotient(f32), "(a / b)");
    profile.rounds_exactly = false;
    EXPECT_EQ(quotient(f32), "firn_div_f32(a, b)");
    EXPECT_EQ(quotient(f16), "firn_round_f16(firn_div_f32(a, b))");
    EXPECT_EQ(quotient(f64), "(a / b)");
    EXPECT_EQ(quotient(i32), "firn_div_i32(a, b)");
    EXPECT_EQ(operation_glsl(profile, KernelOp::Rcp, f32, {f32}, {"a"}), "(1.0 / a)");
    EXPECT_EQ(operation_glsl(profile, KernelOp::Mod, f32, {f32, f32}, {"a", "3.0"}),
              "firn_mod_f32(a, 3.0)");
    for (const char* exact : {"2.0", "0.25", "(-8.0)", "1.0"})
        EXPECT_EQ(operation_glsl(profile, KernelOp::Div, f32, {f32, f32}, {"a", exact}),
                  std::string("(a / ") + exact + ")");
    EXPECT_EQ(operation_glsl(profile, KernelOp::Mod, f32, {f32, f32}, {"a", "b"}),
              "firn_mod_f32(a, b)");
    EXPECT_EQ(operation_glsl(profile, KernelOp::Sqrt, f32, {f32}, {"a"}), "firn_sqrt_f32(a)");
}

TEST(Operations, ANumberWithoutSignIsRoundedOnceToAFloat) {
    const auto converted = [](DType to, DType from) {
        return operation_glsl(KernelOp::Cast, to, {from}, {"x"});
    };
    EXPECT_EQ(converted(f32, u32), "firn_f32_from_u32(x)");
    EXPECT_EQ(converted(f16, u32), "firn_round_f16(firn_f32_from_u32(x))");
    EXPECT_EQ(converted(f32, u16), "float(x)");
    EXPECT_EQ(converted(f32, i32), "float(x)");
    EXPECT_EQ(converted(f64, u32), "double(x)");
}

TEST(MathLibrary, WhatEachFunctionOfTheTableNeedsIsThere) {
    for (int k = 0; k < kElementwiseCount; ++k) {
        const auto op = static_cast<KernelOp>(k);
        if (!supported(op, f32) || op == KernelOp::Bitcast || op == KernelOp::Select) continue;
        const auto arity = static_cast<size_t>(info(op).arity);
        for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()}) {
            const std::string value =
                operation_glsl(profile, op, f32, std::vector<DType>(arity, f32),
                               std::vector<std::string>(arity, "x"));
            if (!value.starts_with("firn_")) continue;
            const std::string glsl = "#version 460\n" +
                                     math_library({value.substr(0, value.find('('))}) +
                                     "void main() { float x = 1.0; " + value + "; }\n";
            EXPECT_NO_THROW(glsl_to_spirv(glsl, info(op).name)) << info(op).name;
        }
    }
}

}  // namespace
}  // namespace firn
