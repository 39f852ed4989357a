// Tensors as picture files and back: bits, light, and what is refused.
#include "engine/firn/image_files.h"

#include <ImfChannelList.h>
#include <ImfHeader.h>
#include <ImfInputFile.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

#include "engine/window/picture.h"
#include "tests/frontend/oracle_session.h"

namespace firn {
namespace {

class ImageFiles : public OracleTest {
  protected:
    std::string path(const std::string& name) {
        const std::string out = testing::TempDir() + "/image_files_" + name;
        std::filesystem::remove(out);
        return out;
    }
    static std::string bytes_of(const std::string& path) {
        std::ifstream file(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
};

TEST_F(ImageFiles, ShortsComeBackFromPngsOf16Bits) {
    const std::string file = path("wide.png");
    const Tensor x = (arange(300 * 7 * 3) * 31).as(u16);
    save_image(file, reshape(x, {300, 7, 3}));
    EXPECT_EQ(bytes_of(file)[24], 16);  // bits of a channel
    const Tensor back = load_image(file);
    EXPECT_EQ(back.shape(), (Shape{300, 7, 3}));
    EXPECT_EQ(round(back * 65535.0f).as(u16).to_vector<uint16_t>(), x.to_vector<uint16_t>());
}

TEST_F(ImageFiles, FloatsAreWrittenWithAsManyBitsAsAreAskedFor) {
    const Tensor x = tensor({0.0f, 0.25f, 1.5f, std::nanf(""), -1.0f, 0.300001f}, {1, 2, 3});
    const auto bits_of = [&](const SaveImageOptions& options) {
        const std::string file = path("bits.png");
        save_image(file, x, options);
        return std::pair{int(bytes_of(file)[24]), load_image(file).to_vector<float>()};
    };
    const auto [narrow, rough] = bits_of({});
    const auto [wide, fine] = bits_of({.bits = 16});
    EXPECT_EQ(narrow, 8);
    EXPECT_EQ(wide, 16);
    const float exact[] = {0, 0.25f, 1, 0, 0, 0.300001f};
    for (size_t k = 0; k < 6; ++k) {
        EXPECT_NEAR(rough[k], exact[k], 0.5f / 255);
        EXPECT_NEAR(fine[k], exact[k], 0.5f / 65535 + 1e-7f);
    }
    EXPECT_GT(std::abs(rough[5] - exact[5]), 1e-4f);
}

TEST_F(ImageFiles, LightKeepsItsRange) {
    const Tensor x = tensor({1e-3f, 0.5f, 7e4f, 3.0f, -2.0f, 0.0f}, {2, 1, 3});
    save_image(path("light.exr"), x);
    EXPECT_EQ(load_image(testing::TempDir() + "/image_files_light.exr").to_vector<float>(),
              x.to_vector<float>());
    const std::string hdr = path("light.hdr");
    save_image(hdr, x);
    const Floats back = load_image(hdr).to_vector<float>(), exact = x.to_vector<float>();
    for (size_t k = 0; k < 6; ++k)  // the exponent is that of the largest of the three
        EXPECT_NEAR(back[k], std::max(exact[k], 0.0f), k < 3 ? 7e4f / 128 : 3.0f / 128);
}

TEST_F(ImageFiles, ElementsOfIntegersCountAsTheyAreShown) {
    for (DType type : {u8, u16, boolean, i32}) {
        const std::string file = path(std::string(type.name()) + ".exr");
        const Tensor x = tensor({0, 1, 51}, {1, 3}).as(type);
        save_image(file, x);
        const float unit = type == u8 ? 1.0f / 255 : type == u16 ? 1.0f / 65535 : 1.0f;
        const Floats back = load_image(file).to_vector<float>();
        ASSERT_EQ(back.size(), 9u);  // grey is three equal channels
        for (size_t k = 0; k < 9; ++k)
            EXPECT_EQ(back[k], x.to_vector<float>()[k / 3] * unit) << type.name();
    }
}

TEST_F(ImageFiles, LinearIsTheLightOfBothKinds) {
    const std::string png = path("half.png"), hdr = path("half.hdr");
    const Tensor x = full({1, 1, 3}, 0.5f);
    save_image(png, x, {.bits = 16}), save_image(hdr, x);
    EXPECT_NEAR(load_image(png, {.linear = true}).to_vector<float>()[0], 0.2140f, 1e-4f);
    EXPECT_NEAR(load_image(png).to_vector<float>()[0], 0.5f, 1e-5f);
    EXPECT_EQ(load_image(hdr, {.linear = true}).to_vector<float>()[0], 0.5f);
}

TEST_F(ImageFiles, AFileIsWhatItHoldsWhateverItsName) {
    const std::string exr = path("a.exr"), png = path("b.png");
    save_image(exr, full({2, 2}, 1.5f));
    std::filesystem::rename(exr, png);
    EXPECT_EQ(load_image(png).to_vector<float>()[0], 1.5f);
}

TEST_F(ImageFiles, AlphaIsKeptWhereItIsAskedFor) {
    const Tensor x = tensor({0.0f, 0.2f, 0.4f, 0.6f, 0.8f, 1.0f, 0.2f, 0.0f}, {1, 2, 4});
    for (const char* name : {"alpha.png", "alpha.exr"}) {
        const std::string file = path(name);
        save_image(file, x);
        const Floats back = load_image(file, {.alpha = true}).to_vector<float>();
        ASSERT_EQ(back.size(), 8u) << name;
        for (size_t k = 0; k < 8; ++k) EXPECT_NEAR(back[k], x.to_vector<float>()[k], 1e-6f) << name;
        EXPECT_EQ(load_image(file).shape(), (Shape{1, 2, 3})) << name;
    }
    for (const char* name : {"opaque.png", "opaque.exr", "opaque.hdr", "opaque.jpg"})
        for (const Tensor& opaque : {full({1, 2}, 0.5f), full({1, 2, 3}, 0.5f)}) {
            const std::string file = path(name);
            save_image(file, opaque);
            const Floats back = load_image(file, {.alpha = true}).to_vector<float>();
            ASSERT_EQ(back.size(), 8u) << name;
            for (size_t k = 0; k < 8; ++k)
                EXPECT_NEAR(back[k], k % 4 == 3 ? 1 : 0.5f, 0.003f) << name << k;
        }
}

TEST_F(ImageFiles, GreyWithAlphaIsReadWithBoth) {
    const std::string file = path("grey_alpha.png");
    write_samples(file, {2, 1, 2, {51, 255, 102, 0}, {}, {}});
    EXPECT_EQ(load_image(file, {.alpha = true}).to_vector<float>(),
              (Floats{0.2f, 0.2f, 0.2f, 1, 0.4f, 0.4f, 0.4f, 0}));
    EXPECT_EQ(load_image(file).to_vector<float>(), (Floats{0.2f, 0.2f, 0.2f, 0.4f, 0.4f, 0.4f}));
}

TEST_F(ImageFiles, LinearLeavesAlphaAsItIs) {
    const std::string file = path("alpha.png");
    save_image(file, full({1, 1, 4}, 0.2f));
    const Floats back = load_image(file, {.linear = true, .alpha = true}).to_vector<float>();
    EXPECT_NEAR(back[0], 0.0331f, 1e-4f);
    EXPECT_NEAR(back[3], 0.2f, 1e-6f);
}

/// The types of the channels of an OpenEXR file, by their names.
std::map<std::string, int> channel_types(const std::string& file) {
    const OPENEXR_IMF_NAMESPACE::InputFile exr(file.c_str());
    std::map<std::string, int> out;
    const auto& channels = exr.header().channels();
    for (auto c = channels.begin(); c != channels.end(); ++c) out[c.name()] = c.channel().type;
    return out;
}

TEST_F(ImageFiles, AnExrHasTheTypeOfTheElements) {
    const int half = OPENEXR_IMF_NAMESPACE::HALF, whole = OPENEXR_IMF_NAMESPACE::UINT,
              full_float = OPENEXR_IMF_NAMESPACE::FLOAT;
    const Tensor x = tensor({1.0f, 2.5f, 3.0f, 65504.0f}, {2, 2});
    const auto types = [&](const Tensor& of, const SaveImageOptions& options) {
        const std::string file = path("types.exr");
        save_image(file, of, options);
        EXPECT_EQ(load_image(file).to_vector<float>()[9], of.to_vector<float>()[3]);
        return channel_types(file);
    };
    using Types = std::map<std::string, int>;
    EXPECT_EQ(types(x, {}), (Types{{"Y", full_float}}));
    EXPECT_EQ(types(x.as(f16), {}), (Types{{"Y", half}}));
    EXPECT_EQ(types(x, {.bits = 16}), (Types{{"Y", half}}));
    EXPECT_EQ(types(x.as(f16), {.bits = 32}), (Types{{"Y", full_float}}));
    EXPECT_EQ(types(x.as(u32), {}), (Types{{"Y", whole}}));
}

TEST_F(ImageFiles, LayersOfAnExrAreReadByTheirNames) {
    const Tensor rgb = rand({3, 5, 3}, {.seed = 1}), normal = rand({3, 5, 3}, {.seed = 2}),
                 depth = rand({3, 5}, {.seed = 3}).as(f16), id = full({3, 5, 1}, 70000).as(u32);
    const std::string file = path("beauty.exr");
    save_image(file, {{"", rgb}, {"normal", normal}, {"depth", depth}, {"id", id}});
    EXPECT_EQ(load_image(file).to_vector<float>(), rgb.to_vector<float>());
    EXPECT_EQ(load_image(file, {.layer = "normal"}).to_vector<float>(), normal.to_vector<float>());
    EXPECT_EQ(load_image(file, {.layer = "depth"})(all, all, 0).to_vector<float>(),
              depth.to_vector<float>());
    EXPECT_EQ(load_image(file, {.layer = "id"}).to_vector<float>()[7], 70000);
    EXPECT_EQ(channel_types(file)["depth.Z"], int(OPENEXR_IMF_NAMESPACE::HALF));
}

TEST_F(ImageFiles, LayersThatCannotBeAreRefused) {
    const Tensor x = zeros({2, 2});
    expect_parts(user_error([&] {
                     save_image(path("l.png"), {{"a", x}, {"b", x}});
                 }),
                 {"l.png", "only OpenEXR files have layers", "image_files_test.cpp:"});
    expect_parts(user_error([&] {
                     save_image(path("l.exr"), {{"a", x}, {"a", x}});
                 }),
                 {"two layers have the name 'a'", "image_files_test.cpp:"});
    expect_parts(user_error([&] {
                     save_image(path("l.exr"), {{"a", x}, {"b", zeros({2, 3})}});
                 }),
                 {"the layer 'b' is [2, 3]", "[2, 2]", "image_files_test.cpp:"});
    expect_parts(user_error([&] { save_image(path("l.exr"), std::vector<NamedTensor>{}); }),
                 {"there are no layers", "image_files_test.cpp:"});
}

TEST_F(ImageFiles, WhatCannotBeIsRefusedWithItsLine) {
    const Tensor x = zeros({2, 2});
    expect_parts(user_error([&] { save_image(path("a.bmp"), x); }),
                 {"a.bmp", ".png, .jpg, .exr and .hdr", "image_files_test.cpp:"});
    expect_parts(user_error([&] { save_image(path("a.png"), x, {.bits = 12}); }),
                 {"12 bits", "8 or 16", "image_files_test.cpp:"});
    expect_parts(user_error([&] { save_image(path("a.exr"), x, {.bits = 8}); }),
                 {".exr has no channels of 8 bits", "16 or 32"});
    expect_parts(user_error([&] { save_image(path("a.jpg"), x, {.bits = 16}); }),
                 {".jpg has no channels of 16 bits", ".png", "image_files_test.cpp:"});
    for (const char* name : {"a.png", "a.exr", "a.hdr"}) {
        expect_parts(user_error([&] { save_image(path(name), zeros({2})); }),
                     {"save_image", "f32[2]", "no picture", "image_files_test.cpp:"});
        expect_parts(user_error([&] {
                         save_image(path(name), zeros({0, 2}));
                     }),
                     {"save_image", "size of zero"});
        expect_parts(user_error([&] { save_image(std::string("/no/folder/") + name, x); }),
                     {"/no/folder/", "cannot be written", "image_files_test.cpp:"});
        EXPECT_FALSE(std::filesystem::exists(testing::TempDir() + "/image_files_" + name));
    }
    expect_parts(user_error([&] { save_image("/no/folder/a.png", x.as(u16)); }),
                 {"/no/folder/a.png", "cannot be written"});
}

TEST_F(ImageFiles, DamagedFilesAreNamed) {
    for (const char* ending : {".hdr", ".exr", ".png"}) {
        const std::string file = path(std::string("cut") + ending);
        save_image(file, tensor(Floats(3 * 64 * 64, 0.3f), {64, 64, 3}), {});
        const std::string bytes = bytes_of(file);
        std::ofstream(file, std::ios::binary) << bytes.substr(0, 60);
        expect_parts(user_error([&] { load_image(file); }),
                     {std::string("cut") + ending, "read", "image_files_test.cpp:"});
    }
    expect_parts(user_error([&] { load_image(path("missing.exr")); }),
                 {"missing.exr", "No such file"});
}

}  // namespace
}  // namespace firn
