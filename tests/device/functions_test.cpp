// Functions have the same bits on the device as in the interpreter of kernel code, which has them
// by their definition.
#include "compiler/kernel/functions/functions.h"

#include <cmath>
#include <cstring>

#include "tests/device/element_kernel.h"
#include "tests/kernel/function_points.h"
#include "tests/kernel/interpreted_function.h"

namespace firn {
namespace {

class FunctionBits : public DeviceTest, public testing::WithParamInterface<KernelFunction> {
  protected:
    template <class T>
    std::vector<T> on_device(const KernelFunction& function,
                             const std::vector<std::vector<T>>& columns) {
        std::vector<std::string> operands;
        std::vector<std::vector<std::byte>> stored;
        for (size_t k = 0; k < columns.size(); ++k) {
            operands.push_back("v" + std::to_string(k));
            stored.push_back(test::bytes_of(columns[k]));
        }
        const std::vector<DType> types(columns.size(), function.dtype);
        VulkanExecutor executor(device);
        const std::vector<std::byte> raw = run_element(
            executor,
            {operation_glsl(device->profile(), function.op, function.dtype, types, operands),
             function.dtype, types},
            stored, static_cast<int64_t>(columns[0].size()));
        std::vector<T> out(columns[0].size());
        std::memcpy(out.data(), raw.data(), raw.size());
        return out;
    }

    template <class T>
    void expect_equal_bits(const KernelFunction& function, std::vector<T> x, T moderate) {
        std::vector<std::vector<T>> columns{x}, as_zero{x};
        if (info(function.op).arity == 2) {
            const std::vector<T> y = test::pair_up(x, moderate);
            columns = {x, y};
        }
        const bool few = for_any_angle(function.op) != function.op;
        for (T& value : columns[0])
            if (few && std::isfinite(value) && std::abs(value) > T{1e5}) value = 0;
        // Devices may take what is below the smallest normal number as 0.
        as_zero = columns;
        for (std::vector<T>& column : as_zero)
            for (T& value : column) value = test::flushed(value);
        const std::vector<T> got = on_device(function, columns);
        const std::vector<T> expected = test::interpreted(function.op, function.dtype, columns);
        const std::vector<T> of_zero = test::interpreted(function.op, function.dtype, as_zero);
        const auto same = [](T a, T b) {
            return std::memcmp(&a, &b, sizeof a) == 0 || (std::isnan(a) && std::isnan(b));
        };
        int64_t differ = 0;
        size_t where = 0;
        for (size_t i = 0; i < got.size(); ++i) {
            const bool equal = same(got[i], expected[i]) ||
                               same(got[i], test::flushed(expected[i])) ||
                               same(got[i], of_zero[i]) || same(got[i], test::flushed(of_zero[i]));
            if (!equal && differ++ == 0) where = i;
        }
        EXPECT_EQ(differ, 0) << name(function) << " of " << columns[0][where] << ", "
                             << columns.back()[where] << " is " << got[where]
                             << " on the device and " << expected[where] << " by its definition";
    }
};

TEST_P(FunctionBits, AreThoseOfTheDefinition) {
    if (!device->profile().rounds_exactly)
        GTEST_SKIP() << "its quotients are not those of IEEE 754";
    if (device->profile().device_class != DeviceClass::CpuDriver)
        GTEST_SKIP() << "it may contract sums of products in the text of shaders/math.glsl";
    const KernelFunction& function = GetParam();
    if (!has_type(device->profile(), function.dtype)) GTEST_SKIP() << "it has no f64";
    if (function.dtype == f32)
        expect_equal_bits<float>(function, test::float_points(), 40);
    else
        expect_equal_bits<double>(function, test::double_points(), 300);
}

INSTANTIATE_TEST_SUITE_P(All, FunctionBits, testing::ValuesIn(kernel_functions()),
                         [](const auto& test) { return name(test.param); });

}  // namespace
}  // namespace firn
