// A host with a volk of its own, in the file that includes Firn too: each must stay with its own
// Vulkan.
#define VOLK_IMPLEMENTATION
#include <firn/firn.h>
#include <volk.h>

#include <cstdio>

int main() {
    firn::Session device = firn::device_session();
    firn::SessionScope scope(device);
    // Firn has loaded its Vulkan; the host's is still to be loaded.
    int sum = firn::sum(firn::arange(5)).item<int>();
    bool untouched = vkEnumerateInstanceVersion == nullptr;
    uint32_t version = 0;
    bool loaded =
        volkInitialize() == VK_SUCCESS && vkEnumerateInstanceVersion(&version) == VK_SUCCESS;
    int again = firn::sum(firn::arange(6)).item<int>();
    std::printf("sums %d %d\n", sum, again);
    return sum == 10 && again == 15 && untouched && loaded ? 0 : 1;
}
