// Algorithms and random numbers on the device give what the oracle gives.
#include "tests/device/on_device.h"

namespace firn {
namespace {

Tensor both(const Complex& x) { return stack({x.re, x.im}); }

const DeviceCase kAlgorithms[] = {
    {"cumsum", [] { return cumsum(tensor(random_ints(5000, 1, -9, 9))); }},
    {"cumsum_rows",
     [] {
         return cumsum(random_tensor({3, 700}), {.axis = 1});
     },
     1e-4},
    {"sort",
     [] {
         return sort(random_tensor({3, 300}), {.axis = 1});
     }},
    {"argsort", [] { return argsort(tensor(random_ints(1000, 2, -20, 20))); }},
    {"sort_by_digits",
     [] {
         return argsort(tensor(random_ints(3000, 2, -200, 200)), {.method = SortMethod::Radix});
     }},
    {"sort_by_the_network",
     [] { return argsort(tensor(random_ints(500, 2, -20, 20)), {.method = SortMethod::Network}); }},
    {"histogram", [] { return histogram(random_tensor({5000}), 50, {.low = -1, .high = 1}); }},
    {"histogram_of_edges",
     [] {
         const Tensor x = arange(1000) / 100.0f;
         return histogram(x, 1000, {.low = 0, .high = 10});
     }},
    {"segment_sum",
     [] { return segment_sum(random_tensor({700}), tensor(random_ints(700, 1, -2, 40)), 37); }},
    {"compact", [] { return compact_padded(arange(3000), random_tensor({3000}) > 0.3f).values; }},
    {"permutation", [] { return permutation(500, {.seed = 3}); }},
    {"fft_along_an_inner_axis",
     [] {
         return both(fft(random_tensor({3, 32, 5}), {.axis = 1}));
     },
     1e-4},
    {"fft",
     [] {
         return both(fft(random_tensor({2, 512})));
     },
     1e-4},
    {"eig",
     [] {
         const Tensor a = random_tensor({5, 6, 6});
         const Eig of = eig(a);
         const Complex wrong =
             Complex{matmul(a, of.vectors.re), matmul(a, of.vectors.im)} -
             of.vectors * Complex{unsqueeze(of.values.re, -2), unsqueeze(of.values.im, -2)};
         return stack({max(abs(wrong)), sum(of.values.re), abs(sum(of.values.im))});
     },
     1e-4},
    {"fft_of_any_size",
     [] {
         return both(fft(random_tensor({2, 300})));
     },
     1e-4},
    {"fft_in_two_dimensions",
     [] {
         return both(fftn(random_tensor({32, 64})));
     },
     1e-4},
    {"conv2d",
     [] {
         return conv2d(random_tensor({2, 3, 16, 16}), random_tensor({4, 3, 3, 3}),
                       {.stride = 2, .padding = 1});
     },
     1e-5},
    {"einsum",
     [] {
         return einsum("bij,bjk->bki", {random_tensor({2, 9, 12}), random_tensor({2, 12, 7})});
     },
     1e-5},
    {"cholesky",
     [] {
         Tensor a = random_tensor({2, 12, 12});
         return cholesky(matmul(a, transpose(a, 1, 2)) + eye(12));
     },
     1e-4},
    {"solve",
     [] {
         return solve(random_tensor({2, 12, 12}) + 3 * eye(12), random_tensor({2, 12, 3}));
     },
     1e-4},
    {"qr",
     [] {
         return qr(random_tensor({2, 10, 6})).r;
     },
     1e-4},
    {"random_bits",
     [] {
         return random_bits({64, 33}, {.seed = 5});
     }},
    {"rand", [] { return rand({999}, {.seed = 5}); }},
    {"randn", [] { return randn({999}, {.seed = 5}); }, 1e-5},
    {"randint", [] { return randint(-50, 50, {999}, {.seed = 5}); }},
    {"pcg", [] { return pcg(arange(999)); }},
    {"generator_bits",
     [] {
         Generator random{arange(500), 7};
         Tensor out = zeros({20, 500}, u32);
         for (Tensor iteration : loop(20)) out(iteration) = random.bits();
         return out;
     }},
    {"generator_in_a_loop",
     [] {
         Generator random{pcg(arange(500))};
         Tensor sum = zeros({500});
         for (Tensor iteration : loop(50)) sum += random.uniform();
         return sum;
     },
     1e-6},
    {"argmax",
     [] {
         return argmax(random_tensor({40, 50}), {.axis = 1});
     }},
    {"softmax",
     [] {
         return softmax(random_tensor({40, 50}));
     },
     1e-6},
    {"hypot", [] { return hypot(random_tensor({99}) * 1e30f, 1e30f); }, 1e-6},
    {"floor_div", [] { return floor_div(tensor(random_ints(99, 1, -50, 50)), 7); }},
};

/// A one in front of each line has a spectrum of ones.
TEST(DeviceTransforms, OfMoreLinesThanADeviceHasGroups) {
    std::unique_ptr<Session> session;
    try {
        session = std::make_unique<Session>(device_session({.validation = true}));
    } catch (const DeviceError& error) {
        GTEST_SKIP() << error.what();
    }
    SessionScope scope(*session);
    const Complex spectrum = fft(select(index({66000, 32}, 1) == 0, 1.0f, 0.0f));
    EXPECT_EQ(min(spectrum.re).item<float>(), 1.0f);
    EXPECT_EQ(max(spectrum.re).item<float>(), 1.0f);
    EXPECT_EQ(max(abs(spectrum.im)).item<float>(), 0.0f);
}

INSTANTIATE_TEST_SUITE_P(Algorithms, OnDevice, ::testing::ValuesIn(kAlgorithms), name_of);

}  // namespace
}  // namespace firn
