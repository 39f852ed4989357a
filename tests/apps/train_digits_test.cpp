// Digits that are drawn, the network that reads them, and what train_digits refuses.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "apps/train_digits/views.h"
#include "tests/apps/default_device.h"

namespace firn::train_digits {
namespace {

TEST(TrainDigits, DrawsDigitsThatDifferByTheSeedAlone) {
    SessionScope scope(device_session());
    const Samples a = drawn_digits(200, 1), again = drawn_digits(200, 1), b = drawn_digits(200, 2);
    const std::vector<uint8_t> pixels = a.images.to_vector<uint8_t>();
    EXPECT_EQ(pixels, again.images.to_vector<uint8_t>());
    EXPECT_NE(pixels, b.images.to_vector<uint8_t>());
    std::vector<int> count(kClasses);
    for (int label : a.labels.to_vector<int>()) ++count.at(size_t(label));
    for (int each : count) EXPECT_GT(each, 5);
    // Ink in the middle, paper at the edges; no two are equal.
    const Tensor grey = a.images.as(f32) / 255.0f;
    EXPECT_GT(mean(max(grey, {1, 2})).item<float>(), 0.8f);
    auto [n, i, j] = indices<3>(grey.shape());
    EXPECT_LT(mean(select((i < 2) | (j < 2), grey, 0.0f)).item<float>(), 0.02f);
    const Tensor next = grey((n + 1) % 200, i, j);
    EXPECT_GT(min(mean(abs(grey - next), {1, 2})).item<float>(), 0.02f);
}

TEST(TrainDigits, LearnsToReadThem) {
    const OnDefaultDevice device;
    SessionScope scope(device_session());
    const Settings settings{.lr = 4e-3f, .averaged = 0.8f, .batch = 32};
    Training training = make_training({drawn_digits(1000, 1), drawn_digits(300, 2)}, settings, 3);
    const Judgement before = judged(training);
    EXPECT_LT(before.accuracy, 35);
    for (int k = 0; k < 100; ++k) advance(training, settings);
    const Judgement after = judged(training);
    EXPECT_GT(after.accuracy, 60);
    EXPECT_EQ(sum(after.confusion).item<float>(), 300);
    // A plainly drawn digit is read correctly.
    Views views;
    views.test = after;
    int read = 0;
    for (int digit = 0; digit < kClasses; ++digit) {
        views.pad = views.plain(digit);
        views.read = read_digit(training, views.pad);
        read += argmax(views.read.probability).item<int>() == digit;
    }
    EXPECT_GE(read, 6);
    restart(training, settings, 3);
    EXPECT_EQ(judged(training).accuracy, before.accuracy);
}

TEST(TrainDigits, AStrokeInksWhatItPasses) {
    SessionScope scope(Session::interpreter());
    const Tensor pad = with_stroke(zeros({kSide, kSide}), 5.5f, 4.5f, 5.5f, 20.5f);
    EXPECT_EQ(pad(5, 4).item<float>(), 1);
    EXPECT_EQ(pad(5, 12).item<float>(), 1);
    EXPECT_EQ(pad(5, 23).item<float>(), 0);
    EXPECT_EQ(pad(9, 12).item<float>(), 0);
}

class TrainDigitsRun : public testing::Test {
  protected:
    TrainDigitsRun() { std::filesystem::create_directories(folder); }
    ~TrainDigitsRun() override { std::filesystem::remove_all(folder); }
    /// The exit status of a small run, and what it says.
    std::pair<int, std::string> run(const std::string& arguments) const {
        const std::string said = folder + "/said";
        const int status = std::system(
            (FIRN_BIN_DIR "/train_digits --headless --frames 2 --set report=2 --set batch=20 "
                          "--set samples=60 " +
             arguments + " > " + said + " 2>&1")
                .c_str());
        return {WEXITSTATUS(status), content(said)};
    }
    static std::string content(const std::string& path) {
        std::ifstream in(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    std::string folder = testing::TempDir() + "/train_digits_test";
};

TEST_F(TrainDigitsRun, GivesTheSameForTheSameSeedAndFromFiles) {
    const OnDefaultDevice device;
    const std::string a = folder + "/a.png", b = folder + "/b.png", csv = folder + "/m.csv";
    EXPECT_EQ(run("--seed 5 --out " + a + " --write-data " + folder).first, 0);
    EXPECT_EQ(run("--seed 5 --out " + b + " --data " + folder + " --metrics " + csv).first, 0);
    EXPECT_GT(content(a).size(), 5000u);
    EXPECT_EQ(content(a), content(b));
    EXPECT_EQ(content(csv).substr(0, 21), "step,loss,accuracy\n2,");
}

TEST_F(TrainDigitsRun, RefusesWhatCannotBeLearned) {
    const OnDefaultDevice device;
    const auto refused = [&](const std::string& arguments, const std::string& why) {
        const auto [status, said] = run(arguments);
        EXPECT_EQ(status, 2) << said;
        EXPECT_NE(said.find(why), std::string::npos) << said;
    };
    refused("--set batch=61", "batch of 61 is larger than the data");
    refused("--data " + folder, "no file train-images-idx3-ubyte");
    const SessionScope scope(Session::interpreter());
    const auto write = [&](const Tensor& images, const Tensor& labels) {
        save_digits(folder, {{images, labels}, {zeros({1, 28, 28}, u8), zeros({1}, i32)}});
    };
    write(zeros({30, 28, 28}, u8), full({30}, 10));
    refused("--data " + folder, "number 0 is 10, and there are 10 classes");
    write(zeros({30, 28, 28}, u8), zeros({29}, i32));
    refused("--data " + folder, "has 30 pictures");
    write(zeros({0, 28, 28}, u8), zeros({0}, i32));
    refused("--data " + folder, "has no pictures");
    write(zeros({30, 14, 14}, u8), zeros({30}, i32));
    refused("--data " + folder, "digits are u8[n, 28, 28]");
}

}  // namespace
}  // namespace firn::train_digits
