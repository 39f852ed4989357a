// Tensors that are larger than one binding of the device.
#include <optional>

#include "tests/device/on_device.h"

namespace firn {
namespace {

/// A device that binds no more than 64 KiB at once: tensors of 100,000 elements are large there.
DeviceProfile with_small_bindings(const DeviceProfile& device) {
    DeviceProfile profile = device;
    profile.max_storage_range = 65536;
    profile.max_view_elements = 4096;
    return profile;
}

Tensor blurred(const Tensor& x) {
    auto [i, j] = indices<2>(x.shape());
    return x(i - 1, j) + x(i + 1, j) + x(i, j - 1) + x(i, j + 1) - 4.0f * x;
}

Tensor blurred_in_a_loop() {
    Tensor x = random_tensor({200, 500});
    for (Tensor iteration : loop(5)) x = x + 0.2f * blurred(x);
    return x;
}

Tensor stored_backwards() {
    Tensor x = zeros({100000}), i = arange(100000);
    x(99999 - i) = random_tensor({100000});
    return x;
}

Tensor of_any_size(int64_t n, int64_t m) {
    auto f = compile([](Tensor x) { return blurred(x) * 2; }, {f32("n", "m")});
    return f(random_tensor({n, m}));
}

/// Three of four elements are not 0, so that the chosen ones of 100,000 exceed a binding, too.
Tensor mostly_chosen(int64_t n) { return arange(n) % 4; }

/// A result whose size only the device knows, from a tensor whose size only the call knows.
Tensor of_chosen(int64_t n) {
    auto f = compile([](Tensor x) { return compact(x * 3, x % 4 != 0) + 1; }, {i32("n")});
    return f(arange(n));
}

const DeviceCase kLargeCases[] = {
    {"elementwise", [] { return random_tensor({100000}) * 2 + random_tensor({100000}, 8); }, 1e-6},
    {"sum",
     [] {
         return sum(random_tensor({300, 1000}));
     },
     1e-2},
    {"sums_of_rows",
     [] {
         return sum(random_tensor({300, 1000}), {.axis = 1});
     },
     1e-4},
    {"sums_of_columns",
     [] {
         return sum(random_tensor({300, 1000}), {.axis = 0});
     },
     1e-4},
    {"stencil",
     [] {
         return blurred(random_tensor({200, 500}));
     },
     1e-5},
    {"stencil_in_a_loop", blurred_in_a_loop, 1e-5},
    {"matmul",
     [] {
         return matmul(random_tensor({300, 200}), random_tensor({200, 400}, 8));
     },
     1e-4},
    {"gather", [] { return random_tensor({100000})(tensor(random_ints(100000, 1, 0, 99999))); }},
    {"store", stored_backwards},
    {"histogram", [] { return histogram(random_tensor({100000}), 50000, {.low = -1, .high = 1}); }},
    {"integers_that_combine",
     [] {
         Tensor x = zeros({50000}, i32);
         scatter_add(x(tensor(random_ints(100000, 1, 0, 49999))), 1);
         return x;
     }},
    {"bytes", [] { return (arange(200000) * 3).as(u8).as(i32) + arange(200000).as(i8).as(i32); }},
    {"unique", [] { return unique(arange(100000) * 7 % 50000); }},
    {"compact", [] { return compact(random_tensor({100000}), mostly_chosen(100000)) * 2; }},
    {"nonzero", [] { return nonzero(mostly_chosen(100000)); }},
    {"compact_symbolic_and_small", [] { return of_chosen(500); }},
    {"compact_symbolic_and_large", [] { return of_chosen(100000); }},
    {"symbolic_and_small", [] { return of_any_size(20, 30); }, 1e-5},
    {"symbolic_and_large", [] { return of_any_size(200, 500); }, 1e-5},
};

class OnSmallBindings : public testing::TestWithParam<DeviceCase> {};

TEST_P(OnSmallBindings, AgreesWithTheOracle) {
    std::optional<Session> session;
    try {
        session.emplace(device_session({.validation = true, .limit = with_small_bindings}));
    } catch (const DeviceError& error) {
        GTEST_SKIP() << error.what();
    }
    if (!session->executor().profile().buffer_addresses)
        GTEST_SKIP() << "its buffers have no addresses";
    std::vector<double> expected, got;
    {
        SessionScope scope(Session::oracle());
        expected = GetParam().run().to_vector<double>();
    }
    {
        SessionScope scope(*session);
        got = GetParam().run().to_vector<double>();
    }
    expect_near(got, expected, GetParam().tolerance);
    EXPECT_EQ(validation_report(*session), "");
}

INSTANTIATE_TEST_SUITE_P(Large, OnSmallBindings, testing::ValuesIn(kLargeCases), name_of);

/// 2^28 floats. Takes a minute and 4 GiB: run it by --gtest_also_run_disabled_tests.
TEST(LargeTensors, DISABLED_OfOneGibibyte) {
    constexpr int64_t kRows = 16384, kColumns = 16384;
    const Session session = device_session({});
    if (!session.executor().profile().buffer_addresses)
        GTEST_SKIP() << "its buffers have no addresses";
    SessionScope scope(session);
    Tensor x = reshape((arange(kRows * kColumns) % 1024).as(f32), {kRows, kColumns});
    realize(x);
    const float row = 16 * 1023 * 512;  // every row holds 0, 1, .., 1023 sixteen times
    EXPECT_EQ(sum(x, {.axis = 1}).to_vector<float>(), std::vector<float>(kRows, row));
    Tensor y = x * 2 + 1;
    realize(y);
    EXPECT_EQ(y(kRows - 1, kColumns - 1).item<float>(), 2047);
    auto [i, j] = indices<2>(x.shape());
    Tensor steps = x(i, j + 1) - x(i, j);
    realize(steps);
    EXPECT_EQ(steps(kRows - 1, 1022).item<float>(), 1);
    EXPECT_EQ(steps(kRows - 1, 1023).item<float>(), -1023);
    Tensor last = matmul(x(index({1, kColumns}, 0) + (kRows - 1), index({1, kColumns}, 1)), y);
    EXPECT_NEAR(last(0, 3).item<float>(), 7.0f * row, row * 1e-4f);
}

}  // namespace
}  // namespace firn
