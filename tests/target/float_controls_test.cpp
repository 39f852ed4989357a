// Kernels ask for -0, inf and nan to be kept where, and only where, the device can promise it.
#include <gtest/gtest.h>

#include "compiler/driver/compile.h"
#include "compiler/language.h"
#include "compiler/target/glsl/spirv.h"
#include "tests/emitting.h"

namespace firn {
namespace {

/// The first kernel of x * x for a device that can, or cannot, promise it.
KernelInfo square_kernel(DType dtype, bool keeps) {
    DeviceProfile profile = cpu_profile();
    profile.keeps_special_floats = keeps;
    SessionScope scope(emitting(profile));
    auto program = compile([](Tensor x) { return x * x; }, {dtype(64)}).program();
    return program->kernels.at(0);
}
std::string assembly(const KernelInfo& kernel) {
    std::vector<uint32_t> spirv = glsl_to_spirv(kernel.artefact.text, "kernel");
    validate_spirv(spirv, "kernel");
    return spirv_text(spirv);
}
constexpr const char* kMode = "SignedZeroInfNanPreserve 32";

TEST(FloatControls, AreAskedForWhereTheDeviceHasThem) {
    KernelInfo kernel = square_kernel(f32, true);
    EXPECT_TRUE(kernel.keeps_special_floats);
    EXPECT_NE(assembly(kernel).find(kMode), std::string::npos) << kernel.artefact.text;
}
TEST(FloatControls, AreNotAskedForElsewhere) {
    KernelInfo kernel = square_kernel(f32, false);
    EXPECT_FALSE(kernel.keeps_special_floats);
    EXPECT_EQ(assembly(kernel).find(kMode), std::string::npos) << kernel.artefact.text;
}
TEST(FloatControls, AreOfTheWidthThatIsComputedIn) {
    EXPECT_NE(assembly(square_kernel(f64, true)).find("SignedZeroInfNanPreserve 64"),
              std::string::npos);
    EXPECT_NE(assembly(square_kernel(f16, true)).find(kMode), std::string::npos);
}
TEST(FloatControls, AreNoMatterOfIntegers) {
    EXPECT_FALSE(square_kernel(i32, true).keeps_special_floats);
}
TEST(FloatControls, ArePartOfTheProfilesKey) {
    DeviceProfile profile = cpu_profile();
    profile.keeps_special_floats = !profile.keeps_special_floats;
    EXPECT_NE(cache_key(profile), cache_key(cpu_profile()));
}

}  // namespace
}  // namespace firn
