// The demos as programs: exit statuses, messages, and the files that they write.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace firn {
namespace {

struct DemoRun {
    int status = -1;
    std::string text;
};
/// The wave demo with its messages; no display.
DemoRun wave(const std::string& arguments, const std::string& environment = "") {
    std::string command = "env -u DISPLAY -u WAYLAND_DISPLAY " + environment +
                          " " FIRN_BIN_DIR "/wave " + arguments + " 2>&1";
    std::FILE* pipe = popen(command.c_str(), "r");
    DemoRun run;
    std::array<char, 512> buffer;
    while (size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe))
        run.text.append(buffer.data(), count);
    int status = pclose(pipe);
    run.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return run;
}
bool has_driver() { return wave("--list-devices").text.starts_with("0  "); }
#define NEEDS_DRIVER() \
    if (!has_driver()) GTEST_SKIP() << "no Vulkan driver"

std::string picture_path(const std::string& name) {
    std::string path = testing::TempDir() + "/" + name;
    std::filesystem::remove(path);
    return path;
}

TEST(Wave, HelpNeedsNoDriver) {
    DemoRun run = wave("--help", "VK_DRIVER_FILES=/dev/null VK_ICD_FILENAMES=/dev/null");
    EXPECT_EQ(run.status, 0);
    EXPECT_NE(run.text.find("a number in [0, 0.5]"), std::string::npos) << run.text;
}
/// Returns the --help of a demo.
std::string help_of(const std::string& demo) {
    std::FILE* pipe = popen((FIRN_BIN_DIR "/" + demo + " --help 2>&1").c_str(), "r");
    std::string text;
    std::array<char, 512> buffer;
    while (size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe))
        text.append(buffer.data(), count);
    EXPECT_EQ(pclose(pipe), 0);
    return text;
}
TEST(Help, ListsTheBodies) { EXPECT_NE(help_of("n_body").find("\n  bodies "), std::string::npos); }
TEST(Help, NamesTheKeysOfTheDemo) {
    EXPECT_NE(help_of("path_tracer").find("arrows: move"), std::string::npos);
}
TEST(Wave, WithoutADriverItSaysSo) {
    DemoRun run = wave("--headless", "VK_DRIVER_FILES=/dev/null VK_ICD_FILENAMES=/dev/null");
    EXPECT_EQ(run.status, 1);
    EXPECT_NE(run.text.find("driver"), std::string::npos) << run.text;
}
TEST(Wave, WithoutADisplayItSaysSo) {
    NEEDS_DRIVER();
    DemoRun run = wave("--frames 1");
    EXPECT_EQ(run.status, 2);
    EXPECT_NE(run.text.find("there is no display"), std::string::npos) << run.text;
}
TEST(Wave, AnUnknownDeviceListsThoseThereAre) {
    NEEDS_DRIVER();
    DemoRun run = wave("--headless --device nonesuch");
    EXPECT_EQ(run.status, 2);
    EXPECT_NE(run.text.find("nonesuch"), std::string::npos) << run.text;
}
TEST(Wave, AValueOutsideItsRangeWritesNothing) {
    std::string path = picture_path("wave_refused.png");
    DemoRun run = wave("--headless --set dt=9 --out " + path);
    EXPECT_EQ(run.status, 2);
    EXPECT_NE(run.text.find("which is above the maximum"), std::string::npos) << run.text;
    EXPECT_FALSE(std::filesystem::exists(path));
}
TEST(Wave, HeadlessRunsWriteIdenticalPicturesWithoutValidationMessages) {
    NEEDS_DRIVER();
    std::string first = picture_path("wave_1.png"), second = picture_path("wave_2.png");
    for (const std::string& path : {first, second}) {
        DemoRun run = wave("--headless --validate --frames 20 --size 97x61 --out " + path);
        EXPECT_EQ(run.status, 0) << run.text;
    }
    EXPECT_EQ(std::system(("cmp " + first + " " + second).c_str()), 0);
}
TEST(Wave, APresetChangesThePicture) {
    NEEDS_DRIVER();
    std::string plain = picture_path("wave_plain.png"), preset = picture_path("wave_preset.png");
    std::string json = picture_path("wave.json");
    std::ofstream(json) << R"({"dt": 0.05})";
    EXPECT_EQ(wave("--headless --frames 50 --size 64x64 --out " + plain).status, 0);
    EXPECT_EQ(
        wave("--headless --frames 50 --size 64x64 --preset " + json + " --out " + preset).status,
        0);
    EXPECT_NE(std::system(("cmp -s " + plain + " " + preset).c_str()), 0);
}
TEST(Wave, AnUnknownParameterWritesNothing) {
    NEEDS_DRIVER();
    std::string path = picture_path("wave_unknown.png");
    DemoRun run = wave("--headless --frames 2 --size 32x32 --set tempo=1 --out " + path);
    EXPECT_EQ(run.status, 2);
    EXPECT_NE(run.text.find("parameter tempo: there is no such parameter"), std::string::npos)
        << run.text;
    EXPECT_FALSE(std::filesystem::exists(path));
}
TEST(Wave, QuietlyItPrintsNothing) {
    NEEDS_DRIVER();
    const std::string path = picture_path("wave_quiet.png");
    DemoRun run = wave("--headless --frames 2 --size 32x32 --quiet --out " + path);
    EXPECT_EQ(run.status, 0);
    EXPECT_EQ(run.text, "");
    EXPECT_TRUE(std::filesystem::exists(path));
}
TEST(Wave, AFilmIsWrittenWhereThereIsFfmpeg) {
    NEEDS_DRIVER();
    if (std::system("command -v ffmpeg > /dev/null") != 0) GTEST_SKIP() << "needs ffmpeg";
    std::string path = picture_path("wave.mp4");
    DemoRun run = wave("--headless --frames 5 --size 65x33 --out " + path);
    EXPECT_EQ(run.status, 0) << run.text;
    std::ifstream film(path, std::ios::binary);
    std::string head(12, ' ');
    film.read(head.data(), 12);
    EXPECT_EQ(head.substr(4, 4), "ftyp");
    EXPECT_FALSE(std::filesystem::exists(path + ".part.mp4"));
}
TEST(Wave, WithoutFfmpegAFilmBecomesPicturesAndSaysSo) {
    NEEDS_DRIVER();
    std::string path = picture_path("wave_film.mp4"), last = picture_path("wave_film-00002.png");
    DemoRun run = wave("--headless --frames 2 --size 32x32 --out " + path, "PATH=/nonexistent");
    EXPECT_EQ(run.status, 0) << run.text;
    EXPECT_NE(run.text.find("ffmpeg is not installed"), std::string::npos) << run.text;
    EXPECT_NE(run.text.find("apt-get install ffmpeg"), std::string::npos) << run.text;
    EXPECT_TRUE(std::filesystem::exists(last));
    EXPECT_FALSE(std::filesystem::exists(path));
}
TEST(Wave, AProfileHasNamedTracks) {
    NEEDS_DRIVER();
    std::string path = picture_path("wave_trace.json");
    EXPECT_EQ(wave("--headless --frames 3 --size 64x64 --profile " + path).status, 0);
    std::ifstream file(path);
    const auto events = nlohmann::json::parse(file).at("traceEvents");
    std::map<int, std::string> tracks;
    std::map<std::string, int> rows;
    for (const auto& event : events) {
        const int track = event.at("tid");
        if (event.at("name") == "thread_name") tracks[track] = event.at("args").at("name");
        if (event.at("ph") == "X") ++rows[tracks.at(track)];
    }
    EXPECT_EQ(rows["frames"], 3);
    EXPECT_GE(rows["device"], 3);
    EXPECT_GE(rows["compile"], 2);
    EXPECT_GE(rows["host"], 6);
}

}  // namespace
}  // namespace firn
