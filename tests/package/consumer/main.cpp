// Runs one tensor program through the installed package, beside code that uses Vulkan on its own.
#include <firn/firn.h>

#include <cstdio>

bool loader_answers_firn_first();
bool loader_answers_vulkan_first();

int main() {
    firn::Tensor x = firn::arange(5);
    int sum = firn::sum(x * x).item<int>();
    std::printf("sum of squares %d\n", sum);
    bool loader = loader_answers_firn_first() && loader_answers_vulkan_first();
    return sum == 30 && loader ? 0 : 1;
}
