// A program of one's own: what the command line asks for is what happens.
#include <firn/firn.h>
#include <firn/learning.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "compiler/base/error.h"
#include "engine/app/exr.h"
#include "engine/runtime/vulkan_executor.h"

namespace firn {
namespace {

namespace fs = std::filesystem;

/// The status of a program without a window that is called with these arguments.
int run_app(App& app, std::vector<std::string> arguments, const Callback<void(Window&)>& program) {
    arguments.insert(arguments.begin(), {"late", "--headless"});
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    return app.run(static_cast<int>(argv.size()), argv.data(), program);
}

class Apps : public testing::Test {
  protected:
    void SetUp() override {
        static const std::string devices = device_report();
        if (!devices.starts_with("0  ")) GTEST_SKIP() << "no Vulkan driver: " << devices;
        folder_ = testing::TempDir() + "/firn_app/";
        fs::remove_all(folder_);
        fs::create_directories(folder_);
    }
    /// A program that shows f32[2, 3] with values from -1 to 4.
    int show(std::vector<std::string> arguments, const Callback<void(Window&)>& look = {}) {
        return run_app(app_, std::move(arguments), [&](Window& window) {
            const Tensor x = reshape(arange(6), {2, 3}).as(f32) - 1.0f;
            while (window.open()) {
                window.show(x);
                if (look) look(window);
            }
        });
    }
    App app_{{.name = "late", .help = "A program.", .size = {8, 8}, .headless_frames = 2}};
    std::string folder_;
};

/// Returns the number of pictures in a .gif, by the blocks that hold their durations.
int pictures_in(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(in), {}), block = "\x21\xf9\x04";
    int count = 0;
    for (size_t at = bytes.find(block); at != std::string::npos; at = bytes.find(block, at + 1))
        ++count;
    return count;
}

TEST_F(Apps, KeepWhatWasRecordedWhereTheyEndByAnError) {
    const std::string video = folder_ + "video.gif";
    const auto fail = [](Window& window) {
        if (window.frame() == 4) throw std::runtime_error("it rains");
    };
    EXPECT_EQ(show({"--frames", "9", "--out", video}, fail), 1);
    EXPECT_EQ(pictures_in(video), 4);
}
TEST_F(Apps, WriteVideosAtTheRateOfTheCommandLine) {
    const std::string video = folder_ + "slow.gif";
    EXPECT_EQ(show({"--frames", "3", "--video-rate", "2", "--out", video}), 0);
    std::ifstream in(video, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(in), {});
    const size_t at = bytes.find("\x21\xf9\x04");
    ASSERT_LT(at, bytes.size() - 5);
    EXPECT_EQ(bytes.substr(at + 4, 2), std::string("\x32\0", 2)) << "50 hundredths of a second";
}
TEST_F(Apps, DoNotWaitForADeviceThatWasGivenUp) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const std::string video = folder_ + "video.gif";
    const auto give_up = [](Window& window) {
        Device& device = window.executor().device();
        device.suspect("a kernel by hand");
        if (window.frame() == 3) device.give_up(7);
    };
    EXPECT_EXIT(show({"--frames", "9", "--out", video}, give_up), testing::ExitedWithCode(1),
                "did not finish its work within 7 s, perhaps because of a kernel by hand");
    EXPECT_EQ(pictures_in(video), 3);
}
TEST_F(Apps, SetParametersThatTheProgramMakes) {
    int late = 1, later = 1;
    const auto program = [&](Window& window) {
        Param<int> param{window, "param", 1};
        while (window.open()) window.gui().slider("steps", late, 0, 10);
        later = param;
    };
    EXPECT_EQ(run_app(app_, {"--set", "steps=7", "--set", "param=9"}, program), 0);
    EXPECT_EQ(late, 7);
    EXPECT_EQ(later, 9);
    EXPECT_EQ(run_app(app_, {"--set", "stepps=7"}, program), 2);
}
TEST_F(Apps, GiveTheirWindowWhatTheCommandLineSays) {
    WindowOptions options;
    EXPECT_EQ(show({"--scale", "2", "--fps-limit", "17", "--vsync=false", "--fullscreen", "--seed",
                    "5", "--light"},
                   [&](Window& window) { options = window.options(); }),
              0);
    EXPECT_EQ(options.scale, 2);
    EXPECT_EQ(options.max_rate, 17);
    EXPECT_FALSE(options.vsync);
    EXPECT_TRUE(options.fullscreen);
    EXPECT_TRUE(options.light);
    EXPECT_EQ(app_.seed(), 5u);
}
TEST_F(Apps, DrawAsManyPixelsAsTheScaleSays) {
    WindowSize size, pixels;
    EXPECT_EQ(show({"--size", "20x10", "--scale", "1.5", "--out", folder_ + "a.png"},
                   [&](Window& window) { size = window.size(), pixels = window.pixels(); }),
              0);
    EXPECT_EQ(size, (WindowSize{20, 10}));
    EXPECT_EQ(pixels, (WindowSize{30, 15}));
    EXPECT_EQ(read_picture(folder_ + "a.png").width, 30);
}
TEST_F(Apps, WriteTheNumbersThatAreShown) {
    EXPECT_EQ(show({"--out", folder_ + "a.npy"}), 0);
    const Tensor read = load_npy(folder_ + "a.npy");
    EXPECT_EQ(read.size(1).constant(), 3);
    EXPECT_EQ(read.to_vector<float>(), (std::vector<float>{-1, 0, 1, 2, 3, 4}));
    EXPECT_EQ(show({"--out", folder_ + "a.exr"}), 0);
    const FloatPicture picture = read_exr(folder_ + "a.exr");
    EXPECT_EQ(picture.width, 3);
    EXPECT_EQ(picture.values.at(15), 4.0f);
    EXPECT_EQ(picture.values.at(17), 4.0f);
    testing::internal::CaptureStderr();
    EXPECT_EQ(show({"--out", folder_ + "b.exr"}, [&](Window&) { app_.set_numbers(zeros({4})); }),
              2);
    EXPECT_NE(testing::internal::GetCapturedStderr().find("late: an .exr or .hdr holds [h, w]"),
              std::string::npos);
}
TEST_F(Apps, WriteTheNumbersThatTheProgramGives) {
    EXPECT_EQ(run_app(app_, {"--out", folder_ + "b_%d.npy"},
                      [&](Window& window) {
                          while (window.open()) {
                              window.show(zeros({2, 2}));
                              if (app_.writes_numbers())
                                  app_.set_numbers(full({4}, float(window.frame())));
                          }
                      }),
              0);
    EXPECT_EQ(load_npy(folder_ + "b_2.npy").to_vector<float>(), std::vector<float>(4, 1.0f));
}
TEST_F(Apps, WithoutAnythingShownThereAreNoNumbers) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(run_app(app_, {"--out", folder_ + "c.npy"},
                      [](Window& window) {
                          while (window.open()) {
                          }
                      }),
              2);
    EXPECT_NE(testing::internal::GetCapturedStderr().find("late: nothing was shown"),
              std::string::npos);
}
TEST_F(Apps, WritePresetsAndReadTheirOwnAlone) {
    const std::string path = folder_ + "p.json";
    Param<float> dt{app_, "dt", 0.25f};
    Param<Angle> turn{app_, "turn", 1.0f};
    float seen = 0;
    const auto look = [&](Window&) { seen = dt; };
    EXPECT_EQ(show({"--dt", "0.5", "--turn=90", "--save-preset", path}, look), 0);
    EXPECT_EQ(seen, 0.5f);
    dt = 0.0f;
    EXPECT_EQ(show({"--preset", path}, look), 0);
    EXPECT_EQ(seen, 0.5f);
    EXPECT_EQ(show({"--preset", path, "--set", "dt=2"}, look), 0);
    EXPECT_EQ(seen, 2.0f);
    App other{{.name = "other", .help = "A program."}};
    Param<float> same{other, "dt", 0.25f};
    testing::internal::CaptureStderr();
    EXPECT_EQ(run_app(other, {"--preset", path}, [](Window&) {}), 2);
    EXPECT_NE(testing::internal::GetCapturedStderr().find("is one of the program \"late\""),
              std::string::npos);
}
TEST_F(Apps, DumpTheirPrograms) {
    EXPECT_EQ(show({"--dump", folder_ + "dump"}), 0);
    EXPECT_FALSE(fs::is_empty(folder_ + "dump"));
}
TEST_F(Apps, RunInTheCurrentSessionWhereTheyAreAskedTo) {
    const auto run = [&] {  // in a thread, whose session has no device yet
        const Session mine = current_session();
        const auto next = compile([](Tensor x) { return x + 1.0f; }, {f32("n")});
        App& app = app_;
        app.use_current_session();
        const auto status_of = [&](std::vector<std::string> arguments) {
            return run_app(app, std::move(arguments), [&](Window&) {
                EXPECT_EQ(current_session().state(), mine.state());
                EXPECT_EQ(next(tensor({1.0f})).to_vector<float>(), std::vector<float>{2.0f});
            });
        };
        EXPECT_EQ(status_of({"--device", "0", "--validate"}), 0);
        EXPECT_NE(mine.profile().device_class, DeviceClass::Native);
        EXPECT_EQ(status_of({}), 0);
        testing::internal::CaptureStderr();
        EXPECT_EQ(status_of({"--device", "cpu"}), 2);
        const std::string said = testing::internal::GetCapturedStderr();
        EXPECT_NE(said.find("late: --device cpu comes too late: the program has computed on"),
                  std::string::npos)
            << said;
    };
    std::thread(run).join();
}
TEST_F(Apps, SayWhatTheProgramThrows) {
    const auto status_of = [&](auto thrown) {
        return run_app(app_, {}, [&](Window&) { throw thrown; });
    };
    testing::internal::CaptureStderr();
    EXPECT_EQ(status_of(UserError("one")), 2);
    EXPECT_EQ(status_of(std::runtime_error("two")), 1);
    EXPECT_EQ(status_of(3), 1);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(said,
              "late: one\nlate: two\n"
              "late: an exception that is not a std::exception ended the program\n");
}
TEST(AppsDeathTest, AnUncaughtExceptionIsAMessageAndAStatus) {
    const Callback<void()> fail = [] { throw UserError("mend it"); };
    const auto program = [&]() noexcept {
        App app({.name = "mine", .help = "A program."});
        fail();
    };
    EXPECT_EXIT(program(), testing::ExitedWithCode(2), "mine: mend it");
}

}  // namespace
}  // namespace firn
