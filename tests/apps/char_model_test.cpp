// A model that learns a text that says the same again and again, and what char_model refuses.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "apps/char_model/views.h"
#include "apps/common/dot_font.h"
#include "tests/apps/default_device.h"

namespace firn::char_model {
namespace {

class CharModel : public testing::Test {
  protected:
    CharModel() { std::filesystem::create_directories(folder); }
    ~CharModel() override { std::filesystem::remove_all(folder); }
    std::string file(const std::string& text) const {
        std::ofstream(folder + "/text", std::ios::binary) << text;
        return folder + "/text";
    }
    static std::string content(const std::string& path) {
        std::ifstream in(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    static std::string times(int count, const std::string& text) {
        std::string out;
        for (int k = 0; k < count; ++k) out += text;
        return out;
    }
    std::string folder = testing::TempDir() + "/char_model_test";
};

TEST_F(CharModel, WritesAsTheTextIsWritten) {
    const OnDefaultDevice device;
    SessionScope scope(device_session());
    const ModelOptions options{.context = 8, .width = 16, .layers = 1, .heads = 2};
    Training training = make_training(read_text(file(times(60, "firn\xff.")), 8), options, 3);
    EXPECT_EQ(training.text.codes, (std::vector<int>{'.', 'f', 'i', 'n', 'r', 255}));
    EXPECT_EQ(int64_t(training.text.train.size(0)), 324);
    const float before = test_loss(training);
    EXPECT_NEAR(before, 1.8f, 0.6f);  // log of 6: it knows nothing
    for (int k = 0; k < 80; ++k) advance(training, {.lr = 1e-2f});
    EXPECT_LT(test_loss(training), 0.1f);
    const Sample sample = written(training, "firn", 12, 0.01f, 0);
    EXPECT_EQ(sample.given, 8);
    EXPECT_EQ(sample.text.substr(4), "firn\xff.firn\xff.firn");
    ASSERT_EQ(sample.probability.size(), 20u);
    for (float each : sample.probability) EXPECT_GT(each, 0.7f);
    // Other chance writes otherwise where it is daring; the same writes the same.
    EXPECT_NE(written(training, "", 40, 9.0f, 1).text, written(training, "", 40, 9.0f, 2).text);
    EXPECT_EQ(written(training, "", 40, 9.0f, 1).text, written(training, "", 40, 9.0f, 1).text);
    EXPECT_EQ(Shape(page({sample, sample}).shape()), (Shape{kHeight, kWidth, 3}));
    restart(training, 3);
    EXPECT_EQ(test_loss(training), before);
}

TEST_F(CharModel, TheModelSeesNoCharacterAhead) {
    SessionScope scope(Session::oracle());
    const Model model(5, {.context = 6, .width = 8, .layers = 2, .heads = 2});
    const Tensor a = model(tensor({0, 1, 2, 3, 4, 0}, {1, 6})),
                 b = model(tensor({0, 1, 2, 0, 0, 1}, {1, 6}));
    auto [i, j] = indices<2>({3, 5});
    EXPECT_EQ(a(0, i, j).to_vector<float>(), b(0, i, j).to_vector<float>());
    EXPECT_GT(max(abs(a - b)).item<float>(), 1e-3f);
}

TEST_F(CharModel, RefusesTextsThatTeachNothing) {
    const auto refused = [&](const std::string& path) {
        try {
            read_text(path, 8);
        } catch (const UserError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    SessionScope scope(Session::interpreter());
    EXPECT_EQ(refused(file(times(80, "ab"))), "");
    EXPECT_NE(refused(file("")).find("has 0 bytes; give one of 160 or more"), std::string::npos);
    EXPECT_NE(refused(file(times(200, "a"))).find("one character alone"), std::string::npos);
    EXPECT_NE(refused(folder + "/none").find("cannot be read"), std::string::npos);
}

TEST_F(CharModel, SaysTheSameForTheSameSeed) {
    const OnDefaultDevice device;
    const auto run = [&](const std::string& arguments, const std::string& out) {
        return WEXITSTATUS(std::system(
            (FIRN_BIN_DIR "/char_model --headless --frames 3 --set context=8 --set width=8 --set "
                          "layers=1 --set heads=2 --set length=20 --text " +
             arguments + " --out " + folder + "/" + out + " 2> /dev/null > /dev/null")
                .c_str()));
    };
    const std::string text = file(times(50, "the same again. "));
    EXPECT_EQ(run(text + " --seed 5", "a.png"), 0);
    EXPECT_EQ(run(text + " --seed 5", "b.png"), 0);
    EXPECT_EQ(content(folder + "/a.png"), content(folder + "/b.png"));
    EXPECT_GT(content(folder + "/a.png").size(), 2000u);
    EXPECT_EQ(run(folder + "/none", "c.png"), 2);
    EXPECT_EQ(run(text + " --set heads=3", "c.png"), 2);
}

TEST(DotFont, LettersAreDots) {
    SessionScope scope(Session::interpreter());
    const Tensor ink = lettered(tensor({int('L'), int('\n')}, {1, 2}));
    EXPECT_EQ(Shape(ink.shape()), (Shape{kLetterHeight, 2 * kLetterWidth}));
    std::string drawn;
    const std::vector<float> dots = ink.to_vector<float>();
    for (int i = 1; i < 8; ++i)
        for (int j = 0; j < 5; ++j) drawn += dots[size_t(i * 2 * kLetterWidth + j)] > 0 ? '#' : '.';
    EXPECT_EQ(drawn, "#....#....#....#....#....#....#####");
    float all = 0;
    for (float dot : dots) all += dot;
    EXPECT_EQ(all, 11);  // none of them of the line's end
}

}  // namespace
}  // namespace firn::char_model
