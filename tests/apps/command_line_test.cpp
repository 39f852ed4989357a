// The command line of the demos: values, messages, and the exit statuses of a real demo.
#include "apps/common/command_line.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

namespace firn {
namespace {

CommandLine parse(std::vector<std::string> arguments) {
    static const Parameters none;
    arguments.insert(arguments.begin(), "demo");
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    CommandLineSpec spec{"demo", "A demo.", {320, 200}, 7, &none, {}};
    return parse_command_line(static_cast<int>(argv.size()), argv.data(), spec);
}
CommandLineEnd end_of(std::vector<std::string> arguments) {
    try {
        parse(std::move(arguments));
    } catch (const CommandLineEnd& end) {
        return end;
    }
    return {-1, "went on"};
}

TEST(CommandLineOf, NothingIsTheDemosOwnSize) { EXPECT_EQ(parse({}).size.width, 320); }
TEST(CommandLineOf, SizeIsWidthByHeight) {
    CommandLine line = parse({"--size", "640x360"});
    EXPECT_EQ(line.size.width, 640);
    EXPECT_EQ(line.size.height, 360);
}
TEST(CommandLineOf, AHeadlessRunEndsByItself) { EXPECT_EQ(parse({"--headless"}).frames, 7); }
TEST(CommandLineOf, FramesAreKeptWhenHeadless) {
    EXPECT_EQ(parse({"--headless", "--frames", "3"}).frames, 3);
}
TEST(CommandLineOf, SetMayBeGivenSeveralTimes) {
    CommandLine line = parse({"--set", "a=1", "--set", "b=x=y"});
    ASSERT_EQ(line.sets.size(), 2u);
    EXPECT_EQ(line.sets[1].first, "b");
    EXPECT_EQ(line.sets[1].second, "x=y");
}
TEST(CommandLineOf, HelpEndsWell) {
    CommandLineEnd end = end_of({"--help"});
    EXPECT_EQ(end.status, 0);
    EXPECT_NE(end.text.find("--headless"), std::string::npos);
}
TEST(CommandLineOf, AnUnknownFlagIsNamed) {
    CommandLineEnd end = end_of({"--spede", "3"});
    EXPECT_EQ(end.status, 2);
    EXPECT_NE(end.text.find("--spede"), std::string::npos);
}
TEST(CommandLineOf, ASizeOfZeroIsRefused) { EXPECT_EQ(end_of({"--size", "0x20"}).status, 2); }
TEST(CommandLineOf, ASizeWithTextBehindItIsRefused) {
    EXPECT_NE(end_of({"--size", "20x20y"}).text.find("such as 1280x720"), std::string::npos);
}
TEST(CommandLineOf, NegativeFramesAreRefused) { EXPECT_EQ(end_of({"--frames", "-1"}).status, 2); }
TEST(CommandLineOf, AnOutputOfUnknownKindIsRefused) {
    EXPECT_NE(end_of({"--out", "f.gif"}).text.find(".png or .mp4"), std::string::npos);
}
TEST(CommandLineOf, AnOutputInNoFolderIsRefused) {
    EXPECT_NE(end_of({"--out", "no/such/f.png"}).text.find("there is no folder no/such"),
              std::string::npos);
}
TEST(CommandLineOf, AnOutputWhereNothingCanBeWrittenIsRefused) {
    EXPECT_NE(end_of({"--out", "/proc/f.png"}).text.find("no file can be written in /proc"),
              std::string::npos);
    EXPECT_NE(end_of({"--profile", "/proc/f.json"}).text.find("no file can be written in /proc"),
              std::string::npos);
}
TEST(CommandLineOf, AnOutputThatIsAFolderIsRefused) {
    const std::string folder = testing::TempDir() + "/folder.png";
    std::filesystem::create_directory(folder);
    EXPECT_NE(end_of({"--out", folder}).text.find("this is a folder"), std::string::npos);
    std::filesystem::remove(folder);
}
TEST(CommandLineOf, TryingToWriteLeavesNothing) {
    const std::string folder = testing::TempDir() + "/tried";
    std::filesystem::create_directory(folder);
    parse({"--out", folder + "/f.png"});
    EXPECT_TRUE(std::filesystem::is_empty(folder));
    std::filesystem::remove(folder);
}
TEST(CommandLineOf, AFileThatTheProgramWritesIsTriedToo) {
    static const Parameters none;
    std::string hdr;
    std::vector<std::string> words{"demo", "--hdr", "/proc/f.hdr"};
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    CommandLineSpec spec{"demo", "A demo.", {320, 200}, 7, &none, {{"hdr", "a file", &hdr, true}}};
    EXPECT_THROW(parse_command_line(3, argv.data(), spec), CommandLineEnd);
}
TEST(CommandLineOf, ASetWithoutAValueIsRefused) { EXPECT_EQ(end_of({"--set", "dt"}).status, 2); }
TEST(CommandLineOf, AMissingPresetIsRefused) {
    EXPECT_EQ(end_of({"--preset", "none.json"}).status, 2);
}

/// The settings that a demo with a checkbox and two sliders is asked for.
std::vector<std::pair<std::string, std::string>> sets_of(std::vector<std::string> arguments) {
    bool stats = false, gui = false;
    float dt = 0;
    Parameters parameters;
    parameters.add({.name = "stats", .help = "", .variable = &stats});
    parameters.add({.name = "gui", .help = "", .variable = &gui});
    parameters.add({.name = "time step", .help = "", .variable = &stats});
    parameters.add({.name = "dt", .help = "", .variable = &dt});
    arguments.insert(arguments.begin(), "demo");
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    CommandLineSpec spec{"demo", "A demo.", {320, 200}, 7, &parameters, {}};
    return parse_command_line(static_cast<int>(argv.size()), argv.data(), spec).sets;
}
using Sets = std::vector<std::pair<std::string, std::string>>;

TEST(ParameterFlags, ACheckboxIsAFlag) {
    EXPECT_EQ(sets_of({"--stats"}), (Sets{{"stats", "true"}}));
}
TEST(ParameterFlags, AFlagMayBeSwitchedOff) {
    EXPECT_EQ(sets_of({"--stats=false"}), (Sets{{"stats", "false"}}));
}
TEST(ParameterFlags, SetComesAfterFlags) {
    EXPECT_EQ(sets_of({"--set", "stats=false", "--stats"}),
              (Sets{{"stats", "true"}, {"stats", "false"}}));
}
TEST(ParameterFlags, AreNotSetByOthers) { EXPECT_TRUE(sets_of({"--gui"}).empty()); }
TEST(ParameterFlags, ANumberIsNone) {
    EXPECT_THROW(sets_of({"--dt"}), CommandLineEnd);
    EXPECT_THROW(sets_of({"--stat"}), CommandLineEnd);
}
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
bool has_driver() { return wave("--list-devices").status == 0; }
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
/// What a demo's --help says.
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
    EXPECT_NE(help_of("path_tracer").find("arrows move along the ground, E and Q"),
              std::string::npos);
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
    EXPECT_NE(run.text.find("outside its range"), std::string::npos) << run.text;
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
    EXPECT_NE(run.text.find("parameter tempo: there is none of this name"), std::string::npos)
        << run.text;
    EXPECT_FALSE(std::filesystem::exists(path));
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
    EXPECT_NE(run.text.find("there is no ffmpeg"), std::string::npos) << run.text;
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
