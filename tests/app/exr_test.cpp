// OpenEXR files as other programs write them: layers, tiles, orders of lines, types, compressions.
#include "engine/app/exr.h"

#include <ImfChannelList.h>
#include <ImfFrameBuffer.h>
#include <ImfHeader.h>
#include <ImfMultiPartOutputFile.h>
#include <ImfOutputFile.h>
#include <ImfOutputPart.h>
#include <ImfPartType.h>
#include <ImfRgbaFile.h>
#include <ImfStringAttribute.h>
#include <ImfTiledOutputFile.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "compiler/base/error.h"

namespace firn {
namespace {

namespace exr = OPENEXR_IMF_NAMESPACE;
using Channels = std::vector<std::string>;

constexpr int kWide = 37, kHigh = 29;

std::string path(const std::string& name) { return testing::TempDir() + "/exr_test_" + name; }

/// The number that the channel `c` of the file has at a place.
float value(size_t c, int x, int y) { return static_cast<float>(100 * (c + 1) + y) + 0.25f * x; }

/// All channels of a picture.
struct Pixels {
    explicit Pixels(const Channels& names, exr::PixelType type = exr::FLOAT) {
        values.resize(names.size());
        for (size_t c = 0; c < names.size(); ++c) {
            for (int k = 0; k < kWide * kHigh; ++k) {
                const float number = value(c, k % kWide, k / kWide);
                const auto whole = static_cast<uint32_t>(number);
                uint32_t bits = 0;
                std::memcpy(&bits, &number, sizeof bits);
                values[c].push_back(type == exr::UINT ? whole : bits);
            }
            frame.insert(names[c],
                         exr::Slice(type, reinterpret_cast<char*>(values[c].data()), 4, 4 * kWide));
        }
    }
    std::vector<std::vector<uint32_t>> values;
    exr::FrameBuffer frame;
};

exr::Header header_with(const Channels& names, exr::PixelType type = exr::FLOAT) {
    exr::Header header(kWide, kHigh);
    for (const std::string& name : names) header.channels().insert(name, exr::Channel(type));
    return header;
}

std::string written(const std::string& name, const exr::Header& header, const Channels& names,
                    exr::PixelType type = exr::FLOAT) {
    const Pixels pixels(names, type);
    exr::OutputFile file(path(name).c_str(), header);
    file.setFrameBuffer(pixels.frame);
    // Lines are written in the order of the file.
    file.writePixels(kHigh);
    return path(name);
}

/// The picture has these channels of the file.
void expect_channels(const FloatPicture& picture, const std::vector<size_t>& channels,
                     float error = 0) {
    ASSERT_EQ(picture.width, kWide);
    ASSERT_EQ(picture.height, kHigh);
    size_t wrong = 0;
    for (int k = 0; k < kWide * kHigh; ++k)
        for (size_t c = 0; c < 3; ++c) {
            const float right = value(channels[c], k % kWide, k / kWide);
            wrong +=
                std::abs(picture.values[3 * static_cast<size_t>(k) + c] - right) > error * right;
        }
    EXPECT_EQ(wrong, 0u);
}

std::string message(const std::string& file, const std::string& layer = "") {
    try {
        read_exr(file, layer);
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

TEST(ExrFiles, LinesMayStandInAnyOrder) {
    const Channels names{"R", "G", "B"};
    for (const exr::LineOrder order : {exr::INCREASING_Y, exr::DECREASING_Y}) {
        exr::Header header = header_with(names);
        header.lineOrder() = order;
        expect_channels(read_exr(written("lines.exr", header, names)), {0, 1, 2});
    }
}

TEST(ExrFiles, TilesMayStandInAnyOrder) {
    const Channels names{"R", "G", "B"};
    exr::Header header = header_with(names);
    header.setTileDescription(exr::TileDescription(16, 8));
    header.lineOrder() = exr::RANDOM_Y;
    const Pixels pixels(names);
    {
        exr::TiledOutputFile file(path("tiles.exr").c_str(), header);
        file.setFrameBuffer(pixels.frame);
        for (int y = file.numYTiles(); y-- > 0;)
            for (int x = 0; x < file.numXTiles(); ++x)
                file.writeTile((x + 1) % file.numXTiles(), y);
    }
    expect_channels(read_exr(path("tiles.exr")), {0, 1, 2});
}

TEST(ExrFiles, EveryCompressionIsRead) {
    const Channels names{"R", "G", "B"};
    for (int c = 0; c < exr::NUM_COMPRESSION_METHODS; ++c) {
        exr::Header header = header_with(names);
        header.compression() = static_cast<exr::Compression>(c);
        const bool exact = c != exr::PXR24_COMPRESSION && c < exr::B44_COMPRESSION;
        expect_channels(read_exr(written("packed.exr", header, names)), {0, 1, 2},
                        exact ? 0 : 0.02f);
    }
}

TEST(ExrFiles, IntegersAreTheirValues) {
    const Channels names{"R", "G", "B"};
    const FloatPicture picture =
        read_exr(written("whole.exr", header_with(names, exr::UINT), names, exr::UINT));
    EXPECT_EQ(picture.values[3 * kWide + 3], std::floor(value(0, 1, 1)));
    EXPECT_EQ(picture.values[2], std::floor(value(2, 0, 0)));
}

TEST(ExrFiles, TheWindowMayBeginAnywhere) {
    const Channels names{"R", "G", "B"};
    exr::Header header = header_with(names);
    const Pixels pixels(names);
    header.dataWindow().min += {-5, 11};
    header.dataWindow().max += {-5, 11};
    {
        exr::OutputFile file(path("window.exr").c_str(), header);
        exr::FrameBuffer frame;
        for (auto s = pixels.frame.begin(); s != pixels.frame.end(); ++s) {
            exr::Slice slice = s.slice();
            slice.base -= 4 * (-5) + 4 * kWide * 11;
            frame.insert(s.name(), slice);
        }
        file.setFrameBuffer(frame);
        file.writePixels(kHigh);
    }
    expect_channels(read_exr(path("window.exr")), {0, 1, 2});
}

TEST(ExrFiles, APictureIsTheChannelsWithoutALayer) {
    const Channels names{"B",        "G",        "R",        "A",        "albedo.B", "albedo.G",
                         "albedo.R", "normal.X", "normal.Y", "normal.Z", "depth.Z"};
    const std::string file = written("layers.exr", header_with(names), names);
    expect_channels(read_exr(file), {2, 1, 0});
    expect_channels(read_exr(file, "albedo"), {6, 5, 4});
    expect_channels(read_exr(file, "normal"), {7, 8, 9});
    expect_channels(read_exr(file, "depth"), {10, 10, 10});
    EXPECT_NE(
        message(file, "light")
            .find("has no layer 'light'; it has channels A B G R, 'albedo', 'depth', 'normal'"),
        std::string::npos)
        << message(file, "light");
}

TEST(ExrFiles, WithoutAPictureItIsTheOnlyLayerOrTheCombinedOne) {
    const Channels blender{"View.AO.R",       "View.AO.G",       "View.AO.B",
                           "View.Combined.R", "View.Combined.G", "View.Combined.B"};
    const std::string file = written("blender.exr", header_with(blender), blender);
    expect_channels(read_exr(file), {3, 4, 5});
    expect_channels(read_exr(file, "View.AO"), {0, 1, 2});
    const Channels one{"light.R", "light.G", "light.B", "depth.Z"};
    expect_channels(read_exr(written("one.exr", header_with(one), one)), {0, 1, 2});
    const Channels two{"key.R", "key.G", "key.B", "rim.R", "rim.G", "rim.B"};
    const std::string why = message(written("two.exr", header_with(two), two));
    EXPECT_NE(why.find("name one of 'key', 'rim'"), std::string::npos) << why;
}

TEST(ExrFiles, OneChannelIsGrey) {
    for (const char* name : {"Y", "Z"})
        expect_channels(read_exr(written("grey.exr", header_with({name}), {name})), {0, 0, 0});
    const std::string why = message(written("flow.exr", header_with({"u", "v"}), {"u", "v"}));
    EXPECT_NE(why.find("the channels u v, which are no picture"), std::string::npos) << why;
}

TEST(ExrFiles, LuminanceWithColoursOfHalfTheSizeIsReadAsColours) {
    {
        exr::RgbaOutputFile file(path("chroma.exr").c_str(), 32, 16, exr::WRITE_YC);
        const std::vector<exr::Rgba> pixels(32 * 16, exr::Rgba(0.5f, 0.25f, 0.125f));
        file.setFrameBuffer(pixels.data(), 1, 32);
        file.writePixels(16);
    }
    const FloatPicture picture = read_exr(path("chroma.exr"));
    ASSERT_EQ(picture.values.size(), 3u * 32 * 16);
    for (size_t k = 0; k < 3; ++k)
        EXPECT_NEAR(picture.values[3 * 100 + k], 0.5f / static_cast<float>(1 << k), 3e-3f);
}

TEST(ExrFiles, PartsAreLayers) {
    std::vector<exr::Header> headers{header_with({"R", "G", "B"}), header_with({"X", "Y", "Z"})};
    const char* parts[] = {"beauty", "normal"};
    for (size_t k = 0; k < 2; ++k)
        headers[k].setName(parts[k]), headers[k].setType(exr::SCANLINEIMAGE);
    {
        exr::MultiPartOutputFile file(path("parts.exr").c_str(), headers.data(), 2);
        const Pixels first({"R", "G", "B"}), second({"pad", "X", "Y", "Z"});
        for (int k = 0; k < 2; ++k) {
            exr::OutputPart part(file, k);
            part.setFrameBuffer(k == 0 ? first.frame : second.frame);
            part.writePixels(kHigh);
        }
    }
    expect_channels(read_exr(path("parts.exr")), {0, 1, 2});
    expect_channels(read_exr(path("parts.exr"), "normal"), {1, 2, 3});
}

TEST(ExrFiles, AnAttributeThatGoesOnBehindTheFileIsRefused) {
    exr::Header header = header_with({"R", "G", "B"});
    header.insert("note", exr::StringAttribute("snow"));
    const std::string file = written("attribute.exr", header, {"R", "G", "B"});
    std::ifstream in(file, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(in), {}};
    // The library does not know the attribute's type, and would allocate 1.9 GB for it.
    const std::string note("note\0string\0\4\0\0\0", 16);
    ASSERT_NE(bytes.find(note), bytes.npos);
    bytes.replace(bytes.find(note), note.size(), std::string("note\0strinG\0\0\0\0\x70", 16));
    std::ofstream(file, std::ios::binary) << bytes;
    EXPECT_NE(message(file).find("its attribute 'note' goes on behind the end of the file"),
              std::string::npos)
        << message(file);
}

TEST(ExrFiles, WhatIsCutShortIsRefused) {
    const std::string file =
        written("whole_file.exr", header_with({"R", "G", "B"}), {"R", "G", "B"});
    const auto size = std::filesystem::file_size(file);
    for (const uintmax_t kept : {size - 100, size / 2, uintmax_t{60}}) {
        std::filesystem::resize_file(file, kept);
        EXPECT_NE(message(file).find("cannot be read ("), std::string::npos) << kept;
    }
}

}  // namespace
}  // namespace firn
