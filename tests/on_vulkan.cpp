// Keeps the sessions of a test program on Vulkan devices, also where native code would be the
// default. Programs that it starts inherit that. FIRN_EXECUTOR from outside stands.
#include <cstdlib>

namespace {

[[maybe_unused]] const int set = setenv("FIRN_EXECUTOR", "device", 0);

}  // namespace
