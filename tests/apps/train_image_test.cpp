// The network of train_image: what it learns, and that the same seed gives the same picture.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "apps/common/resample.h"
#include "apps/train_image/training.h"
#include "tests/apps/default_device.h"

namespace firn::train_image {
namespace {

/// Four fields of colour with a bright disc over them.
Tensor drawing(int n) {
    auto [i, j, c] = indices<3>(Shape{n, n, 3});
    const Tensor field =
        select((i < n / 2) == (j < n / 3), 0.8f - 0.2f * c.as(f32), 0.1f + 0.3f * c.as(f32));
    return select(square(i - n / 2) + square(j - n / 2) < n * n / 12, 1.0f, field);
}

TEST(TrainImage, ResamplesByTheMeanOfWhatAPixelCovers) {
    SessionScope scope(Session::interpreter());
    std::vector<float> values(6 * 4 * 3), expected;
    for (size_t k = 0; k < values.size(); ++k) values[k] = float(k * k % 17);
    for (size_t i = 0; i < 2; ++i)
        for (size_t j = 0; j < 2; ++j)
            for (size_t c = 0; c < 3; ++c) {
                float sum = 0;
                for (size_t a = 0; a < 3; ++a)
                    for (size_t b = 0; b < 2; ++b)
                        sum += values[((3 * i + a) * 4 + 2 * j + b) * 3 + c];
                expected.push_back(sum / 6);
            }
    const std::vector<float> got = resampled(tensor(values, {6, 4, 3}), 2, 2).to_vector<float>();
    for (size_t k = 0; k < got.size(); ++k) EXPECT_NEAR(got[k], expected[k], 1e-5) << k;
    EXPECT_EQ(resampled(tensor(values, {6, 4, 3}), 6, 4).to_vector<float>(), values);
}

TEST(TrainImage, LearnsAPictureOnTheDevice) {
    const OnDefaultDevice device;
    SessionScope scope(device_session());
    Training training =
        make_training(drawing(24), {.features = 32, .width = 32, .depth = 2, .detail = 4}, 3);
    const float before = decibels(learned_picture(training), training.target);
    for (int k = 0; k < 300; ++k) advance(training, {.batch = 512});
    const float after = decibels(learned_picture(training), training.target);
    EXPECT_LT(before, 12);
    EXPECT_GT(after, 24);
    restart(training, 3);
    EXPECT_EQ(decibels(learned_picture(training), training.target), before);
    training.step.function().finish_compiling();
    const size_t programs = training.step.function().variant_count();
    advance(training, {.lr = 1e-3f, .batch = 512});
    EXPECT_EQ(training.step.function().variant_count(), programs);
}

std::string content(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// The exit status of a small run.
int run(const std::string& arguments) {
    const int status = std::system(
        (FIRN_BIN_DIR "/train_image --headless --frames 3 --size 40x30 --set resolution=24 --set "
                      "features=8 --set width=8 --set batch=200 --set report=3 " +
         arguments + " > /dev/null 2>&1")
            .c_str());
    return WEXITSTATUS(status);
}

TEST(TrainImage, GivesTheSamePictureForTheSameSeed) {
    const OnDefaultDevice device;
    const std::string folder = testing::TempDir() + "/train_image_test";
    std::filesystem::create_directories(folder);
    const std::string a = folder + "/a.png", b = folder + "/b.png", c = folder + "/c.png";
    EXPECT_EQ(run("--seed 5 --out " + a), 0);
    EXPECT_EQ(run("--seed 5 --out " + b), 0);
    EXPECT_EQ(run("--seed 6 --out " + c), 0);
    EXPECT_GT(content(a).size(), 500u);
    EXPECT_EQ(content(a), content(b));
    EXPECT_NE(content(a), content(c));
    std::ofstream(folder + "/none.png") << "no picture";
    EXPECT_EQ(run("--picture " + folder + "/none.png"), 2);
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace firn::train_image
