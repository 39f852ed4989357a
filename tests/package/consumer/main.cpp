// Runs one tensor program through the installed package, beside code that uses Vulkan on its own.
#include <firn/files.h>
#include <firn/firn.h>
#include <firn/learning.h>
#include <firn/shading.h>

#include <cstdio>

bool loader_answers_firn_first();
bool loader_answers_vulkan_first();

int main() {
    firn::Tensor x = firn::arange(5);
    int sum = firn::sum(x * x).item<int>();
    std::printf("sum of squares %d\n", sum);
    bool loader = loader_answers_firn_first() && loader_answers_vulkan_first();
    firn::Linear layer(5, 2);
    firn::SGD sgd(layer.parameters(), {.lr = 0.1f});
    const firn::Tensor row = firn::reshape(x.as(firn::f32), {1, 5}), wanted = firn::ones({1, 2});
    const float before = sgd.step(firn::mse_loss(layer(row), wanted)).item<float>();
    const float after = firn::mse_loss(layer(row), wanted).item<float>();
    const float noise = firn::perlin_noise(firn::vec2(3, 4)).item<float>();  // a lattice point
    return sum == 30 && loader && after != before && noise == 0 ? 0 : 1;
}
