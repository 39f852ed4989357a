// Picture files as other programs write them, byte by byte: run lengths, orders of rows,
// orientations, exponents, and what is cut short.
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
// This header uses FILE without including cstdio.
#include <jpeglib.h>

#include "compiler/files/inflate.h"
#include "engine/firn/image_files.h"
#include "tests/frontend/oracle_session.h"

namespace firn {
namespace {

class PictureFormats : public OracleTest {
  protected:
    static std::string path(const std::string& name) {
        const std::string out = testing::TempDir() + "/picture_formats_" + name;
        std::filesystem::remove(out);
        return out;
    }
    static std::string bytes_of(const std::string& path) {
        std::ifstream file(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    static std::string written(const std::string& name, const std::string& bytes) {
        const std::string out = path(name);
        std::ofstream(out, std::ios::binary) << bytes;
        return out;
    }
    static Floats loaded(const std::string& name, const std::string& bytes,
                         const LoadImageOptions& options = {}) {
        return load_image(written(name, bytes), options).to_vector<float>();
    }
    /// Returns the error of the file of these bytes; empty if it is read.
    static std::string fault(const std::string& name, const std::string& bytes) {
        const std::string file = written(name, bytes);
        return user_error([&] { load_image(file); });
    }
};

std::string hdr(const std::string& size, const std::string& pixels,
                const std::string& format = "32-bit_rle_rgbe") {
    return "#?RADIANCE\nFORMAT=" + format + "\n\n" + size + "\n" + pixels;
}

TEST_F(PictureFormats, AnHdrThatEndsWithARowIsCutShort) {
    const std::string file = path("rows.hdr");
    save_image(file, full({64, 40, 3}, 0.25f));
    const std::string bytes = bytes_of(file);
    const size_t begin = bytes.find("+X 40\n") + 6, row = (bytes.size() - begin) / 64;
    ASSERT_EQ(begin + 64 * row, bytes.size());
    EXPECT_EQ(fault("rows.hdr", bytes), "");
    expect_parts(fault("rows.hdr", bytes.substr(0, begin + 32 * row)),
                 {"rows.hdr", "ends in row 33 of 64", "name a whole Radiance HDR file"});
}

TEST_F(PictureFormats, AnHdrOfMoreRowsThanItsBytesHoldIsRefusedAtOnce) {
    expect_parts(fault("claims.hdr", hdr("-Y 16000 +X 16000", std::string(400, '\x80'))),
                 {"claims.hdr", "400 bytes of pixels are too few for 16000 rows"});
}

TEST_F(PictureFormats, AnHdrKeepsRunsOfEveryLengthInRowsOfEveryWidth) {
    // Runs of 1, 2, 3 .. equal numbers in one channel, and falling numbers in another.
    Floats row;
    for (int run = 1; run < 140; ++run)
        for (int k = 0; k < run; ++k)
            row.insert(row.end(), {0.5f + float(run % 100) / 256, float(k % 128) / 256, 0.75f});
    const int64_t most = static_cast<int64_t>(row.size() / 3);
    for (const int64_t width : {1L, 7L, 8L, 9L, 63L, 64L, 65L, 127L, 128L, 129L, 131L, 300L, most})
        for (const int64_t from : {int64_t{0}, (most - width) / 2, most - width}) {
            const Floats part(row.begin() + 3 * from, row.begin() + 3 * (from + width));
            const std::string file = path("runs.hdr");
            save_image(file, tensor(part, {1, width, 3}));
            EXPECT_EQ(load_image(file).to_vector<float>(), part) << width << " from " << from;
        }
}

TEST_F(PictureFormats, AnHdrIsOpaqueInEveryOrientation) {
    const std::string two("\x80\x80\x80\x81\x40\x40\x40\x81", 8);
    EXPECT_EQ(loaded("opaque.hdr", hdr("-Y 2 +X 1", two), {.alpha = true}),
              (Floats{1, 1, 1, 1, 0.5f, 0.5f, 0.5f, 1}));
    EXPECT_EQ(loaded("opaque.hdr", hdr("+Y 2 +X 1", two), {.alpha = true}),
              (Floats{0.5f, 0.5f, 0.5f, 1, 1, 1, 1, 1}));
}

TEST_F(PictureFormats, OldRunLengthsOfAnHdrRepeatThePixelBefore) {
    // 43 + 256 * 1 times, in the digits of two pixels.
    const std::string row =
        std::string("\x80\x40\x20\x81", 4) + std::string("\1\1\1\x2b\1\1\1\1", 8);
    const Floats back = loaded("old.hdr", hdr("-Y 2 +X 300", row + row));
    ASSERT_EQ(back.size(), 2u * 300 * 3);
    for (size_t k = 0; k < back.size(); ++k) ASSERT_EQ(back[k], 1.0f / float(1 << k % 3)) << k;
    expect_parts(fault("old.hdr", hdr("-Y 1 +X 290", row)), {"row 1", "behind its end"});
}

TEST_F(PictureFormats, AnHdrMayBeginWithItsLastRow) {
    const std::string two("\x80\x80\x80\x81\x40\x40\x40\x81", 8);
    EXPECT_EQ(loaded("up.hdr", hdr("+Y 2 +X 1", two)), (Floats{0.5f, 0.5f, 0.5f, 1, 1, 1}));
    EXPECT_EQ(loaded("left.hdr", hdr("-Y 1 -X 2", two)), (Floats{0.5f, 0.5f, 0.5f, 1, 1, 1}));
}

TEST_F(PictureFormats, AnHdrOfXyzIsRefused) {
    expect_parts(fault("xyz.hdr", hdr("-Y 1 +X 1", "\x80\x80\x80\x81", "32-bit_rle_xyze")),
                 {"pixels are XYZ", "ra_xyze"});
}

TEST_F(PictureFormats, LightBeyondAnHdrIsItsLargestNumber) {
    const float most = 0x1.fep126f, infinite = INFINITY;
    for (const auto& [from, to] :
         {std::pair{3e38f, most}, {infinite, most}, {0x1p126f, 0x1p126f}}) {
        const std::string file = path("far.hdr");
        save_image(file, tensor({from, 0.0f, -from}, {1, 1, 3}));
        EXPECT_EQ(load_image(file).to_vector<float>(), (Floats{to, 0, 0})) << from;
    }
}

TEST_F(PictureFormats, AnHdrHoldsTheNearestOfItsNumbers) {
    // The numbers have 8 bits beside an exponent; 255.5 / 256 is rounded up to another exponent.
    const Floats x{1.0f, 0.3f, 1e-6f, 0.99999f, 1e-30f, 0.7f};
    const std::string file = path("near.hdr");
    save_image(file, tensor(x, {1, 2, 3}));
    const Floats back = load_image(file).to_vector<float>();
    for (size_t k = 0; k < 6; ++k) EXPECT_NEAR(back[k], x[k], 1.0f / 256) << k;
}

TEST_F(PictureFormats, NumbersOfAPnmHaveTheHighByteFirst) {
    EXPECT_EQ(loaded("wide.ppm", std::string("P6 1 1 65535\n\x80\0\0\xff\xff\xff", 19)),
              (Floats{32768 / 65535.0f, 255 / 65535.0f, 1}));
}

TEST_F(PictureFormats, TheLargestNumberOfAPnmIsWhite) {
    EXPECT_EQ(loaded("ten.pgm", std::string("P5\n# ten bits\n2 1\n1023\n\x03\xff\0\0", 27)),
              (Floats{1, 1, 1, 0, 0, 0}));
    EXPECT_EQ(loaded("text.pgm", "P2 2 1 4 # of 4\n4 2"),
              (Floats{1, 1, 1, 128 / 255.0f, 128 / 255.0f, 128 / 255.0f}));
    EXPECT_EQ(loaded("bits.pbm", std::string("P4 2 1\n\x40", 8)), (Floats{1, 1, 1, 0, 0, 0}));
    expect_parts(fault("cut.ppm", "P6 2 1 255\nabc"), {"cut.ppm", "cut short"});
}

TEST_F(PictureFormats, AJpegThatIsTooWideIsRefused) {
    const std::string file = path("wide.jpg");
    expect_parts(user_error([&] {
                     save_image(file, zeros({2, 70000}));
                 }),
                 {"wide.jpg", "70000 x 2", "side of a JPEG", ".png or an .exr"});
    EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(PictureFormats, AJpegThatIsCutShortIsRefused) {
    const std::string file = path("cut.jpg");
    save_image(file, rand({64, 64, 3}, {.seed = 7}));
    const std::string bytes = bytes_of(file);
    expect_parts(fault("cut.jpg", bytes.substr(0, bytes.size() / 2)),
                 {"cut.jpg", "cannot be read (", "name a whole JPEG file"});
}

/// A JPEG with half as many colours as pixels in a row (4:2:2): red grows to the right, blue falls.
std::string ramp_of_half_colours(const std::string& file, int width, int height) {
    FILE* to = std::fopen(file.c_str(), "wb");
    jpeg_error_mgr errors;
    jpeg_compress_struct jpeg{};
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_stdio_dest(&jpeg, to);
    jpeg.image_width = JDIMENSION(width), jpeg.image_height = JDIMENSION(height);
    jpeg.input_components = 3, jpeg.in_color_space = JCS_RGB;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, 100, TRUE);
    jpeg.comp_info[0].h_samp_factor = 2, jpeg.comp_info[0].v_samp_factor = 1;
    jpeg_start_compress(&jpeg, TRUE);
    std::vector<JSAMPLE> row;
    for (int x = 0; x < width; ++x) {
        const auto red = JSAMPLE(x * 255 / (width - 1));
        row.insert(row.end(), {red, 0, JSAMPLE(255 - red)});
    }
    JSAMPROW rows = row.data();
    for (int y = 0; y < height; ++y) jpeg_write_scanlines(&jpeg, &rows, 1);
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    std::fclose(to);
    return file;
}

TEST_F(PictureFormats, ColoursOfHalfTheWidthReachTheLastColumns) {
    constexpr int kWidth = 17;
    const Tensor x = load_image(ramp_of_half_colours(path("half.jpg"), kWidth, 8));
    const Floats back = x.to_vector<float>();
    for (int column = 0; column < kWidth; ++column)
        EXPECT_NEAR(back[size_t(3 * column)], float(column) / (kWidth - 1), 0.05f) << column;
}

/// BMP, TGA without and with run lengths, and GIF, each of 2 x 2 pixels.
const std::string kSmallPictures[] = {
    std::string("BM\x46\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\2\0\0\0\2\0\0\0\1\0\x18\0\0\0\0\0"
                "\x10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
                "abcdef\0\0ghijkl",
                68),
    std::string("\0\0\2\0\0\0\0\0\0\0\0\0\2\0\2\0\x18\0"
                "abcdefghijkl",
                30),
    std::string("\0\0\x0a\0\0\0\0\0\0\0\0\0\2\0\2\0\x18\0\x83"
                "abc",
                22),
    std::string("GIF89a\2\0\2\0\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0\2\0\2\0\0\2\3\x44\2\5\0", 35)};

TEST_F(PictureFormats, OtherPicturesThatAreCutShortAreRefused) {
    for (const std::string& whole : kSmallPictures) {
        EXPECT_EQ(fault("small.picture", whole), "") << int(whole[0]) << " " << whole.size();
        for (size_t size = 0; size < whole.size(); ++size)
            EXPECT_NE(fault("small.picture", whole.substr(0, size)), "")
                << int(whole[0]) << " " << size;
        expect_parts(fault("small.picture", whole.substr(0, whole.size() - 1)),
                     {"small.picture", "it is cut short", "name a whole file"});
    }
}

TEST_F(PictureFormats, PicturesOfMorePixelsThanTheirBytesHoldAreRefusedAtOnce) {
    std::string tga = kSmallPictures[1];
    tga[12] = tga[14] = 2, tga[13] = tga[15] = 0x3f;  // 16130 = 0x3f02
    expect_parts(fault("large.tga", tga), {"large.tga", "30 bytes are too few for 16130 x 16130"});
}

TEST_F(PictureFormats, FilesOfOtherFormatsAreNamed) {
    expect_parts(fault("a.png", std::string("II*\0\x08\0\0\0", 8)),
                 {"a.png", "this is a TIFF file", "convert it to PNG or EXR"});
    expect_parts(fault("b.png", "RIFF....WEBPVP8 "), {"this is a WebP file"});
    expect_parts(fault("c.png", "\x93NUMPY"), {"this is a npy file", "load_npy"});
    expect_parts(fault("d.png", "hello"), {"d.png", "no picture that can be read"});
}

std::string big_endian(uint32_t n) { return {char(n >> 24), char(n >> 16), char(n >> 8), char(n)}; }
/// An EXIF block with an orientation alone.
std::string exif(int orientation) {
    return std::string("MM\0\x2a\0\0\0\x08\0\1\x01\x12\0\3\0\0\0\1\0", 19) +
           static_cast<char>(orientation) + std::string(6, '\0');
}
std::string png_chunk(const std::string& type, const std::string& data) {
    return big_endian(uint32_t(data.size())) + type + data + big_endian(crc32_of(type + data));
}
/// A PNG with more chunks in front of its pixels.
std::string with_chunks(std::string png, const std::string& chunks) {
    return png.insert(33, chunks);  // behind the signature and IHDR
}

TEST_F(PictureFormats, OrientationsOfExifAreApplied) {
    // 0 1 2
    // 3 4 5 as the file has it, and in the eight orientations of the standard.
    const std::vector<std::vector<int>> right{
        {0, 1, 2, 3, 4, 5}, {2, 1, 0, 5, 4, 3}, {5, 4, 3, 2, 1, 0}, {3, 4, 5, 0, 1, 2},
        {0, 3, 1, 4, 2, 5}, {3, 0, 4, 1, 5, 2}, {5, 2, 4, 1, 3, 0}, {2, 5, 1, 4, 0, 3}};
    constexpr int kBlock = 8;
    const std::string jpeg = path("turn.jpg"), png = path("turn.png");
    const auto [i, j] = indices<2>(Shape{2 * kBlock, 3 * kBlock});
    const Tensor x = ((i / kBlock) * 3 + j / kBlock).as(f32) / 5.0f;
    save_image(jpeg, x), save_image(png, x);
    const std::string jpeg_bytes = bytes_of(jpeg), png_bytes = bytes_of(png);
    for (int orientation = 1; orientation <= 8; ++orientation) {
        const std::string block = "Exif" + std::string(2, '\0') + exif(orientation);
        const auto length = static_cast<char>(block.size() + 2);
        for (const std::string& bytes :
             {jpeg_bytes.substr(0, 2) + "\xff\xe1" + '\0' + length + block + jpeg_bytes.substr(2),
              with_chunks(png_bytes, png_chunk("eXIf", exif(orientation)))}) {
            const Tensor back = load_image(written("turned", bytes));
            const int columns = orientation > 4 ? 2 : 3, rows = 5 - columns;
            ASSERT_EQ(back.shape(), (Shape{rows * kBlock, columns * kBlock, 3})) << orientation;
            const Floats all = back.to_vector<float>();
            std::vector<int> blocks;
            for (int row = 0; row < rows; ++row)
                for (int column = 0; column < columns; ++column) {
                    const int pixel = (row * kBlock + 4) * columns * kBlock + column * kBlock + 4;
                    blocks.push_back(int(std::lround(all[size_t(3 * pixel)] * 5)));
                }
            EXPECT_EQ(blocks, right[size_t(orientation - 1)]) << orientation;
        }
    }
}

TEST_F(PictureFormats, DamagedExifLeavesThePicture) {
    const std::string png = path("exif.png");
    save_image(png, zeros({2, 3}));
    for (size_t kept = 8; kept < 20; ++kept) {
        const std::string bytes =
            with_chunks(bytes_of(png), png_chunk("eXIf", exif(6).substr(0, kept)));
        EXPECT_EQ(load_image(written("exif.png", bytes)).shape(), (Shape{2, 3, 3})) << kept;
        save_image(png, zeros({2, 3}));
    }
}

TEST_F(PictureFormats, LightOfAPngIsMadeByItsGamma) {
    const std::string file = path("gamma.png");
    save_image(file, full({1, 1}, 0.5f), {.bits = 16});
    const std::string plain = bytes_of(file);
    const auto light = [&](const std::string& chunks) {
        return loaded("gamma.png", with_chunks(plain, chunks), {.linear = true})[0];
    };
    const auto gamma = [](uint32_t value) { return png_chunk("gAMA", big_endian(value)); };
    const float srgb = light("");
    EXPECT_NEAR(srgb, 0.2140f, 1e-4f);
    EXPECT_NEAR(light(gamma(100000)), 0.5f, 1e-4f);
    EXPECT_NEAR(light(gamma(50000)), 0.25f, 1e-4f);
    EXPECT_EQ(light(gamma(45455) + png_chunk("sRGB", std::string(1, '\0'))), srgb);
    EXPECT_NEAR(loaded("gamma.png", with_chunks(plain, gamma(100000)))[0], 0.5f, 1e-4f);
}

TEST_F(PictureFormats, APngHasAsManyChannelsAsTheTensor) {
    for (const int bits : {8, 16})
        for (const auto& [channels, kind] : {std::pair{0, 0}, {1, 0}, {3, 2}, {4, 6}}) {
            const std::string file = path("channels.png");
            save_image(file, channels == 0 ? zeros({2, 3}) : zeros({2, 3, channels}),
                       {.bits = bits});
            EXPECT_EQ(int(bytes_of(file)[24]), bits);
            EXPECT_EQ(int(bytes_of(file)[25]), kind) << channels;
        }
}

}  // namespace
}  // namespace firn
