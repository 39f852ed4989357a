// The functions of kernel code hold their stated errors over the whole range of their types, and
// replace themselves where a target lacks them.
#include "compiler/kernel/functions/functions.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "compiler/kernel/functions/expand_functions.h"
#include "tests/kernel/function_points.h"
#include "tests/kernel/interpreted_function.h"
#include "tests/kernel/kernel_by_hand.h"

namespace firn {
namespace {

using namespace test;

using Exact = long double (*)(long double);
using ExactOfTwo = long double (*)(long double, long double);

long double one_plus_tanh(long double x) { return 2 / (1 + std::exp(-2 * x)); }

struct Reference {
    KernelOp op;
    Exact of_one = nullptr;
    ExactOfTwo of_two = nullptr;
};
const Reference kReferences[] = {
    {KernelOp::Exp, std::exp},          {KernelOp::Exp2, std::exp2},
    {KernelOp::Expm1, std::expm1},      {KernelOp::Log, std::log},
    {KernelOp::Log2, std::log2},        {KernelOp::Log1p, std::log1p},
    {KernelOp::Sin, std::sin},          {KernelOp::Cos, std::cos},
    {KernelOp::Tan, std::tan},          {KernelOp::SinOfFew, std::sin},
    {KernelOp::CosOfFew, std::cos},     {KernelOp::TanOfFew, std::tan},
    {KernelOp::Asin, std::asin},        {KernelOp::Acos, std::acos},
    {KernelOp::Atan, std::atan},        {KernelOp::Sinh, std::sinh},
    {KernelOp::Cosh, std::cosh},        {KernelOp::Tanh, std::tanh},
    {KernelOp::Erf, std::erf},          {KernelOp::OnePlusTanh, one_plus_tanh},
    {KernelOp::Pow, nullptr, std::pow}, {KernelOp::Atan2, nullptr, std::atan2},
};

const Reference& reference_of(KernelOp op) {
    for (const Reference& row : kReferences)
        if (row.op == op) return row;
    throw std::logic_error("a function without a reference");
}

double error_of(float got, long double exact) {
    return error_in_ulps(got, static_cast<double>(exact));
}
double error_of(double got, long double exact) { return error_in_wide_ulps(got, exact); }

/// Arguments beyond this are none of the function's.
double most_argument(KernelOp op) { return for_any_angle(op) != op ? 1e5 : INFINITY; }

template <class T>
void expect_stated_error(const KernelFunction& function, std::vector<T> x, T moderate) {
    const Reference& reference = reference_of(function.op);
    std::vector<std::vector<T>> columns{x};
    if (reference.of_two) {
        std::vector<T> y = pair_up(x, moderate);
        columns = {x, y};
    }
    const std::vector<T> got = interpreted(function.op, function.dtype, columns);
    double worst = 0;
    size_t where = 0;
    const auto exact_at = [&](size_t i) -> long double {
        return reference.of_one ? reference.of_one(columns[0][i])
                                : reference.of_two(columns[0][i], columns[1][i]);
    };
    for (size_t i = 0; i < got.size(); ++i) {
        if (std::isfinite(x[i]) && std::abs(x[i]) > most_argument(function.op)) continue;
        const long double exact = exact_at(i);
        // f32 beyond 1e5: quarter turns are known to 4e-12.
        const bool huge = function.dtype == f32 && std::abs(x[i]) > T{1e5} &&
                          (function.op == KernelOp::Sin || function.op == KernelOp::Cos ||
                           function.op == KernelOp::Tan);
        if (huge && std::abs(got[i] - exact) <= 1e-11L * std::max(1.0L, exact * exact)) continue;
        const double error = error_of(got[i], exact);
        if (error > worst) worst = error, where = i;
    }
    testing::Test::RecordProperty("max_ulps", std::to_string(worst));
    EXPECT_LE(worst, function.ulps)
        << name(function) << "(" << columns[0][where]
        << (columns.size() > 1 ? ", " + std::to_string(columns[1][where]) : "")
        << ") = " << got[where] << ", exactly " << static_cast<double>(exact_at(where));
}

class Functions : public testing::TestWithParam<KernelFunction> {};

TEST_P(Functions, HoldTheirStatedErrors) {
    if (GetParam().dtype == f32)
        expect_stated_error<float>(GetParam(), float_points(), 40);
    else
        expect_stated_error<double>(GetParam(), double_points(), 300);
}

TEST_P(Functions, AreSoundKernelCode) {
    const KernelCode code = function_code(GetParam());
    verify(code, KernelStage::Placed, "its definition");
    for (const KernelNode& n : code.nodes)
        EXPECT_FALSE(find_kernel_function(n.op, n.dtype)) << "it calls " << info(n.op).name;
}

TEST_P(Functions, ExpandToTheSameBits) {
    const KernelFunction& function = GetParam();
    const auto run = [&](const auto& points, auto moderate) {
        auto x = points;
        std::vector<std::vector<std::byte>> columns;
        auto y = pair_up(x, moderate);
        columns.push_back(bytes_of(x));
        if (info(function.op).arity == 2) columns.push_back(bytes_of(y));
        KernelCode code = column_code(function.op, function.dtype, x.size());
        const std::vector<std::byte> before = run_columns(code, columns);
        expand_functions(code, [](KernelOp, DType) { return false; });
        verify(code, KernelStage::Ready, "expand_functions");
        for (const KernelRegion& region : code.regions)
            for (NodeId id : region.order)
                ASSERT_FALSE(find_kernel_function(code[id].op, code[id].dtype));
        EXPECT_EQ(run_columns(code, columns), before);
    };
    std::vector<float> floats = float_points();
    std::vector<double> doubles = double_points();
    floats.resize(60000), doubles.resize(30000);
    if (function.dtype == f32)
        run(floats, 40.0f);
    else
        run(doubles, 300.0);
}

INSTANTIATE_TEST_SUITE_P(All, Functions, testing::ValuesIn(kernel_functions()),
                         [](const auto& test) { return name(test.param); });

TEST(FunctionTable, HasEveryCostlyOperationOnF32AndF64) {
    for (int k = 0; k < kElementwiseCount; ++k) {
        const auto op = static_cast<KernelOp>(k);
        if (!(info(op).properties & kCostly)) continue;
        for (DType dtype : {f32, f64})
            EXPECT_TRUE(find_kernel_function(op, dtype)) << info(op).name << dtype.name();
    }
    EXPECT_FALSE(find_kernel_function(KernelOp::Pow, i32)) << "repeated squaring is basic";
    EXPECT_FALSE(find_kernel_function(KernelOp::Sqrt, f32));
}

/// A loop of three iterations, each with a choice: halves of f16 and f32 of the same function.
ByHand nested() {
    ByHand k;
    const int x = k.buffer(f32, false), y = k.buffer(f32, true);
    const NodeId i = k.range(RangeKind::Grid, 40);
    const NodeId first = k.load(kRoot, x, i);
    const RegionId body = k.region();
    const NodeId t = k.serial(body, k.integer(3)), sum = k.region_arg(body, f32);
    const NodeId angle = k.op(KernelOp::Add, f32, {sum, first}, body);
    const NodeId half = k.op(KernelOp::Cast, f16, {angle}, body);
    const NodeId wave = k.op(KernelOp::Sin, f16, {half}, body);
    const NodeId wide = k.op(KernelOp::Cast, f32, {wave}, body);
    const NodeId even = k.op(KernelOp::Equal, boolean, {t, k.integer(1)}, body);
    const RegionId yes = k.region(), no = k.region();
    k.code[yes].yields = {k.op(KernelOp::Sin, f32, {angle}, yes)};
    k.code[no].yields = {k.op(KernelOp::Pow, f32, {wide, angle}, no)};
    const NodeId choice = k.close(body, KernelOp::Branch, {even}, yes, no);
    const NodeId chosen = k.result(body, choice, 0, f32);
    k.code[body].yields = {k.op(KernelOp::Add, f32, {chosen, wide}, body)};
    const NodeId loop = k.close(kRoot, KernelOp::For, {k.constant(scalar_float(0.25))}, body);
    k.store(kRoot, y, i, k.result(kRoot, loop, 0, f32));
    for (Range& range : k.code.ranges) range.name = range.kind == RangeKind::Grid ? "i" : "t";
    return k;
}

TEST(ExpandFunctions, InLoopsAndChoices) {
    ByHand k = nested();
    std::vector<float> x(40);
    for (size_t i = 0; i < x.size(); ++i) x[i] = std::ldexp(1.1f, static_cast<int>(i) - 10);
    const std::vector<std::byte> before = run_columns(k.code, {bytes_of(x)});
    expand_functions(k.code, [](KernelOp, DType) { return false; });
    verify(k.code, KernelStage::Ready, "expand_functions");
    EXPECT_EQ(run_columns(k.code, {bytes_of(x)}), before);
    for (const KernelRegion& region : k.code.regions)
        for (NodeId id : region.order) {
            const KernelOp op = k.code[id].op;
            EXPECT_TRUE(op != KernelOp::Sin && op != KernelOp::Pow);
        }
}

TEST(ExpandFunctions, LeaveWhatTheTargetHas) {
    ByHand k = nested();
    expand_functions(k.code, [](KernelOp op, DType) { return op == KernelOp::Pow; });
    int powers = 0, sines = 0;
    for (const KernelRegion& region : k.code.regions)
        for (NodeId id : region.order) {
            powers += k.code[id].op == KernelOp::Pow;
            sines += k.code[id].op == KernelOp::Sin;
        }
    EXPECT_EQ(powers, 1);
    EXPECT_EQ(sines, 0);
}

}  // namespace
}  // namespace firn
