// Functions of native code hold their stated errors, where their products are fused with sums too.
#include <cmath>
#include <limits>
#include <vector>

#include "compiler/kernel/functions/functions.h"
#include "tests/device/native_levels.h"
#include "tests/kernel/function_points.h"

namespace firn {
namespace {

class NativeFunctions : public NativeLevel {};
INSTANTIATE_TEST_SUITE_P(Levels, NativeFunctions, native_levels(), level_name);

struct NamedFunction {
    KernelOp op;
    Tensor (*function)(const Tensor&);
    long double (*exact)(long double);
};
const NamedFunction kNamedFunctions[] = {
    {KernelOp::Exp, [](const Tensor& x) { return exp(x); }, std::exp},
    {KernelOp::Exp2, [](const Tensor& x) { return exp2(x); }, std::exp2},
    {KernelOp::Expm1, [](const Tensor& x) { return expm1(x); }, std::expm1},
    {KernelOp::Log, [](const Tensor& x) { return log(x); }, std::log},
    {KernelOp::Log2, [](const Tensor& x) { return log2(x); }, std::log2},
    {KernelOp::Log1p, [](const Tensor& x) { return log1p(x); }, std::log1p},
    {KernelOp::Sin, [](const Tensor& x) { return sin(x); }, std::sin},
    {KernelOp::Cos, [](const Tensor& x) { return cos(x); }, std::cos},
    {KernelOp::Tan, [](const Tensor& x) { return tan(x); }, std::tan},
    {KernelOp::Asin, [](const Tensor& x) { return asin(x); }, std::asin},
    {KernelOp::Acos, [](const Tensor& x) { return acos(x); }, std::acos},
    {KernelOp::Atan, [](const Tensor& x) { return atan(x); }, std::atan},
    {KernelOp::Sinh, [](const Tensor& x) { return sinh(x); }, std::sinh},
    {KernelOp::Cosh, [](const Tensor& x) { return cosh(x); }, std::cosh},
    {KernelOp::Tanh, [](const Tensor& x) { return tanh(x); }, std::tanh},
    {KernelOp::Erf, [](const Tensor& x) { return erf(x); }, std::erf},
};

double error_of_function(float got, long double exact) {
    return test::error_in_ulps(got, static_cast<double>(exact));
}
double error_of_function(double got, long double exact) {
    return test::error_in_wide_ulps(got, exact);
}

/// Every eighth point; numbers below the smallest normal one may be 0.
template <class T>
void expect_stated_errors(DType type, const std::vector<T>& points) {
    std::vector<T> x;
    for (size_t k = 0; k < points.size(); k += 8) x.push_back(test::flushed(points[k]));
    for (const NamedFunction& row : kNamedFunctions) {
        SessionScope scope(cpu_session());
        const std::vector<T> got = row.function(tensor(x)).template to_vector<T>();
        const double most = find_kernel_function(row.op, type)->ulps;
        double worst = 0;
        size_t where = 0;
        for (size_t i = 0; i < x.size(); ++i) {
            const long double exact = row.exact(x[i]);
            if (std::abs(exact) < 2 * std::numeric_limits<T>::min()) continue;
            // f32 beyond 1e5: quarter turns are known to 4e-12.
            const bool huge = type == f32 && std::abs(x[i]) > T{1e5};
            if (huge && std::abs(got[i] - exact) <= 1e-11L * std::max(1.0L, exact * exact))
                continue;
            const double error = error_of_function(got[i], exact);
            if (!(error <= worst)) worst = error, where = i;
        }
        EXPECT_LE(worst, most) << info(row.op).name << "(" << x[where] << ") = " << got[where];
    }
}

TEST_P(NativeFunctions, HoldTheirStatedErrors) {
    expect_stated_errors<float>(f32, test::float_points());
    expect_stated_errors<double>(f64, test::double_points());
}

}  // namespace
}  // namespace firn
