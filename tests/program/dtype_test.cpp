// Scalar values: conversion, storage, text, half precision.
#include "compiler/program/dtype.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "compiler/base/error.h"

namespace firn {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(Scalar, FloatsRoundToTheirType) { EXPECT_EQ(scalar_float(0.1).f, double(0.1f)); }
TEST(Scalar, FloatToIntegerTruncates) { EXPECT_EQ(scalar_float(-2.9).to(i32).i, -2); }
TEST(Scalar, FloatToIntegerSaturates) {
    EXPECT_EQ(scalar_float(1e20).to(i32).i, INT32_MAX);
    EXPECT_EQ(scalar_float(-kInf).to(i32).i, INT32_MIN);
    EXPECT_EQ(scalar_float(-1).to(u32).i, 0);
    EXPECT_EQ(scalar_float(300).to(u8).i, 255);
    EXPECT_EQ(scalar_float(-1e5).to(i16).i, -32768);
    EXPECT_EQ(scalar_float(1e5).to(u16).i, 65535);
    EXPECT_EQ(static_cast<uint64_t>(scalar_float(kInf).to(u64).i), UINT64_MAX);
    EXPECT_EQ(scalar_float(9.3e18, f64).to(i64).i, INT64_MAX);
}
TEST(Scalar, NanToIntegerIsZero) { EXPECT_EQ(scalar_float(kNan).to(i32).i, 0); }
TEST(Scalar, NanToBoolIsTrue) { EXPECT_EQ(scalar_float(kNan).to(boolean).i, 1); }
TEST(Scalar, NegativeZeroToBoolIsFalse) { EXPECT_EQ(scalar_float(-0.0).to(boolean).i, 0); }
TEST(Scalar, IntegersWrap) {
    EXPECT_EQ(scalar_int(-1).to(u32).i, 4294967295);
    EXPECT_EQ(scalar_int(300).to(u8).i, 44);
    EXPECT_EQ(scalar_int(200).to(i8).i, -56);
    EXPECT_EQ(scalar_int(40000).to(i16).i, -25536);
    EXPECT_EQ(scalar_int(-1).to(u16).i, 65535);
}
TEST(Scalar, LargeIntegersRoundOnceToF32) {
    // Rounding through f64 first would give 2^54 exactly between two floats and lose the last bit.
    int64_t value = (int64_t{1} << 54) + (int64_t{1} << 30) + 1;
    EXPECT_EQ(scalar_int(value, i64).to(f32).f, double(static_cast<float>(value)));
}
TEST(Scalar, WideNumbersRoundOnceToHalves) {
    // Rounded to f32 first they would be ties, or go beyond the middle.
    const double little = 0x1p-40;
    EXPECT_EQ(scalar_float(1 + 0x1p-11 + little, f64).to(f16).f, 1 + 0x1p-10);
    EXPECT_EQ(scalar_float(-1 - 0x1p-11 - little, f16).f, -1 - 0x1p-10);
    EXPECT_EQ(scalar_float(1 + 3 * 0x1p-11 - little, f16).f, 1 + 0x1p-10);
    EXPECT_EQ(scalar_float(1 + 0x1p-11, f16).f, 1);
    EXPECT_EQ(scalar_float(65519.999999, f64).to(f16).f, 65504);
    EXPECT_EQ(scalar_float(65520, f64).to(f16).f, kInf);
    EXPECT_EQ(scalar_float(0x1p-25 + 0x1p-60, f16).f, 0x1p-24);
    EXPECT_EQ(scalar_float(0x1p-25, f16).f, 0);
    EXPECT_EQ(scalar_float(1e300, f16).f, kInf);
    EXPECT_EQ(scalar_float(-1e-300, f16).f, 0);
    EXPECT_TRUE(std::signbit(scalar_float(-1e-300, f16).f));
    EXPECT_TRUE(std::isnan(scalar_float(kNan, f64).to(f16).f));
    EXPECT_EQ(scalar_float(1 + 0x1p-8 + little, f64).to(bf16).f, 1 + 0x1p-7);
    EXPECT_EQ(scalar_float(1 + 3 * 0x1p-8 - little, bf16).f, 1 + 0x1p-7);
    EXPECT_EQ(scalar_float(0x1.fefffffffp127, bf16).f, 0x1.fep127);
    EXPECT_EQ(scalar_int((1 << 30) + (1 << 22) + 1).to(bf16).f, 0x1.02p30);
    EXPECT_EQ(scalar_int(-(1 << 30) - (1 << 22) - 1).to(bf16).f, -0x1.02p30);
    EXPECT_EQ(scalar_int((int64_t{1} << 62) + (int64_t{1} << 54) + 1, i64).to(bf16).f, 0x1.02p62);
    EXPECT_EQ(scalar_int(INT64_MIN + (int64_t{1} << 55) - 1, i64).to(bf16).f, -0x1.fep62);
    EXPECT_EQ(scalar_int(-1, u64).to(bf16).f, 0x1p64);
    EXPECT_EQ(scalar_int(-1, u64).to(f16).f, kInf);
}
TEST(Scalar, U64IsReadByItsBits) {
    EXPECT_EQ(scalar_int(-1, u64).to(f64).f, 18446744073709551616.0);
    EXPECT_EQ(text(scalar_int(-1, u64)), "18446744073709551615");
}
TEST(Scalar, EqualityIsByBits) {
    EXPECT_TRUE(scalar_float(kNan) == scalar_float(kNan));
    EXPECT_FALSE(scalar_float(0.0) == scalar_float(-0.0));
    EXPECT_FALSE(scalar_int(1) == scalar_bool(true));
}

TEST(Scalar, StorageRoundTripsEveryType) {
    for (DType dtype : kAllTypes) {
        Scalar value = scalar_int(dtype.is_bool() ? 1 : 77, dtype);
        alignas(8) unsigned char bytes[8] = {};
        store_scalar(value, bytes);
        EXPECT_EQ(load_scalar(dtype, bytes), value) << dtype.name();
    }
}

class ScalarText : public testing::TestWithParam<Scalar> {};
TEST_P(ScalarText, RoundTrips) {
    Scalar value = GetParam();
    EXPECT_EQ(parse_scalar(text(value), value.dtype), value) << text(value);
}
INSTANTIATE_TEST_SUITE_P(
    Values, ScalarText,
    testing::Values(scalar_float(0.1), scalar_float(-0.0), scalar_float(1e-45), scalar_float(kInf),
                    scalar_float(-kInf), scalar_float(kNan), scalar_float(-kNan),
                    scalar_float(3.4028234663852886e38), scalar_float(1.0), scalar_float(1e20),
                    scalar_float(0.1, f64), scalar_float(5e-324, f64), scalar_float(65504, f16),
                    scalar_float(0.1, bf16), scalar_float(0.1, f16), scalar_int(INT32_MIN),
                    scalar_int(-1, u64), scalar_int(INT64_MIN, i64), scalar_int(-128, i8),
                    scalar_bool(true)));

TEST(ScalarTexts, FloatsLookLikeFloats) {
    EXPECT_EQ(text(scalar_float(1)), "1.0");
    EXPECT_EQ(text(scalar_float(-0.0)), "-0.0");
    EXPECT_EQ(text(scalar_float(0.1)), "0.1");
    EXPECT_EQ(text(scalar_float(kNan)), "nan");
    EXPECT_EQ(text(scalar_float(-kInf)), "-inf");
}
TEST(ScalarTexts, UnreadableTextIsAnError) {
    EXPECT_THROW(parse_scalar("1.5x", f32), UserError);
    EXPECT_THROW(parse_scalar("", f32), UserError);
    EXPECT_THROW(parse_scalar("1.5", i32), UserError);
    EXPECT_THROW(parse_scalar("300", u8), UserError);
    EXPECT_THROW(parse_scalar("-1", u64), UserError);
    EXPECT_THROW(parse_scalar("1", boolean), UserError);
    EXPECT_THROW(parse_scalar("1e60", f32), UserError);
}

/// Floats of 16 bits, by their bits.
struct Half {
    uint16_t (*bits)(float);
    float (*value)(uint16_t);
    uint32_t infinity, quiet;

    /// A signalling nan becomes quiet.
    void expect_round_trips() const {
        for (uint32_t each = 0; each < 65536; ++each)
            ASSERT_EQ(bits(value(static_cast<uint16_t>(each))),
                      (each & 0x7fff) > infinity ? (each | quiet) : each);
    }
    /// The middle between neighbours goes to the even one; a bit more or less to the nearer one.
    void expect_nearest_even() const {
        for (uint32_t each = 0; each + 1 < infinity; ++each) {
            const float low = value(static_cast<uint16_t>(each)),
                        high = value(static_cast<uint16_t>(each + 1));
            const float middle = low + (high - low) / 2;
            ASSERT_EQ(bits(middle), each + (each & 1)) << each;
            ASSERT_EQ(bits(std::nextafter(middle, high)), each + 1) << each;
            ASSERT_EQ(bits(std::nextafter(middle, low)), each) << each;
        }
    }
};
constexpr Half kF16{f32_to_f16_bits, f16_bits_to_f32, 0x7c00, 0x200};
constexpr Half kBf16{f32_to_bf16_bits, bf16_bits_to_f32, 0x7f80, 0x40};

TEST(F16, EveryValueRoundTrips) { kF16.expect_round_trips(); }
TEST(F16, RoundsToNearestEven) { kF16.expect_nearest_even(); }
TEST(F16, OverflowsToInfinity) {
    EXPECT_EQ(f32_to_f16_bits(65519.996f), 0x7bff);
    EXPECT_EQ(f32_to_f16_bits(65520.0f), 0x7c00);
}
TEST(BF16, EveryValueRoundTrips) { kBf16.expect_round_trips(); }
TEST(BF16, RoundsToNearestEven) { kBf16.expect_nearest_even(); }
TEST(BF16, OverflowsToInfinity) {
    EXPECT_EQ(f32_to_bf16_bits(std::numeric_limits<float>::max()), 0x7f80);
}
TEST(F16, NanStaysNan) { EXPECT_TRUE(std::isnan(round_to_f16(NAN))); }

TEST(DTypes, NamesRoundTrip) {
    for (DType dtype : kAllTypes) EXPECT_EQ(parse_dtype(dtype.name()), dtype);
}
TEST(DTypes, UnknownNameListsTheTypes) {
    try {
        parse_dtype("float");
        FAIL();
    } catch (const UserError& error) {
        EXPECT_STREQ(error.what(),
                     "there is no element type 'float'; the types are f32, f16, bf16, f64, i32, "
                     "u32, i64, u64, i16, u16, i8, u8, bool");
    }
}
TEST(DTypes, ArgSpecOfSymbolsAndNumbers) {
    ArgSpec spec = f32("n", 4);
    EXPECT_EQ(text(spec.shape), "[n, 4]");
}

}  // namespace
}  // namespace firn
