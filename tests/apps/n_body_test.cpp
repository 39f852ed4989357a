// n bodies: gravity against sums in double precision, what leapfrog keeps, and what is drawn.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "apps/n_body/picture.h"
#include "apps/n_body/simulation.h"
#include "tests/apps/default_device.h"

namespace firn::n_body {
namespace {

using Values = std::vector<float>;

struct HostVec {
    Values x, y, z;
};
HostVec on_host(const vec3& a) {
    return {a.x.to_vector<float>(), a.y.to_vector<float>(), a.z.to_vector<float>()};
}

HostVec gravity_on_host(const HostVec& p, const Values& mass, double softening) {
    size_t n = mass.size();
    HostVec pull{Values(n), Values(n), Values(n)};
    for (size_t i = 0; i < n; ++i) {
        double x = 0, y = 0, z = 0;
        for (size_t j = 0; j < n; ++j) {
            double dx = double(p.x[j]) - double(p.x[i]), dy = double(p.y[j]) - double(p.y[i]),
                   dz = double(p.z[j]) - double(p.z[i]);
            double square = dx * dx + dy * dy + dz * dz + softening * softening;
            double weight = double(mass[j]) / (square * std::sqrt(square));
            x += weight * dx, y += weight * dy, z += weight * dz;
        }
        pull.x[i] = float(x), pull.y[i] = float(y), pull.z[i] = float(z);
    }
    return pull;
}

void expect_near(const Values& a, const Values& b, float tolerance) {
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], tolerance) << i;
}

void expect_gravity_of_host(Session session) {
    SessionScope scope(session);
    Bodies bodies = colliding_galaxies(37, 1);
    HostVec expected =
        gravity_on_host(on_host(bodies.position), bodies.mass.to_vector<float>(), 0.05);
    HostVec got = on_host(gravity(bodies.position, bodies.mass, 0.05f));
    expect_near(got.x, expected.x, 2e-5f);
    expect_near(got.y, expected.y, 2e-5f);
    expect_near(got.z, expected.z, 2e-5f);
}

TEST(NBodyGravity, OfTheKernelInterpreterIsTheSumOverAllPairs) {
    expect_gravity_of_host(Session::interpreter());
}
TEST(NBodyGravity, OfTheDeviceIsTheSumOverAllPairs) { expect_gravity_of_host(device_session()); }

TEST(NBodyGravity, AStepIsTheDriftAndOneKernelForAllPairs) {
    Session session = Session::interpreter();
    SessionScope scope(session);
    Simulation simulation = make_simulation(colliding_galaxies(256, 1), {});
    ProgramStats stats = simulation.step.stats();
    EXPECT_LE(stats.dispatches, 2);
    // A pair is 3 differences, 3 products and 3 sums for the distance, 3 for its weight, 6 for the
    // pull.
    EXPECT_LE(stats.operations, 256 * 256 * 20);
}

/// Runs the simulation on the default device. The tests above compare gravity on Vulkan.
class NBodyOnDevice : public ::testing::Test {
  protected:
    OnDefaultDevice default_device;
    Session session = device_session();
    SessionScope scope{session};
};

/// Two bodies of mass 1/2 that circle each other at distance 1: once round in 2 pi.
Bodies pair() {
    auto both = [](float a, float b) { return tensor(Values{a, b}); };
    Tensor none = zeros({2});
    return {{both(-0.5f, 0.5f), none, none},
            {none, both(-0.5f, 0.5f), none},
            {none, none, none},
            both(0.5f, 0.5f),
            both(1, 1),
            both(0, 1)};
}

TEST_F(NBodyOnDevice, TwoBodiesComeRoundAfterOneTurn) {
    Settings settings{2 * 3.14159265f / 400, 1e-3f};
    Simulation simulation = make_simulation(pair(), settings);
    for (int step = 0; step < 400; ++step) advance(simulation, settings);
    HostVec place = on_host(simulation.bodies.position);
    expect_near(place.x, {-0.5f, 0.5f}, 1e-3f);
    expect_near(place.y, {0, 0}, 1e-3f);
}

TEST_F(NBodyOnDevice, TimeRunsBackwards) {
    Settings there{0.01f, 0.05f}, back{-0.01f, 0.05f};
    Bodies start = colliding_galaxies(101, 1);
    Simulation simulation = make_simulation(start, there);
    for (int step = 0; step < 50; ++step) advance(simulation, there);
    for (int step = 0; step < 50; ++step) advance(simulation, back);
    expect_near(on_host(simulation.bodies.position).x, on_host(start.position).x, 1e-3f);
}

TEST_F(NBodyOnDevice, AThousandStepsKeepTheEnergyToAThousandth) {
    Settings settings;
    Simulation simulation = make_simulation(colliding_galaxies(256, 1), settings);
    EnergyNow start = energy_now(simulation, settings);
    for (int step = 0; step < 1000; ++step) advance(simulation, settings);
    EXPECT_NEAR(energy_now(simulation, settings).total() / start.total(), 1.0, 1e-3);
}

TEST_F(NBodyOnDevice, TheEnergyOfTwoBodiesIsThatOfKepler) {
    Settings settings{0.01f, 1e-3f};
    Simulation simulation = make_simulation(pair(), settings);
    EnergyNow now = energy_now(simulation, settings);
    EXPECT_NEAR(now.kinetic, 0.125, 1e-5);
    EXPECT_NEAR(now.potential, -0.25, 1e-5);
}

TEST_F(NBodyOnDevice, AnotherCountCompilesNothing) {
    current_session().specialise(false);
    Settings settings;
    Simulation simulation = make_simulation(colliding_galaxies(1088, 1), settings);
    size_t programs = simulation.step.variant_count();
    restart(simulation, colliding_galaxies(2048, 1), settings);
    EXPECT_EQ(simulation.step.variant_count(), programs);
    EXPECT_EQ(int(simulation.bodies.position.x.size(0)), 2048);
}

// --- drawing -------------------------------------------------------------------------------------

/// The light of one body of brightness 1 that rests at (x, 0, 0), seen from above in 48 x 64
/// pixels.
float light_of_body_at(float x, float distance) {
    Painter painter = make_painter(48, 64);
    Tensor one = tensor(Values{1}), none = zeros({1});
    Bodies bodies{
        {tensor(Values{x}), none, none}, {none, none, none}, {none, none, none}, one, one, none};
    draw(painter, bodies, {0, 1.5707963f, distance}, {.trail = 0});
    return sum(painter.light.blue).item<float>();
}

TEST_F(NBodyOnDevice, LightDoesNotDependOnWhereBetweenPixelsABodyIs) {
    float middle = light_of_body_at(0, 5);
    EXPECT_GT(middle, 0.0f);
    EXPECT_NEAR(light_of_body_at(0.031f, 5), middle, 0.05f * middle);
    EXPECT_NEAR(light_of_body_at(0.057f, 5), middle, 0.05f * middle);
}

TEST_F(NBodyOnDevice, BodiesBesideAndBehindTheCameraAreNotDrawn) {
    EXPECT_EQ(light_of_body_at(100, 5), 0.0f);
    EXPECT_EQ(light_of_body_at(0, -5), 0.0f);
}

TEST_F(NBodyOnDevice, APictureHasColoursFromZeroToOne) {
    Painter painter = make_painter(50, 66);  // not whole squares of the glow
    draw(painter, colliding_galaxies(100, 1), {}, {});
    Tensor colours = picture(painter, {.exposure = 100});
    EXPECT_GE(min(colours).item<float>(), 0.0f);
    EXPECT_LE(max(colours).item<float>(), 1.0f);
    EXPECT_GT(max(colours).item<float>(), 0.5f);
}

// --- the demo ------------------------------------------------------------------------------------

std::string run_demo(const std::string& options) {
    const std::string command = FIRN_BIN_DIR
                                "/n_body --headless --frames 2 --size 64x48 --set report=1 " +
                                options + " 2>&1";
    std::FILE* pipe = popen(command.c_str(), "r");
    std::string text;
    std::array<char, 4096> part;
    while (size_t count = std::fread(part.data(), 1, part.size(), pipe))
        text.append(part.data(), count);
    EXPECT_EQ(pclose(pipe), 0) << text;
    return text;
}

TEST(NBodyDemo, PrintsTheEnergyOfAsManyBodiesAsAreAskedFor) {
    const std::string text = run_demo("--set bodies=100");
    EXPECT_NE(text.find("drift"), std::string::npos) << text;
}

TEST(NBodyDemo, RunsWithTheBodiesThatItHasByItself) {
    const std::string text = run_demo("");
    EXPECT_NE(text.find("drift"), std::string::npos) << text;
}

}  // namespace
}  // namespace firn::n_body
