// Runs one tensor program through the installed package, beside code that uses Vulkan on its own.
#include <firn/firn.h>

#include <cstdio>

bool vulkan_answers();

int main() {
    firn::Tensor x = firn::arange(5);
    int sum = firn::sum(x * x).item<int>();
    std::printf("sum of squares %d\n", sum);
    return sum == 30 && vulkan_answers() ? 0 : 1;
}
