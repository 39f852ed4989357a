// Types of results: weak C++ numbers, promotion, casts, literals.
#include <cmath>

#include "tests/frontend/oracle_session.h"

namespace firn {
namespace {

using Types = OracleTest;

TEST_F(Types, FloatingPointNumbersAreF32) {
    EXPECT_EQ(Tensor(0.1).dtype(), f32);
    EXPECT_EQ(Tensor(0.1f).dtype(), f32);
}

TEST_F(Types, BrainFloatsAreRoundedAfterEachOperation) {
    Tensor x = tensor({256.0f, 3e38f}).as(bf16);
    EXPECT_EQ((x + 1.0f - 256.0f).to_vector<float>()[0], 0);  // 257 is 256 in 8 bits
    EXPECT_EQ(sum(ones({300}, bf16)).item<float>(), 300);
    EXPECT_EQ(sum(ones({1024}, bf16)).dtype(), bf16);
    EXPECT_EQ((x * 2.0f).to_vector<float>()[1], INFINITY);
    EXPECT_EQ(bitcast(tensor({1.0f}).as(bf16), u16).item<int>(), 0x3f80);
}

TEST_F(Types, IntegersAreI32WhereTheyFit) {
    EXPECT_EQ(Tensor(1).dtype(), i32);
    EXPECT_EQ(Tensor(size_t{1}).dtype(), i32);
    EXPECT_EQ(Tensor(1u).dtype(), u32);
    EXPECT_EQ(Tensor(int64_t{1} << 31).dtype(), u32);
    EXPECT_EQ(Tensor(int64_t{1} << 40).dtype(), i64);
    EXPECT_EQ(Tensor(true).dtype(), boolean);
}

TEST_F(Types, NumbersTakeTheTensorsType) {
    EXPECT_EQ((zeros({2}, f16) * 0.1).dtype(), f16);
    EXPECT_EQ((zeros({2}, u32) + 1).dtype(), u32);
    EXPECT_EQ((zeros({2}, f32) + 1).dtype(), f32);
    EXPECT_EQ((zeros({2}, i64) + 1).dtype(), i64);
    EXPECT_EQ((zeros({2}, f64) * 0.1).dtype(), f64);
}

TEST_F(Types, NumberKeepsItsPrecisionBesideF64) {
    EXPECT_EQ((ones({1}, f64) * 0.1).item<double>(), 0.1);
}

TEST_F(Types, FloatNumberWithAnIntegerTensorGivesF32) {
    EXPECT_EQ((zeros({2}, i32) + 0.5).dtype(), f32);
    EXPECT_EQ((zeros({2}, u8) + 0.5).dtype(), f32);
}

TEST_F(Types, TensorsMeetInTheWiderType) {
    EXPECT_EQ((zeros({1}, f16) + zeros({1}, f32)).dtype(), f32);
    EXPECT_EQ((zeros({1}, i32) + zeros({1}, f16)).dtype(), f16);
    EXPECT_EQ((zeros({1}, i32) + zeros({1}, u32)).dtype(), i32);
    EXPECT_EQ((zeros({1}, boolean) + zeros({1}, boolean)).dtype(), i32);
}

TEST_F(Types, DataOutIsConvertedAsTensorsAre) {
    const Tensor x = tensor({3e9f, -3e9f, 1e30f, NAN, 300.7f, -1.5f});
    EXPECT_EQ(x.to_vector<int>(), x.as(i32).to_vector<int>());
    EXPECT_EQ(x.to_vector<int>(), (Ints{2147483647, -2147483647 - 1, 2147483647, 0, 300, -1}));
    EXPECT_EQ(x.to_vector<uint32_t>(), x.as(u32).to_vector<uint32_t>());
    EXPECT_EQ(x.to_vector<int64_t>(), x.as(i64).to_vector<int64_t>());
    EXPECT_EQ(x.to_vector<int16_t>(), x.as(i16).to_vector<int16_t>());
    EXPECT_EQ(x.to_vector<uint8_t>(), (std::vector<uint8_t>{255, 0, 255, 0, 255, 0}));
    EXPECT_EQ(tensor({300, -1}).to_vector<uint8_t>(), (std::vector<uint8_t>{44, 255}));
    EXPECT_EQ(tensor({3e9f}).item<int>(), 2147483647);
    std::vector<int16_t> to(6);
    copy_to(x, to);
    EXPECT_EQ(to, x.as(i16).to_vector<int16_t>());
    // Rounded once, not by way of f64.
    const Tensor wide = tensor(std::vector<int64_t>{(int64_t{1} << 60) + (int64_t{1} << 36) + 1});
    EXPECT_EQ(wide.to_vector<float>(), wide.as(f32).to_vector<float>());
    EXPECT_EQ(tensor(std::vector<uint64_t>{(uint64_t{1} << 60) + 1}).item<int64_t>(),
              (int64_t{1} << 60) + 1);
    EXPECT_EQ(wide.to_vector<double>(), wide.as(f64).to_vector<double>());
    EXPECT_EQ(tensor({0.5f, 0.0f, NAN}).to_vector<bool>(), (std::vector<bool>{true, false, true}));
}

TEST_F(Types, IntegerDivisionTruncates) {
    EXPECT_EQ((tensor({7, -7}) / 2).to_vector<int>(), (Ints{3, -3}));
}

TEST_F(Types, DivisionByZeroIsZeroForIntegers) {
    Tensor x = tensor({7});
    EXPECT_EQ((x / 0).item<int>(), 0);
    EXPECT_EQ((x % 0).item<int>(), 0);
}

TEST_F(Types, ConstantBeyondTheTypeIsAnError) {
    Tensor x = tensor({1});
    expect_parts(user_error([&] { x + (int64_t{1} << 40); }),
                 {"1099511627776", "does not fit", "i32", "types_test.cpp:"});
}

TEST_F(Types, ComparisonsAreBool) {
    Tensor x = tensor({1, 2, 3});
    EXPECT_EQ((x == 2).to_vector<bool>(), (std::vector<bool>{false, true, false}));
    EXPECT_EQ((2 < x).to_vector<bool>(), (std::vector<bool>{false, false, true}));
    EXPECT_EQ((x >= 2).to_vector<bool>(), (std::vector<bool>{false, true, true}));
    EXPECT_EQ((x != 2).to_vector<bool>(), (std::vector<bool>{true, false, true}));
}

TEST_F(Types, LogicOnBools) {
    Tensor x = tensor({1, 2, 3});
    EXPECT_EQ(((x > 1) & (x < 3)).to_vector<int>(), (Ints{0, 1, 0}));
    EXPECT_EQ(((x < 2) | (x > 2)).to_vector<int>(), (Ints{1, 0, 1}));
    EXPECT_EQ((!(x == 1)).to_vector<int>(), (Ints{0, 1, 1}));
    EXPECT_EQ(((x > 1) ^ true).to_vector<int>(), (Ints{1, 0, 0}));
}

TEST_F(Types, BitOperationsOnIntegers) {
    Tensor x = tensor({6});
    EXPECT_EQ((x & 3).item<int>(), 2);
    EXPECT_EQ((x | 1).item<int>(), 7);
    EXPECT_EQ((x ^ 2).item<int>(), 4);
    EXPECT_EQ((x << 2).item<int>(), 24);
    EXPECT_EQ((x >> 1).item<int>(), 3);
    EXPECT_EQ((~x).item<int>(), ~6);
}

TEST_F(Types, BitOperationOnAFloatIsAnError) {
    Tensor x = tensor({1.0f});
    expect_parts(user_error([&] { x & 1; }), {"and works on integers", "f32", "types_test.cpp:"});
}

TEST_F(Types, AsConvertsAndSaturates) {
    Tensor x = tensor({1.9f, -1.9f, 1e20f});
    EXPECT_EQ(x.as(i32).to_vector<int>(), (Ints{1, -1, 2147483647}));
    EXPECT_EQ(cast<int>(x).to_vector<int>(), (Ints{1, -1, 2147483647}));
    EXPECT_EQ(cast<bool>(x).to_vector<int>(), (Ints{1, 1, 1}));
}

TEST_F(Types, BitcastKeepsTheBits) {
    EXPECT_EQ(bitcast(tensor({1.0f}), u32).item<uint32_t>(), 0x3f800000u);
}

TEST_F(Types, BitcastToAnotherWidthIsAnError) {
    expect_parts(user_error([] { bitcast(tensor({1.0f}), f16); }),
                 {"bitcast: f32 to f16", "types_test.cpp:"});
}

TEST_F(Types, LiteralListsAreF32AndI32) {
    EXPECT_EQ(tensor({0.5, 1.5}).dtype(), f32);
    EXPECT_EQ(tensor({1L, 2L}).dtype(), i32);
    EXPECT_EQ(tensor({true, false}).dtype(), boolean);
    EXPECT_EQ(tensor(std::vector<double>{1}).dtype(), f64);
    EXPECT_EQ(tensor(std::vector<uint8_t>{1}).dtype(), u8);
    EXPECT_EQ(tensor(std::vector<int16_t>{-1}).dtype(), i16);
    EXPECT_EQ(tensor(std::vector<uint16_t>{65535}).to_vector<int>(), (Ints{65535}));
    EXPECT_EQ(tensor({65535}).as(u16).to_vector<uint16_t>(), (std::vector<uint16_t>{65535}));
}

TEST_F(Types, BoolsComeBackAsTheyWentIn) {
    EXPECT_EQ(tensor(std::vector<bool>{true, false, true}).to_vector<bool>(),
              (std::vector<bool>{true, false, true}));
}

// Functions of host numbers stay on the host.
template <class T>
concept FunctionsTake = requires(T a) {
    firn::min(a, 1.0f);
}
|| requires(T a) { firn::clamp(a, a, a); }
|| requires(T a) { firn::sum(a); }
|| requires(T a) { firn::sin(a); };
static_assert(!FunctionsTake<float> && !FunctionsTake<double> && FunctionsTake<Tensor>);

TEST_F(Types, CompoundAssignments) {
    Tensor x = 7;
    x -= 1;
    EXPECT_EQ(x.item<int>(), 6);
    x *= 4;
    x /= 3;
    EXPECT_EQ(x.item<int>(), 8);
    x %= 5;
    x <<= 2;
    EXPECT_EQ(x.item<int>(), 12);
    x >>= 1;
    x |= 8;
    EXPECT_EQ(x.item<int>(), 14);
    x &= 10;
    x ^= 1;
    EXPECT_EQ(x.item<int>(), 11);
}

}  // namespace
}  // namespace firn
