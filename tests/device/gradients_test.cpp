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
    {"of_kernels_by_hand",
     [] {
         Tensor u = random_tensor({500}), v = random_tensor({500}, 2);
         Tensor y = zeros({500}), bins = zeros({37}), z = zeros({500});
         kernel({500}, [&](Tensor i) { y(i) = u(i) * sin(v(i - 1)); });
         const Tensor between = y * y + sum(y);
         kernel({500}, [&](Tensor i) { atomic_add(bins(i % 37), between(i) * u(i)); });
         kernel({500}, {.group = {64}}, [&](Tensor i) {
             Shared row = shared(f32, 64);
             row(local_index(0)) = v(i) * y(i);
             barrier();
             z(i) = row(63 - local_index(0)) * wrap(bins)(i);
         });
         return concat({grad(sum(z), u), jvp(z, {v}, {u})});
     },
     1e-3},
    {"of_equal_halves",
     [] {
         Tensor x = full({70'000}, 0.5f).as(f16);
         return grad(1000.0f * max(x), x).as(f32);
     },
     1e-3},
    {"in_a_loop",
     [] {
         Tensor w = random_tensor({100}), y = w * w, g = w * 0.0f;
         for (Tensor k : loop(4)) g = g + grad(sum(y * w * cast<float>(k)), w);
         return g;
     },
     1e-4},
    {"of_samples_that_end_apart",
     [] {
         Tensor x = random_tensor({64, 3}) + 0.7f;
         const auto f = [](const std::vector<Tensor>& a) {
             Tensor z = a[0];
             for (Tensor k : loop(6)) {
                 if_(sum(z) > 5.0f, [] { break_(); });
                 z = 0.9f * z * z + 0.3f;
             }
             return grad(z, a[0]);
         };
         return vmap(f, {x});
     },
     1e-3},
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
