// The flow that is controlled: its first velocity, and how near the dye comes.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "apps/fluid_control/views.h"
#include "tests/apps/default_device.h"

namespace firn::fluid_control {
namespace {

TEST(FluidControl, TheFirstVelocityHasNoDivergenceAndStaysInside) {
    SessionScope scope(Session::interpreter());
    const FirstVelocity velocity(24, 20, 4);
    velocity.stream.set(randn(velocity.stream.shape(), {.seed = 3}));
    const auto [u, v] = velocity();
    EXPECT_GT(max(abs(u)).item<float>(), 0.1f);
    EXPECT_LT(max(abs(fluid::divergence(u, v))).item<float>(), 1e-5f);
    EXPECT_EQ(max(abs(u(index(Shape{24}, 0), 0))).item<float>(), 0);
    EXPECT_EQ(max(abs(v(0, index(Shape{20}, 0)))).item<float>(), 0);
}

TEST(FluidControl, CarriesDyeNearerToThePicture) {
    const OnDefaultDevice device;
    SessionScope scope(device_session());
    const Tensor disc = disc_of_dye(24), heart = heart_of_dye(24);
    EXPECT_NEAR(mean(disc).item<float>(), mean(heart).item<float>(), 0.02f);
    Control control = make_control(disc, heart, {.steps = 12, .dt = 2.0f});
    const float before = improve(control, {}).item<float>();
    EXPECT_NEAR(before, mean(square(disc - heart)).item<float>(), 1e-5f);
    for (int k = 0; k < 25; ++k) improve(control, {});
    const std::vector<Tensor> stills = film(control);
    ASSERT_EQ(stills.size(), size_t(kStills + 1));
    EXPECT_EQ(stills[0].to_vector<float>(), disc.to_vector<float>());
    // The distance is measured between the frames that the film shows.
    const float after = mean(square(stills.back() - heart)).item<float>();
    EXPECT_NEAR(after, improve(control, {}).item<float>(), 1e-6f);
    EXPECT_LT(after, before / 3);
    restart(control);
    EXPECT_EQ(improve(control, {}).item<float>(), before);
    EXPECT_THROW(make_control(disc, heart_of_dye(20), {}), UserError);
}

TEST(FluidControl, RunsHeadlessAndSaves) {
    const OnDefaultDevice device;
    const std::string folder = testing::TempDir() + "/fluid_control_test";
    std::filesystem::create_directories(folder);
    const auto run = [&](const std::string& arguments) {
        return WEXITSTATUS(std::system(
            (FIRN_BIN_DIR "/fluid_control --headless --frames 2 --set resolution=16 --set "
                          "flow_steps=3 --metrics " +
             folder + "/m.csv " + arguments + " > /dev/null 2>&1")
                .c_str()));
    };
    EXPECT_EQ(run("--save " + folder + "/a.safetensors"), 0);
    const auto rows = [&] {
        std::ifstream in(folder + "/m.csv");
        return std::string(std::istreambuf_iterator<char>(in), {});
    };
    EXPECT_EQ(rows().substr(0, 26), "step,loss,distance,fell\n2,");
    EXPECT_EQ(run("--load " + folder + "/a.safetensors"), 0);
    EXPECT_EQ(rows().substr(0, 26), "step,loss,distance,fell\n4,");
    EXPECT_EQ(run("--target " + folder + "/m.csv"), 2);
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace firn::fluid_control
