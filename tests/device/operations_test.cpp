// Every elementwise row of ops.def, for every type that has it, on the device against evaluate().
#include <bit>
#include <cmath>
#include <limits>

#include "compiler/ir/evaluate.h"
#include "tests/device/element_kernel.h"

namespace firn {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<Scalar> ugly_values(DType dtype) {
    std::vector<Scalar> out;
    if (dtype.is_bool()) return {scalar_bool(false), scalar_bool(true)};
    if (dtype.is_float()) {
        for (double v : {0.0,  -0.0,    1.0,  -1.0, 0.5,   -0.5,      1.5,        2.5,
                         -2.5, 3.0,     -7.0, 1e-3, 100.0, 255.5,     -128.5,     6e4,
                         -6e4, 65519.0, 6e-8, 0.1,  -0.3,  kInfinity, -kInfinity, std::nan("")})
            out.push_back(scalar_float(v, dtype));
        for (double v :
             {3.4028235e38, 1.17549435e-38, -1e-30, 16777217.0, 2147483647.0, 2147483648.0,
              -2147483648.0, 4294967295.0, 4294967296.0, 9.3e18, -9.3e18, 1.9e19})
            if (dtype != f16) out.push_back(scalar_float(v, dtype));
        return out;
    }
    const int bits = 8 * dtype.bytes();
    const int64_t low = INT64_MIN >> (64 - bits);
    for (int64_t v : {int64_t{0}, int64_t{1}, int64_t{-1}, int64_t{2}, int64_t{3}, int64_t{-7},
                      int64_t{31}, int64_t{33}, int64_t{100}, int64_t{16777217},
                      int64_t{0x5a5a1234deadbeef}, low, low + 1, -(low + 1)})
        out.push_back(scalar_int(v, dtype));
    return out;
}

/// The operands and the results of an operation on values of one type.
struct Columns {
    std::vector<std::vector<Scalar>> inputs;  // one row per element
    std::vector<Scalar> results;
};

/// `literal`: the last operand is written as it, and is it in each row.
Columns run_on_device(const std::shared_ptr<Device>& device, KernelOp op, DType result,
                      const std::vector<DType>& types, std::vector<std::vector<Scalar>> inputs,
                      const Scalar* literal = nullptr) {
    std::vector<std::string> operands;
    std::vector<std::vector<std::byte>> stored;
    for (size_t k = 0; k < types.size(); ++k) {
        operands.push_back("v" + std::to_string(k));
        const auto width = static_cast<size_t>(types[k].bytes());
        stored.emplace_back(inputs.size() * width);
        for (size_t i = 0; i < inputs.size(); ++i)
            store_scalar(inputs[i][k], stored.back().data() + i * width);
    }
    if (literal) operands.back() = glsl_literal(*literal);
    VulkanExecutor executor(device);
    const std::vector<std::byte> raw = run_element(
        executor, {operation_glsl(device->profile(), op, result, types, operands), result, types},
        stored, static_cast<int64_t>(inputs.size()));
    Columns out{std::move(inputs), {}};
    for (size_t i = 0; i < out.inputs.size(); ++i)
        out.results.push_back(
            load_scalar(result, raw.data() + i * static_cast<size_t>(result.bytes())));
    return out;
}

/// 0 with the same sign for a subnormal f32, bf16 or f64, which devices may flush.
Scalar flushed(const Scalar& x) {
    const double least =
        x.dtype == f64 ? std::numeric_limits<double>::min() : std::numeric_limits<float>::min();
    const bool subnormal =
        x.dtype.is_float() && x.dtype != f16 && x.f != 0 && std::abs(x.f) < least;
    return subnormal ? scalar_float(std::copysign(0.0, x.f), x.dtype) : x;
}

/// Exact, but for reciprocals, the functions of math.glsl (math_test.cpp states their errors) and
/// the sign of zero where a minimum or maximum has two to choose from.
bool agree(KernelOp op, const Scalar& got, const Scalar& expected) {
    if (!expected.dtype.is_float()) return got == expected;
    if (std::isnan(expected.f)) return std::isnan(got.f);
    if ((op == KernelOp::Min || op == KernelOp::Max) && expected.f == 0) return got.f == 0;
    if (got == expected || got == flushed(expected)) return true;
    // If kernels correct a device's quotients and roots, tiny ones stay as they are.
    const bool tiny =
        expected.dtype != f64 && ((op == KernelOp::Div && std::abs(expected.f) < 0x1p-100) ||
                                  (op == KernelOp::Sqrt && std::abs(expected.f) < 0x1p-50));
    if (tiny && got.f == 0 && std::abs(expected.f) < 0x1p-125) return true;
    const bool approximate =
        tiny || (info(op).properties & kCostly) || op == KernelOp::Rsqrt || op == KernelOp::Rcp;
    if (!approximate || std::isinf(expected.f) || std::isinf(got.f)) return false;
    const double relative = expected.dtype == f64    ? 1e-15
                            : expected.dtype == bf16 ? 8e-3
                            : expected.dtype == f16  ? 1e-3
                                                     : 5e-7;
    return std::abs(got.f - expected.f) <= relative * std::abs(expected.f) + 1e-38;
}

/// The bits of a nan, which devices may replace by another as they load or convert a half.
bool bits_of_any_nan(const Scalar& operand, const Scalar& got) {
    if (!operand.dtype.is_half() || !std::isnan(operand.f)) return false;
    uint16_t bits = 0;
    store_scalar(got, reinterpret_cast<std::byte*>(&bits));
    return (bits & 0x7fff) > (operand.dtype == f16 ? 0x7c00 : 0x7f80);
}

void expect_agreement(KernelOp op, DType result, const Columns& columns) {
    for (size_t i = 0; i < columns.results.size(); ++i) {
        const std::vector<Scalar>& in = columns.inputs[i];
        std::vector<Scalar> flat = in;
        for (Scalar& value : flat) value = flushed(value);
        const Scalar& got = columns.results[i];
        const Scalar expected = evaluate(graph_op(op), result, in);
        std::string asked = info(op).name;
        for (const Scalar& value : in) asked += " " + text(value);
        if (op == KernelOp::Bitcast && bits_of_any_nan(in[0], got)) continue;
        EXPECT_TRUE(agree(op, got, expected) ||
                    agree(op, got, evaluate(graph_op(op), result, flat)))
            << asked << " is " << text(got) << ", expected " << text(expected);
    }
}

/// Every combination of the ugly values of the types.
std::vector<std::vector<Scalar>> combinations(const std::vector<DType>& types) {
    std::vector<std::vector<Scalar>> out = {{}};
    for (DType type : types) {
        std::vector<std::vector<Scalar>> longer;
        for (const std::vector<Scalar>& row : out)
            for (const Scalar& value : ugly_values(type)) {
                longer.push_back(row);
                longer.back().push_back(value);
            }
        out = std::move(longer);
    }
    return out;
}

std::vector<KernelOp> elementwise_rows() {
    std::vector<KernelOp> out;
    for (int k = 0; k < kOpCount; ++k) {
        const KernelOp op = static_cast<KernelOp>(k);
        if (is_elementwise(op) && op != KernelOp::Cast && op != KernelOp::Bitcast)
            out.push_back(op);
    }
    return out;
}

class EveryRowOnDevice : public DeviceTest, public testing::WithParamInterface<KernelOp> {};

TEST_P(EveryRowOnDevice, MeansWhatEvaluateSays) {
    const KernelOp op = GetParam();
    for (DType dtype : kAllTypes) {
        if (!supported(op, dtype) || !has_type(device->profile(), dtype)) continue;
        SCOPED_TRACE(dtype.name());
        std::vector<DType> types(static_cast<size_t>(info(op).arity), dtype);
        if (op == KernelOp::Select) types[0] = boolean;
        const DType result = info(op).result == ResultRule::Bool ? boolean : dtype;
        expect_agreement(op, result, run_on_device(device, op, result, types, combinations(types)));
    }
}

std::string row_name(const testing::TestParamInfo<KernelOp>& test) { return info(test.param).name; }
INSTANTIATE_TEST_SUITE_P(Rows, EveryRowOnDevice, testing::ValuesIn(elementwise_rows()), row_name);

std::string type_name(const testing::TestParamInfo<DType>& test) { return test.param.name(); }

/// A test of each type that the device has.
class TypeOnDevice : public DeviceTest, public testing::WithParamInterface<DType> {
  protected:
    void SetUp() override {
        DeviceTest::SetUp();
        if (device && !has_type(device->profile(), GetParam()))
            GTEST_SKIP() << "it has no " << GetParam().name();
    }
};

class ConversionOnDevice : public TypeOnDevice {};

TEST_P(ConversionOnDevice, CastsToEveryType) {
    const DType from = GetParam();
    for (DType to : kAllTypes)
        if (has_type(device->profile(), to))
            expect_agreement(
                KernelOp::Cast, to,
                run_on_device(device, KernelOp::Cast, to, {from}, combinations({from})));
}

TEST_P(ConversionOnDevice, BitcastsToEveryTypeOfItsWidth) {
    const DType from = GetParam();
    for (DType to : kAllTypes)
        if (from.bytes() == to.bytes() && supported(KernelOp::Bitcast, from) &&
            supported(KernelOp::Bitcast, to) && has_type(device->profile(), to))
            expect_agreement(
                KernelOp::Bitcast, to,
                run_on_device(device, KernelOp::Bitcast, to, {from}, combinations({from})));
}
INSTANTIATE_TEST_SUITE_P(Types, ConversionOnDevice, testing::ValuesIn(kAllTypes), type_name);

class RandomBitsOnDevice : public DeviceTest {
  protected:
    /// Values of every size, as bits are drawn.
    void expect_agreement_on(KernelOp op, DType result, const std::vector<DType>& types) {
        uint64_t state = 1;
        std::vector<std::vector<Scalar>> inputs(50000);
        for (std::vector<Scalar>& row : inputs)
            for (DType type : types) {
                state = state * 6364136223846793005ull + 1442695040888963407ull;
                const uint64_t bits = state >> 16 >> (type.is_integer() ? state >> 59 : 0);
                row.push_back(load_scalar(type, &bits));
            }
        expect_agreement(op, result, run_on_device(device, op, result, types, std::move(inputs)));
    }
};

TEST_F(RandomBitsOnDevice, RoundToHalfPrecision) {
    if (!has_type(device->profile(), f16)) GTEST_SKIP() << "it has no f16";
    expect_agreement_on(KernelOp::Cast, f16, {f32});
    expect_agreement_on(KernelOp::Cast, bf16, {f32});
}
TEST_F(RandomBitsOnDevice, AreThoseOfHalves) {
    if (!has_type(device->profile(), f16)) GTEST_SKIP() << "it has no f16";
    for (DType half : {f16, bf16}) {
        expect_agreement_on(KernelOp::Bitcast, u16, {half});
        expect_agreement_on(KernelOp::Bitcast, half, {i16});
    }
}
TEST_F(RandomBitsOnDevice, SaturateAsIntegers) {
    expect_agreement_on(KernelOp::Cast, i32, {f32});
    expect_agreement_on(KernelOp::Cast, u32, {f32});
}
TEST_F(RandomBitsOnDevice, DivideAsFloats) { expect_agreement_on(KernelOp::Div, f32, {f32, f32}); }
TEST_F(RandomBitsOnDevice, LeaveTheRemaindersOfFloats) {
    for (DType type : {f32, f16, bf16, f64})
        if (has_type(device->profile(), type))
            expect_agreement_on(KernelOp::Mod, type, {type, type});
}
TEST_F(RandomBitsOnDevice, RoundOnceFromF64) {
    if (!has_type(device->profile(), f64)) GTEST_SKIP() << "it has no f64";
    for (DType half : {f16, bf16}) expect_agreement_on(KernelOp::Cast, half, {f64});
    std::vector<std::vector<Scalar>> rows;
    for (double x : {1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-11 - 0x1p-40, 65519.999999, 65520.0,
                     0x1p-25 + 0x1p-60, -1 - 0x1p-11 - 0x1p-40})
        rows.push_back({scalar_float(x, f64)});
    expect_agreement(KernelOp::Cast, f16, run_on_device(device, KernelOp::Cast, f16, {f64}, rows));
}
/// The forms without a loop and for small quotients give the same bits.
TEST_F(RandomBitsOnDevice, LeaveTheSameRemaindersInEveryForm) {
    const auto result = [&](const std::string& call, DType type,
                            const std::vector<std::vector<Scalar>>& rows) {
        std::vector<std::vector<std::byte>> stored(2);
        for (int k = 0; k < 2; ++k) {
            stored[k].resize(rows.size() * static_cast<size_t>(type.bytes()));
            for (size_t i = 0; i < rows.size(); ++i)
                store_scalar(rows[i][k], stored[k].data() + i * static_cast<size_t>(type.bytes()));
        }
        VulkanExecutor executor(device);
        return run_element(executor, {call + "(v0, v1)", type, {type, type}}, stored,
                           static_cast<int64_t>(rows.size()));
    };
    const auto expect_same = [](const std::vector<std::byte>& a, const std::vector<std::byte>& b,
                                DType type, const std::vector<std::vector<Scalar>>& rows) {
        for (size_t k = 0; k < rows.size(); ++k) {
            const size_t at = k * static_cast<size_t>(type.bytes());
            const double x = load_scalar(type, &a[at]).f, y = load_scalar(type, &b[at]).f;
            ASSERT_TRUE(std::bit_cast<uint64_t>(x) == std::bit_cast<uint64_t>(y) ||
                        (std::isnan(x) && std::isnan(y)))
                << x << " and " << y << " are " << rows[k][0].f << " % " << rows[k][1].f;
        }
    };
    uint64_t state = 5;
    const auto draw = [&] {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        return state >> 11;
    };
    for (DType type : {f32, f64}) {
        if (!has_type(device->profile(), type)) continue;
        std::vector<std::vector<Scalar>> rows(20000);
        for (std::vector<Scalar>& row : rows)
            for (int k = 0; k < 2; ++k) {
                const uint64_t bits = draw() << 11 | (draw() & 2047);
                row.push_back(load_scalar(type, &bits));
            }
        const std::string name = std::string("_") + type.name();
        expect_same(result("firn_mod" + name, type, rows),
                    result("firn_mod_in_steps" + name, type, rows), type, rows);
    }
    std::vector<std::vector<Scalar>> rows(20000);
    for (std::vector<Scalar>& row : rows) {
        const double y = 0.5 + static_cast<double>(draw() % 100000) / 7000;
        const double turns = static_cast<double>(draw() % 4000000) / 1000 - 2000;
        row = {scalar_float(y * turns, f32), scalar_float(y, f32)};
    }
    expect_same(result("firn_mod_f32", f32, rows), result("firn_mod_of_few_f32", f32, rows), f32,
                rows);
    // Divisors for firn_mod_near_f32, with numbers of every size, and nan and infinities.
    for (std::vector<Scalar>& row : rows) {
        const auto y = static_cast<uint32_t>((67 + draw() % 120) << 23 | draw() % (1u << 23));
        const auto x = static_cast<uint32_t>(draw());
        row = {scalar_float(std::bit_cast<float>(x), f32),
               scalar_float(std::bit_cast<float>(y), f32)};
    }
    for (float x : {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 3.0f, -3.0f, 3.4e38f, -3.4e38f})
        for (float y : {0x1p-60f, 0x1p60f, 3.0f, 0.1f})
            rows.push_back({scalar_float(x, f32), scalar_float(y, f32)});
    for (const char* form : {"firn_mod_near_f32", "firn_mod_near_in_steps_f32"})
        expect_same(result("firn_mod_f32", f32, rows), result(form, f32, rows), f32, rows);
}
TEST_F(RandomBitsOnDevice, DivideAsIntegers) {
    expect_agreement_on(KernelOp::Div, i32, {i32, i32});
    expect_agreement_on(KernelOp::Mod, u32, {u32, u32});
}
TEST_F(RandomBitsOnDevice, HavePowersAsIntegers) {
    expect_agreement_on(KernelOp::Pow, i32, {i32, i32});
}

class LiteralsOnDevice : public TypeOnDevice {};

TEST_P(LiteralsOnDevice, LeaveTheRemaindersOfTheirValue) {
    const DType dtype = GetParam();
    if (!supported(KernelOp::Mod, dtype)) GTEST_SKIP() << "it has no remainders";
    for (const Scalar& divisor : ugly_values(dtype)) {
        // Kernels compute with a literal 0.0 by functions of their own (literal_zero.h).
        if (dtype.is_float() && divisor.f == 0) continue;
        std::vector<std::vector<Scalar>> rows;
        for (const Scalar& x : ugly_values(dtype)) rows.push_back({x, divisor});
        expect_agreement(
            KernelOp::Mod, dtype,
            run_on_device(device, KernelOp::Mod, dtype, {dtype, dtype}, std::move(rows), &divisor));
    }
}

TEST_P(LiteralsOnDevice, HaveTheBitsOfTheirValue) {
    const DType dtype = GetParam();
    std::vector<Scalar> values = ugly_values(dtype);
    if (dtype == f32) {
        values.push_back(scalar_float(1e-45, f32));
        for (uint32_t k = 1; k < 60; ++k)
            values.push_back(scalar_float(std::bit_cast<float>(k * 0x041c64e6u), f32));
    }
    std::string chosen = glsl_literal(values[0]);
    for (size_t k = 1; k < values.size(); ++k)
        chosen =
            operation_glsl(KernelOp::Select, dtype, {boolean, dtype, dtype},
                           {"(v0 == " + std::to_string(k) + ")", glsl_literal(values[k]), chosen});
    std::vector<std::byte> index(values.size() * 4);
    for (size_t k = 0; k < values.size(); ++k)
        store_scalar(scalar_int(static_cast<int64_t>(k)), &index[4 * k]);
    VulkanExecutor executor(device);
    const std::vector<std::byte> raw =
        run_element(executor, {chosen, dtype, {i32}}, {index}, static_cast<int64_t>(values.size()));
    for (size_t k = 0; k < values.size(); ++k) {
        const Scalar got = load_scalar(dtype, raw.data() + k * static_cast<size_t>(dtype.bytes()));
        EXPECT_TRUE(got == values[k] || (std::isnan(got.f) && std::isnan(values[k].f)))
            << text(values[k]) << " is written " << glsl_literal(values[k]) << " and read "
            << text(got);
    }
}
INSTANTIATE_TEST_SUITE_P(Types, LiteralsOnDevice, testing::ValuesIn(kAllTypes), type_name);

}  // namespace
}  // namespace firn
