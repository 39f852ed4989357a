// Pictures as files: read, refused, written whole or not at all.
#include "engine/window/picture.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "compiler/base/error.h"
#include "compiler/files/inflate.h"
#include "engine/app/exr.h"

namespace firn {
namespace {

std::string path_of(const std::string& name) { return testing::TempDir() + "/" + name; }

std::string read_error(const std::string& path) {
    try {
        read_picture(path);
    } catch (const UserError& error) {
        return error.what();
    }
    return "read";
}

TEST(Picture, IsReadBackAsWritten) {
    Picture picture{2, 1, {1, 2, 3, 255, 4, 5, 6, 128}};
    write_png(path_of("round_trip.png"), picture);
    EXPECT_EQ(read_picture(path_of("round_trip.png")).rgba, picture.rgba);
}
TEST(Picture, IsAJpegWhereItIsNamedSo) {
    Picture grey{16, 16, std::vector<uint8_t>(4 * 16 * 16, 128)};
    for (const std::string name : {"a.jpg", "b.JPEG"}) {
        write_picture(path_of(name), grey);
        std::ifstream file(path_of(name), std::ios::binary);
        EXPECT_EQ(file.get(), 0xff);
        EXPECT_EQ(file.get(), 0xd8);
        EXPECT_NEAR(read_picture(path_of(name)).rgba[400], 128, 2);
    }
}
TEST(Picture, AFormatThatIsNotWrittenIsRefused) {
    for (const std::string name : {"a.bmp", "a", "a.jpg.exe"}) {
        std::filesystem::remove(path_of(name));
        try {
            write_picture(path_of(name), {1, 1, {0, 0, 0, 0}});
            FAIL() << name;
        } catch (const UserError& error) {
            EXPECT_NE(std::string(error.what()).find("written as .png and .jpg"),
                      std::string::npos);
        }
        EXPECT_FALSE(std::filesystem::exists(path_of(name)));
    }
}
TEST(Picture, OfAFullDiskIsSaidAndNothingStays) {
    // Files may have no more than 1000 bytes, as on a disk that is full.
    const rlimit before = [] {
        rlimit limit{};
        getrlimit(RLIMIT_FSIZE, &limit);
        return limit;
    }();
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{1000, before.rlim_max};
    Picture grey{300, 300, std::vector<uint8_t>(4 * 300 * 300)};
    for (size_t k = 0; k < grey.rgba.size(); ++k) grey.rgba[k] = uint8_t(k * k >> 4);
    FloatPicture light{300, 300, std::vector<float>(3 * 300 * 300, 0.5f)};
    for (size_t k = 0; k < light.values.size(); ++k) light.values[k] = float(k * k % 977);
    Samples wide{300, 300, 4, {}, std::vector<uint16_t>(4 * 300 * 300, 7), {}};
    for (size_t k = 0; k < wide.wide.size(); ++k) wide.wide[k] = uint16_t(k * k);
    for (const std::string name : {"full.png", "full.jpg", "full.hdr", "wide.png", "full.exr"}) {
        std::filesystem::remove(path_of(name));
        std::string said = "written";
        setrlimit(RLIMIT_FSIZE, &small);
        try {
            if (name == "full.hdr")
                write_hdr(path_of(name), light);
            else if (name == "full.exr")
                write_exr(path_of(name), light);
            else if (name == "wide.png")
                write_samples(path_of(name), wide);
            else
                write_picture(path_of(name), grey);
        } catch (const UserError& error) {
            said = error.what();
        }
        setrlimit(RLIMIT_FSIZE, &before);
        EXPECT_NE(said.find(name + ": cannot be written (File too large)"), std::string::npos)
            << said;
        EXPECT_FALSE(std::filesystem::exists(path_of(name)));
    }
    std::signal(SIGXFSZ, handler);
}
TEST(Picture, WhatIsNoPictureIsNamed) {
    std::ofstream(path_of("text.png")) << "not a picture";
    EXPECT_NE(read_error(path_of("text.png")).find("text.png: this is no picture"),
              std::string::npos);
}
/// A grey PNG that says how large it is, without pixels.
std::string png_header(uint32_t width, uint32_t height) {
    auto number = [](uint32_t n) {
        return std::string{char(n >> 24), char(n >> 16), char(n >> 8), char(n)};
    };
    const std::string header =
        "IHDR" + number(width) + number(height) + std::string("\x08\0\0\0\0", 5);
    return std::string("\x89PNG\r\n\x1a\n", 8) + number(13) + header + number(crc32_of(header)) +
           number(0) + "IDAT" + number(crc32_of("IDAT"));
}
TEST(Picture, AHeaderThatClaimsTooManyPixelsIsRefused) {
    std::ofstream(path_of("large.png"), std::ios::binary) << png_header(20'000, 20'000);
    EXPECT_NE(
        read_error(path_of("large.png")).find("large.png: its header says 20000 x 20000 pixels"),
        std::string::npos);
    std::ofstream(path_of("huge.png"), std::ios::binary)
        << png_header(1'000'000'000, 1'000'000'000);
    EXPECT_NE(read_error(path_of("huge.png"))
                  .find("huge.png: its header says 1000000000 x 1000000000 pixels"),
              std::string::npos)
        << read_error(path_of("huge.png"));
}
TEST(Picture, AFileThatCannotHoldItsPixelsIsCutShort) {
    // Deflate makes no more than a thousand bytes of one: nothing is allocated for the claim.
    std::ofstream(path_of("claims.png"), std::ios::binary) << png_header(16'000, 16'000);
    EXPECT_NE(
        read_error(path_of("claims.png")).find("claims.png: cannot be read (it is cut short)"),
        std::string::npos)
        << read_error(path_of("claims.png"));
}
TEST(Picture, AMissingFileIsNamed) {
    EXPECT_NE(read_error(path_of("missing.png")).find("No such file"), std::string::npos);
}
TEST(Picture, AFolderIsRefused) {
    EXPECT_NE(read_error(testing::TempDir()).find("this is a folder"), std::string::npos);
}
TEST(Picture, AFailedWriteLeavesNothing) {
    std::string folder = path_of("no_such_folder");
    EXPECT_THROW(write_png(folder + "/a.png", {1, 1, {0, 0, 0, 0}}), UserError);
    EXPECT_FALSE(std::filesystem::exists(folder));
}
TEST(Picture, AWriteLeavesNoPartBehind) {
    std::filesystem::path folder = path_of("picture_parts");
    std::filesystem::create_directories(folder);
    write_png(folder / "a.png", {1, 1, {0, 0, 0, 0}});
    auto files = std::filesystem::directory_iterator(folder);
    EXPECT_EQ(std::distance(begin(files), end(files)), 1);
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace firn
