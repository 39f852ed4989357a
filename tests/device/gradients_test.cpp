// Gradients on the device are what the oracle's are.
#include "tests/device/on_device.h"

namespace firn {
namespace {

const DeviceCase kGradientCases[] = {
    {"of_a_network",
     [] {
         Tensor w = random_tensor({20, 24}), x = random_tensor({64, 20}, 3);
         Tensor hidden = max(matmul(x, w), 0.0f);
         return grad(mean(square(matmul(hidden, random_tensor({24, 10}, 5)))), w);
     },
     1e-4},
    {"of_a_convolution",
     [] {
         Tensor w = random_tensor({4, 3, 3, 3});
         return grad(sum(tanh(conv2d(random_tensor({2, 3, 16, 16}, 3), w, {.padding = 1}))), w);
     },
     1e-3},
    {"of_a_simulation",
     [] {
         Tensor start = random_tensor({40, 30}), u = start;
         for (Tensor k : loop(30)) {
             auto [i, j] = indices<2>(u.shape());
             Tensor around = u(i - 1, j) + u(i + 1, j) + wrap(u)(i, j - 1) + wrap(u)(i, j + 1);
             u = sin(0.2f * around + 0.2f * u);
         }
         return grad(sum(u * u), start);
     },
     1e-4},
    {"of_stores",
     [] {
         Tensor x = random_tensor({500}), bins = zeros({37});
         scatter_add(bins(tensor(random_ints(500, 1, -2, 40))), x * x);
         bins(tensor(random_ints(20, 2, 0, 36))) = slice(x, {.end = 20});
         return grad(sum(bins * bins), x);
     },
     1e-4},
    {"of_a_transform_and_a_sort",
     [] {
         Tensor x = random_tensor({256});
         const Complex f = fft(x);
         return grad(sum(sort(f.re * f.re + f.im * f.im) * arange(256)), x);
     },
     1e-3},
    {"of_the_second_order",
     [] {
         Tensor x = random_tensor({100});
         return grad(sum(square(grad(sum(sin(x) * cumsum(x)), x))), x);
     },
     1e-3},
};
INSTANTIATE_TEST_SUITE_P(Gradients, OnDevice, ::testing::ValuesIn(kGradientCases), name_of);

}  // namespace
}  // namespace firn
