// The path tracer against closed forms, on every executor, and the demo's own exit statuses.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <tuple>

#include "apps/path_tracer/trace.h"
#include "compiler/base/error.h"
#include "compiler/program/program.h"
#include "engine/app/exr.h"
#include "engine/pictures/formats.h"

namespace firn::path_tracer {
namespace {

/// Renders a white ball that fills the picture in a white room.
std::vector<float> furnace(float roughness, float metal, int size, int samples) {
    Tracer tracer(SceneName::Furnace, make_sky(ones({8, 16, 3})));
    Settings settings{.camera = {.view = 0.25f},
                      .colour = {1, 1, 1},
                      .roughness = roughness,
                      .metal = metal,
                      .coat = 0,
                      .bounces = 4};
    Film film = make_film(size, size);
    for (int k = 0; k < samples; ++k) tracer.add_sample(film, settings, 1);
    return linear_picture(film).to_vector<float>();
}

double mean_of(const std::vector<float>& x) {
    return std::accumulate(x.begin(), x.end(), 0.0) / double(x.size());
}

class PathTracerOnDevice : public ::testing::Test {
  protected:
    Session session = device_session();
    SessionScope scope{session};
};

TEST_F(PathTracerOnDevice, AWhiteBallInAWhiteRoomStaysWhite) {
    std::vector<float> picture = furnace(1, 0, 64, 128);
    EXPECT_NEAR(mean_of(picture), 1, 0.005);
    // Everywhere: the means of rows, from the top of the ball to its bottom.
    for (size_t row = 0; row < 64; row += 8) {
        auto begin = picture.begin() + static_cast<long>(row * 64 * 3);
        EXPECT_NEAR(mean_of({begin, begin + 8 * 64 * 3}), 1, 0.01) << row;
    }
}

TEST_F(PathTracerOnDevice, AWhiteMirrorInAWhiteRoomStaysWhite) {
    EXPECT_NEAR(mean_of(furnace(0, 1, 64, 64)), 1, 0.005);
}

TEST_F(PathTracerOnDevice, RoughMetalKeepsWhatItsModelKeeps) {
    // One reflection leaves out the light that meets the rough metal twice: little, or 8 to 12 %.
    double smooth = mean_of(furnace(0.2f, 1, 64, 64)), rough = mean_of(furnace(0.5f, 1, 64, 64));
    EXPECT_NEAR(smooth, 0.99, 0.01);
    EXPECT_NEAR(rough, 0.90, 0.02);
}

TEST_F(PathTracerOnDevice, MovingTheEyeCompilesNothing) {
    Tracer tracer(SceneName::Spheres, make_sky(ones({8, 16, 3})));
    Film film = make_film(16, 24);
    tracer.add_sample(film, {}, 1);
    size_t programs = tracer.function().variant_count();
    tracer.add_sample(film, {.camera = {.around = 1, .aperture = 0.2f}}, 7);
    EXPECT_EQ(tracer.function().variant_count(), programs);
}

TEST_F(PathTracerOnDevice, OneProgramServesEveryNumberOfBounces) {
    current_session().specialise(false);
    Tracer tracer(SceneName::Spheres, make_sky(ones({8, 16, 3})));
    Film film = make_film(16, 24);
    tracer.add_sample(film, {}, 1);
    size_t programs = tracer.function().variant_count();
    tracer.add_sample(film, {.bounces = 2}, 7);
    EXPECT_EQ(tracer.function().variant_count(), programs);
}

/// Two samples of a small picture.
std::vector<float> small_picture(Session session, SceneName scene) {
    SessionScope scope(session);
    auto [i, j, c] = indices<3>(Shape{8, 16, 3});
    Tracer tracer(scene, make_sky(1.0f + 0.5f * sin(i * 0.9f + c) * cos(0.7f * j)));
    Film film = make_film(9, 12);
    for (int k = 0; k < 2; ++k) tracer.add_sample(film, {.bounces = 3}, 5);
    return linear_picture(film).to_vector<float>();
}

class PathTracerExecutors : public ::testing::TestWithParam<SceneName> {};

TEST_P(PathTracerExecutors, GiveThePictureOfTheOracle) {
    std::vector<float> oracle = small_picture(Session::oracle(), GetParam());
    EXPECT_GT(mean_of(oracle), 0.1);
    for (Session session : {Session::interpreter(), device_session()}) {
        std::vector<float> other = small_picture(session, GetParam());
        ASSERT_EQ(other.size(), oracle.size());
        // A rounding may turn a path: most pixels agree, and no more than a few do not.
        size_t apart = 0;
        for (size_t k = 0; k < other.size(); ++k)
            apart += !(std::abs(other[k] - oracle[k]) < 2e-3f * (1 + oracle[k]));
        EXPECT_LE(apart, other.size() / 20);
    }
}

INSTANTIATE_TEST_SUITE_P(Scenes, PathTracerExecutors,
                         ::testing::Values(SceneName::Sponge, SceneName::Bulb, SceneName::Spheres),
                         [](const auto& info) { return scene_names()[size_t(info.param)]; });

class PathTracerParts : public ::testing::Test {
  protected:
    Session session = Session::interpreter();
    SessionScope scope{session};
};

TEST_F(PathTracerParts, DirectionsAreDrawnByTheChanceThatIsTold) {
    // Dividing by the chance, the mean of a function over drawn directions is its integral.
    auto [i, j, c] = indices<3>(Shape{16, 32, 3});
    Tensor light = select((i == 5) & (j == 9), 300.0f, 0.2f) + 0.0f * c;
    Sky sky = make_sky(light);
    Tensor k = arange(1 << 15), turn = 0.3f;
    Tensor first = (k + 0.5f) * (1.0f / (1 << 15)), second = frac(k * 0.61803398875f);
    vec3 direction = draw_direction(sky, first, second, turn);
    EXPECT_NEAR(max(abs(length(direction) - 1.0f)).item<float>(), 0, 1e-5f);
    Tensor chance = sky_chance(sky, direction, turn);
    float sphere = mean(1.0f / chance).item<float>();
    EXPECT_NEAR(sphere, 4 * 3.14159265f, 0.4f);
    Tensor up = max(direction.y, 0.0f);
    EXPECT_NEAR(mean(up / chance).item<float>(), 3.14159265f, 0.1f);
}

TEST_F(PathTracerParts, TheSpongesDistanceCannotBeOverstepped) {
    Tensor p = rand({3, 4096}, {.seed = 3}) * 3.0f - 1.5f, q = rand({3, 4096}, {.seed = 4}) * 0.1f;
    auto at = [](const Tensor& x) { return vec3(Tensor(x(0)), Tensor(x(1)), Tensor(x(2))); };
    Tensor change = abs(sponge_distance(at(p)) - sponge_distance(at(p + q)));
    EXPECT_LE(max(change - length(at(q))).item<float>(), 1e-5f);
    EXPECT_GT(max(change).item<float>(), 0.01f);
}

TEST_F(PathTracerParts, ASphereIsMetFromOutsideAndInside) {
    auto met = [](float z) {
        Ray ray{vec3(0, 0, z), vec3(0, 0, 1)};
        return sphere_distance(ray, vec3(0), 1.0f).item<float>();
    };
    EXPECT_NEAR(met(-3), 2, 1e-6f);
    EXPECT_NEAR(met(0), 1, 1e-6f);
    EXPECT_EQ(met(2), kFar);
}

using Axes = std::array<Tensor, 3>;
Axes axes(const vec3& v) { return {v.x, v.y, v.z}; }

/// The gradient of a distance, from four corners of a small tetrahedron.
vec3 corner_normal(Tensor (*distance)(const vec3&), const vec3& p) {
    vec3 sum(0);
    for (int corner = 0; corner < 4; ++corner) {
        const vec3 away(corner & 1 ? 1 : -1, corner & 2 ? 1 : -1,
                        corner == 0 || corner == 3 ? 1 : -1);
        sum += away * distance(p + away * 2e-4f);
    }
    return normalize(sum);
}

/// The gradient is compared with differences at points that rays meet, except at edges, where
/// differences see both sides; the bulb is as rough as their step.
TEST_F(PathTracerParts, NormalsAreTheGradientOfTheDistanceInOneKernel) {
    const Material material{vec3(1), 0.5f, 0.0f, 0.0f, 1.0f};
    const std::vector<ArgSpec> numbers{f32(512), f32(512), f32(512)};
    for (const auto& [name, distance, most] :
         {std::tuple{SceneName::Sponge, &sponge_distance, 0.05f},
          std::tuple{SceneName::Bulb, &bulb_distance, 0.5f}}) {
        const Scene scene = make_scene(name, material);
        const Ray ray{vec3(rand({512}, {.seed = 5}) * 1.4f - 0.7f,
                           rand({512}, {.seed = 6}) * 1.4f - 0.7f, -3.0f),
                      normalize(vec3(0.05f, 0.1f, 1.0f))};
        const Hit hit = scene.nearest(ray);
        const auto exact = compile_arity<3>(
            [&](Tensor x, Tensor y, Tensor z) {
                return axes(scene.surface(vec3(x, y, z), ones({512}, i32)).normal);
            },
            numbers, here());
        const auto corners = compile_arity<3>(
            [distance = distance](Tensor x, Tensor y, Tensor z) {
                return axes(corner_normal(distance, vec3(x, y, z)));
            },
            numbers, here());
        const vec3 p = ray.at(hit.distance);
        const Axes a = exact(p.x, p.y, p.z), b = corners(p.x, p.y, p.z);
        EXPECT_EQ(exact.program()->kernels.size(), 1u) << exact.explain();
        const Tensor met = hit.object == 1;
        const Tensor apart = abs(a[0] - b[0]) + abs(a[1] - b[1]) + abs(a[2] - b[2]);
        const int all = sum(met).item<int>(), alike = sum(met & (apart < most)).item<int>();
        EXPECT_GT(all, 100) << int(name);
        EXPECT_GT(alike, all * 9 / 10) << int(name) << ": of " << all;
    }
}

// --- the demo ------------------------------------------------------------------------------------

struct Outcome {
    int status = -1;
    std::string text;  // of stdout and stderr
};

Outcome run_demo(const std::string& arguments) {
    std::string command =
        FIRN_BIN_DIR "/path_tracer --headless --size 48x27 " + arguments + " 2>&1";
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

TEST(PathTracerDemo, APanoramaThatIsNoneIsRefusedByName) {
    Outcome run = run_demo("--sky " FIRN_SOURCE_DIR "/README.md");
    EXPECT_EQ(run.status, 2) << run.text;
    EXPECT_NE(run.text.find("README.md"), std::string::npos) << run.text;
}

TEST(PathTracerDemo, NoSamplesAreRefused) {
    Outcome run = run_demo("--samples none");
    EXPECT_EQ(run.status, 2) << run.text;
    EXPECT_NE(run.text.find("none"), std::string::npos) << run.text;
}

TEST(PathTracerDemo, TwoRunsGiveTheSamePictureAndTheLinearOne) {
    std::filesystem::path first = temporary("path_first.png"),
                          second = temporary("path_second.png"),
                          linear = temporary("path_linear.hdr");
    Outcome run = run_demo("--samples 2 --out " + first.string() + " --hdr " + linear.string());
    EXPECT_EQ(run.status, 0) << run.text;
    // The same samples over two frames.
    EXPECT_EQ(run_demo("--frames 2 --samples 1 --out " + second.string()).status, 0);
    EXPECT_FALSE(bytes_of(first).empty());
    EXPECT_EQ(bytes_of(first), bytes_of(second));
    EXPECT_EQ(bytes_of(linear).rfind("#?RADIANCE", 0), 0u);
}

// --- EXR -----------------------------------------------------------------------------------------

TEST(Exr, EveryFloatComesBackAsItWas) {
    const std::filesystem::path path = temporary("round_trip.exr");
    FloatPicture picture{33, 21, {}};
    for (int k = 0; k < 33 * 21 * 3; ++k)
        picture.values.push_back(std::ldexp(float(k % 7) - 3.3f, k % 40 - 20));
    write_exr(path, picture);
    const FloatPicture read = read_exr(path);
    EXPECT_EQ(read.width, 33);
    EXPECT_EQ(read.height, 21);
    EXPECT_EQ(read.values, picture.values);
}

TEST(Exr, FilesThatCannotBeAreNamed) {
    auto message = [](auto body) -> std::string {
        try {
            body();
        } catch (const UserError& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_NE(message([] {
                  write_exr("/no/such/folder/a.exr", {1, 1, {1, 2, 3}});
              }).find("a.exr"),
              std::string::npos);
    EXPECT_NE(message([] { read_exr(FIRN_SOURCE_DIR "/README.md"); }).find("README.md"),
              std::string::npos);
}

TEST(Exr, AHeaderThatClaimsTooManyPixelsIsRefused) {
    const std::filesystem::path path = temporary("claims.exr");
    write_exr(path, {2, 2, std::vector<float>(12, 1.0f)});
    std::string bytes = bytes_of(path);
    // The window: four numbers behind its name, its type and its length.
    const std::string name("dataWindow\0box2i\0", 17);
    const size_t at = bytes.find(name) + name.size() + 4;
    const int32_t claimed[4] = {0, 0, 999'999'999, 999'999'999};
    std::memcpy(bytes.data() + at, claimed, sizeof claimed);
    std::ofstream(path, std::ios::binary) << bytes;
    try {
        read_exr(path);
        FAIL() << "it was read";
    } catch (const UserError& error) {
        const std::string why = error.what();
        EXPECT_NE(why.find("claims.exr: cannot be read"), std::string::npos) << why;
        EXPECT_NE(why.find("exceeds the maximum width"), std::string::npos) << why;
    }
}

TEST(PathTracerDemo, WritesItsLightAsFloats) {
    std::filesystem::path linear = temporary("path.exr"), hdr = temporary("path.hdr");
    Outcome run = run_demo("--samples 2 --out " + linear.string() + " --hdr " + hdr.string());
    ASSERT_EQ(run.status, 0) << run.text;
    const FloatPicture picture = read_exr(linear);
    EXPECT_EQ(picture.width, 48);
    EXPECT_EQ(picture.height, 27);
    // The other file holds the same light with a shared exponent: 8 bits of each colour.
    const std::vector<float> light = read_samples(hdr).light;
    ASSERT_EQ(light.size(), picture.values.size());
    for (size_t pixel = 0; pixel < 48 * 27; ++pixel) {
        const float* rgb = &picture.values[3 * pixel];
        const float most = std::max({rgb[0], rgb[1], rgb[2]});
        for (size_t k = 0; k < 3; ++k)
            EXPECT_NEAR(light[3 * pixel + k], rgb[k], most / 100 + 1e-6f) << pixel;
    }
}

TEST(PathTracerDemo, AnOutputOfUnknownKindIsRefused) {
    Outcome run = run_demo("--out picture.tiff");
    EXPECT_EQ(run.status, 2) << run.text;
    EXPECT_NE(run.text.find("must end in .png, .jpg, .exr, .hdr or .npy"), std::string::npos)
        << run.text;
}

}  // namespace
}  // namespace firn::path_tracer
