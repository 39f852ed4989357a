// A live session on the device of a host.
#include "tests/c/host.h"
// Behind the host's own Vulkan headers.
#include <firn/firn.h>

#include "engine/gpu/host_device.h"

namespace firn {
namespace {

HostDevice described(const Host& host) {
    const firn_host given = host.describe(true);
    HostDevice out;
    out.instance = host.instance;
    out.physical = host.physical;
    out.device = host.device;
    out.get_instance_proc_addr =
        reinterpret_cast<PFN_vkGetInstanceProcAddr>(given.get_instance_proc_addr);
    out.api_version = given.api_version;
    out.queue = host.queue;
    out.lock_queue = [given] { given.lock_queue(nullptr); };
    out.unlock_queue = [given] { given.unlock_queue(nullptr); };
    return out;
}

float norm_of_a_program() {
    Tensor x = arange(1000).as(f32) / 1000.0f;
    Tensor w = sin(reshape(x, {20, 50})) * 0.5f;
    const Tensor y = softmax(matmul(w, transpose(w)));
    const Tensor g = grad(sum(y * y), {w})[0];
    return sum(abs(g)).item<float>();
}

TEST(HostSessions, ComputeOnADeviceWithoutAnyFeature) {
    float expected = 0, got = 0;
    {
        SessionScope scope(Session::oracle());
        expected = norm_of_a_program();
    }
    for (const bool may_probe : {false, true}) {
        Host host;
        HostDevice given = described(host);
        given.may_probe = may_probe;
        {
            SessionScope scope(host_session(given));
            got = norm_of_a_program();
        }
        EXPECT_NEAR(got, expected, 1e-5 * expected) << may_probe;
        EXPECT_GT(host_counts().submits, 0);
        EXPECT_EQ(host_counts().unlocked_submits, 0);
        EXPECT_EQ(host_counts().device_waits, 0);
    }
}

TEST(HostSessions, SayThatTheyNeedAQueue) {
    Host host;
    HostDevice given = described(host);
    given.queue = VK_NULL_HANDLE;
    EXPECT_THROW(host_session(given), UserError);
}

}  // namespace
}  // namespace firn
