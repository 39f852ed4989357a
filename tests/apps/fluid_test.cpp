// The fluid: its step on every executor, what its projection leaves, and the demo's own exit
// statuses.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "apps/fluid/sampling.h"
#include "apps/fluid/simulation.h"
#include "apps/fluid/views.h"
#include "tests/apps/default_device.h"
#include "tests/host_functions.h"

namespace firn::fluid {
namespace {

/// The state of a flow after some steps of the scripted stroke.
struct Fields {
    std::vector<float> u, v, pressure, red;
};

Tensor waves(int n, int m) {
    auto [i, j, c] = indices<3>(Shape{n, m, 3});
    return 0.5f + 0.5f * sin(0.31f * i + cast<float>(c)) * cos(0.23f * j);
}

Simulation stirred(int n, int m, int steps, Settings settings = {}) {
    Simulation simulation = make_simulation(waves(n, m), default_obstacles(n, m));
    for (int frame = 0; frame < steps; ++frame)
        advance(simulation, settings, scripted_stroke(frame, n, m, settings));
    return simulation;
}

Fields fields(Session session, int n, int m, int steps) {
    SessionScope scope(session);
    Flow flow = stirred(n, m, steps).flow;
    return {flow.u.to_vector<float>(), flow.v.to_vector<float>(), flow.pressure.to_vector<float>(),
            flow.dye[0].to_vector<float>()};
}

/// The largest difference of an element from what was expected, over its own size or, where it is
/// small beside the others, over that of a typical one (the root of the mean square): what meets
/// there by advection has that size.
double difference(const std::vector<float>& got, const std::vector<float>& expected) {
    if (got.size() != expected.size()) return HUGE_VAL;
    double squares = 0, worst = 0;
    for (float x : expected) squares += double(x) * double(x);
    const double typical = std::sqrt(squares / double(expected.size()));
    for (size_t k = 0; k < got.size(); ++k) {
        const double off = std::abs(double(got[k]) - double(expected[k]));
        if (!std::isfinite(off)) return HUGE_VAL;
        worst = std::max(worst, off / std::max(std::abs(double(expected[k])), typical));
    }
    return worst;
}

void expect_near(const Fields& got, const Fields& expected, double tolerance) {
    EXPECT_LT(difference(got.u, expected.u), tolerance);
    EXPECT_LT(difference(got.v, expected.v), tolerance);
    EXPECT_LT(difference(got.pressure, expected.pressure), tolerance);
    EXPECT_LT(difference(got.red, expected.red), tolerance);
}

const Fields& by_oracle() {
    static const Fields oracle = fields(Session::oracle(), 48, 64, 20);
    return oracle;
}

TEST(FluidStep, TwentyStepsByTheKernelInterpreterAreThoseOfTheOracle) {
    // The same operations in the same order, with the oracle's functions; sums may be taken
    // otherwise.
    expect_near(fields(with_host_functions(), 48, 64, 20), by_oracle(), 1e-5);
}

TEST(FluidStep, TwentyStepsOnTheDeviceAreThoseOfTheOracle) {
    // A thousand roundings of an f32: fifty in each step, whose pressure starts from that of the
    // step before.
    expect_near(fields(device_session(), 48, 64, 20), by_oracle(), 1e-4);
}

TEST(FluidStep, IsFewKernels) {
    Session session = Session::interpreter();
    SessionScope scope(session);
    // A level has 4 kernels on the way down and 2 on the way up at most; the flow itself, 4.
    EXPECT_LE(stirred(48, 64, 1).step.stats().kernels, 6 * multigrid_levels(48, 64) + 4);
}

/// The gradient of sum(weights * f(x)) by x for an f that is linear in x, against differences in
/// directions.
void expect_gradient_of_differences(const Tensor& x, const Callback<Tensor(const Tensor&)>& f) {
    const Tensor y = f(x), weights = randn(y.shape(), {.seed = 5}), by = grad(sum(weights * y), x);
    for (uint32_t seed = 10; seed < 14; ++seed) {
        const Tensor step = randn(x.shape(), {.seed = seed});
        const float change = 0.5f * sum(weights * (f(x + step) - f(x - step))).item<float>();
        EXPECT_NEAR(sum(by * step).item<float>(), change, 1e-3f * (1 + std::abs(change)));
    }
}

TEST(FluidGradients, OfReadsBetweenElementsAreThoseOfDifferences) {
    SessionScope scope(Session::interpreter());
    // Points inside and outside, many of which read the same elements.
    const Point at{randn({40}, {.seed = 1}) * 3.0f + 2.0f, randn({40}, {.seed = 2}) * 3.0f + 2.0f};
    for (const Field::Outside outside : {Field::Outside::Edge, Field::Outside::Zero})
        expect_gradient_of_differences(randn({4, 5}, {.seed = 3}), [&](const Tensor& x) {
            return bilinear(Field(x, outside), at);
        });
}

TEST(FluidGradients, ByPlacesAreThoseOfDifferences) {
    SessionScope scope(Session::interpreter());
    auto [i, j] = indices<2>({7, 8});
    // Its Catmull-Rom spline is within the range of the nearest four.
    const Field field(i.as(f32) + 2.0f * j.as(f32) + 0.25f * square(j.as(f32)));
    const Tensor y = rand({16}, {.seed = 1}) * 3.0f + 1.5f,
                 x = rand({16}, {.seed = 2}) * 4.0f + 1.5f;
    const auto sum_at = [&](const Tensor& y, const Tensor& x) {
        return sum(bicubic(field, {y, x}));
    };
    const std::vector<Tensor> by = grad(sum_at(y, x), std::vector{y, x});
    EXPECT_NEAR(sum(by[0]).item<float>(), 16, 1e-3f);
    // The spline of a parabola is the parabola.
    const std::vector<float> got = by[1].to_vector<float>(), places = x.to_vector<float>();
    for (size_t k = 0; k < got.size(); ++k) EXPECT_NEAR(got[k], 2 + 0.5f * places[k], 1e-3f);
}

TEST(FluidGradients, OfThePressureSolveAreThoseOfDifferences) {
    SessionScope scope(Session::interpreter());
    for (const auto& [n, m] : {std::pair{8, 6}, {7, 9}}) {
        auto [i, j] = indices<2>({n, m});
        const std::vector<Level> levels = pyramid(1.0f - ((i == 2) & (j == 3)).as(f32));
        const Tensor pressure = randn({n, m}, {.seed = 4});
        expect_gradient_of_differences(randn({n, m}, {.seed = 3}), [&](const Tensor& source) {
            return multigrid_cycle(levels, pressure, source, 2);
        });
    }
}

/// Runs the simulation on the default device. The tests above compare twenty steps on Vulkan.
class FluidOnDevice : public ::testing::Test {
  protected:
    OnDefaultDevice default_device;
    Session session = device_session();
    SessionScope scope{session};
};

TEST_F(FluidOnDevice, ProjectionTakesAHundredthOfTheDivergence) {
    DivergenceStats stats = divergence_stats(stirred(96, 128, 10));
    EXPECT_GT(stats.before, 100 * stats.after);
}

TEST_F(FluidOnDevice, ProjectionIsAsGoodAtOddSizes) {
    DivergenceStats stats = divergence_stats(stirred(61, 97, 10));
    EXPECT_GT(stats.before, 100 * stats.after);
}

TEST_F(FluidOnDevice, ASingleSweepIsDampedAndDoesNotBlowUp) {
    const DivergenceStats one = divergence_stats(stirred(61, 97, 20, {.cycles = 3, .sweeps = 1}));
    EXPECT_LT(one.after, 0.1f * one.before);
}

TEST_F(FluidOnDevice, MoreCyclesLeaveLess) {
    DivergenceStats few = divergence_stats(stirred(61, 97, 3, {.cycles = 1}));
    DivergenceStats many = divergence_stats(stirred(61, 97, 3, {.cycles = 5}));
    EXPECT_GT(few.after, 100 * many.after);
}

TEST_F(FluidOnDevice, NothingFlowsIntoObstacles) {
    Simulation simulation = stirred(48, 64, 5);
    auto [i, j] = indices<2>(Shape{48, 64});
    const Flow& flow = simulation.flow;
    Tensor open = simulation.open;
    Tensor through = select(open * zero(open)(i, j - 1) == 0.0f, abs(flow.u), 0.0f) +
                     select(open * zero(open)(i - 1, j) == 0.0f, abs(flow.v), 0.0f);
    EXPECT_EQ(max(through).item<float>(), 0.0f);
    EXPECT_GT(max(abs(flow.u)).item<float>(), 1.0f);
}

TEST_F(FluidOnDevice, DyeHasNoNewExtremes) {
    Simulation simulation = stirred(48, 64, 20, {.dye_loss = 0});
    EXPECT_GE(min(simulation.flow.dye[1]).item<float>(), 0.0f);
    EXPECT_LE(max(simulation.flow.dye[1]).item<float>(), 1.0f);
}

TEST_F(FluidOnDevice, AtRestItStaysAtRest) {
    Simulation simulation = make_simulation(waves(48, 64), default_obstacles(48, 64));
    std::vector<float> before = simulation.flow.dye[0].to_vector<float>();
    for (int frame = 0; frame < 3; ++frame) advance(simulation, {.dye_loss = 0}, Stroke{});
    EXPECT_LT(difference(before, simulation.flow.dye[0].to_vector<float>()), 1e-5);
}

TEST_F(FluidOnDevice, TurningAConstantCompilesNothing) {
    Simulation simulation = stirred(48, 64, 1);
    size_t programs = simulation.step.variant_count();
    advance(simulation, {.dt = 0.02f, .confinement = 1, .cycles = 2, .sweeps = 3}, Stroke{});
    EXPECT_EQ(simulation.step.variant_count(), programs);
}

// --- the demo ------------------------------------------------------------------------------------

struct Outcome {
    int status = -1;
    std::string text;  // of stdout and stderr
};

Outcome run_demo(const std::string& arguments) {
    std::string command = FIRN_BIN_DIR "/fluid " + arguments + " 2>&1";
    std::FILE* pipe = popen(command.c_str(), "r");
    Outcome run;
    std::array<char, 4096> part;
    while (size_t count = std::fread(part.data(), 1, part.size(), pipe))
        run.text.append(part.data(), count);
    int status = pclose(pipe);
    run.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return run;
}

std::filesystem::path temporary(const std::string& name) {
    std::filesystem::path path = std::filesystem::path(testing::TempDir()) / name;
    std::filesystem::remove(path);
    return path;
}

std::string bytes_of(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

TEST(FluidDemo, APictureThatIsNoneIsRefusedByName) {
    std::filesystem::path out = temporary("fluid_refused.png");
    Outcome run = run_demo("--headless --frames 1 --size 64x48 --picture " FIRN_SOURCE_DIR
                           "/README.md --out " +
                           out.string());
    EXPECT_EQ(run.status, 2) << run.text;
    EXPECT_NE(run.text.find("README.md"), std::string::npos) << run.text;
    EXPECT_FALSE(std::filesystem::exists(out));
}

TEST(FluidDemo, APictureThatIsMissingIsRefusedByName) {
    Outcome run = run_demo("--headless --frames 1 --size 64x48 --picture /nowhere/ink.png");
    EXPECT_EQ(run.status, 2) << run.text;
    EXPECT_NE(run.text.find("/nowhere/ink.png"), std::string::npos) << run.text;
}

TEST(FluidDemo, TwoHeadlessRunsGiveTheSameBytes) {
    std::filesystem::path first = temporary("fluid_first.png"),
                          second = temporary("fluid_second.png");
    std::string arguments = "--headless --frames 8 --size 96x64 --out ";
    Outcome run = run_demo(arguments + first.string());
    EXPECT_EQ(run.status, 0) << run.text;
    EXPECT_EQ(run_demo(arguments + second.string()).status, 0);
    EXPECT_FALSE(bytes_of(first).empty());
    EXPECT_EQ(bytes_of(first), bytes_of(second));
}

TEST(FluidDemo, StatsArePrintedForEveryFrame) {
    Outcome run = run_demo("--headless --frames 2 --size 96x64 --set stats=true");
    EXPECT_EQ(run.status, 0) << run.text;
    EXPECT_NE(run.text.find("frame 1: divergence (rms)"), std::string::npos) << run.text;
}

TEST(FluidDemo, AtRestThereIsNoShareOfTheDivergenceToPrint) {
    Outcome run = run_demo("--headless --frames 1 --size 64x48 --set stats=true --set dt=0");
    EXPECT_NE(run.text.find("0 before, 0 after\n"), std::string::npos) << run.text;
}

}  // namespace
}  // namespace firn::fluid
