// Frames as files: sequences, and GIFs that are read back.
#include "engine/app/recording.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <utility>

#include "compiler/base/error.h"

namespace firn {
namespace {

namespace fs = std::filesystem;

class Frames : public testing::Test {
  protected:
    void SetUp() override {
        folder_ = testing::TempDir() + "/firn_frames/";
        fs::remove_all(folder_);
        fs::create_directories(folder_);
    }
    /// Pixels of `colours` colours that every GIF can tell apart, in no order.
    static Picture noise(int width, int height, uint32_t colours) {
        std::mt19937 random(7);
        Picture picture{width, height, {}};
        for (int k = 0; k < width * height; ++k) {
            const uint32_t colour = static_cast<uint32_t>(random()) % colours;
            for (uint32_t value : {colour % 8 * 32, colour / 8 % 8 * 32, colour / 64 * 64, 255u})
                picture.rgba.push_back(static_cast<uint8_t>(value));
        }
        return picture;
    }
    std::string folder_;
};

TEST_F(Frames, AGifIsReadBackAsItWas) {
    // Long enough for its codes to begin anew many times; and short ones.
    for (auto [width, height] : {std::pair{400, 300}, {1, 1}, {17, 1}}) {
        const Picture picture = noise(width, height, 256);
        GifWriter writer(folder_ + "a.gif");
        for (int k = 0; k < 2; ++k) writer.add(picture);
        EXPECT_EQ(writer.finish(), folder_ + "a.gif");
        const Picture read = read_picture(folder_ + "a.gif");
        EXPECT_EQ(read.width, width);
        EXPECT_EQ(read.rgba, picture.rgba) << width;
    }
}
TEST_F(Frames, AGifPlaysAsManyFramesASecondAsItIsTold) {
    const auto hundredths = [&](double rate) {
        GifWriter writer(folder_ + "r.gif", rate);
        writer.add(noise(4, 4, 16));
        writer.finish();
        std::ifstream file(folder_ + "r.gif", std::ios::binary);
        const std::string bytes{std::istreambuf_iterator<char>(file), {}};
        const size_t at = bytes.find(std::string("\x21\xf9\x04", 3));
        EXPECT_NE(at, std::string::npos);
        return uint8_t(bytes.at(at + 4)) + 256 * uint8_t(bytes.at(at + 5));
    };
    EXPECT_EQ(hundredths(2), 50);
    EXPECT_EQ(hundredths(60), 2);  // as fast as it can
    EXPECT_EQ(hundredths(0.1), 1000);
}
TEST_F(Frames, AGifOfManyColoursIsNear) {
    Picture picture{256, 256, {}};
    for (int i = 0; i < 256; ++i)
        for (int j = 0; j < 256; ++j)
            for (int value : {i, j, (i + j) / 2, 255})
                picture.rgba.push_back(static_cast<uint8_t>(value));
    GifWriter writer(folder_ + "b.gif");
    writer.add(picture);
    writer.finish();
    const Picture read = read_picture(folder_ + "b.gif");
    double error = 0;
    for (size_t k = 0; k < read.rgba.size(); ++k)
        error += std::abs(double(read.rgba[k]) - double(picture.rgba[k]));
    EXPECT_LT(error / double(read.rgba.size()), 5);
}
TEST_F(Frames, AGifThatIsGivenUpIsRemoved) {
    { GifWriter(folder_ + "c.gif").add(noise(4, 4, 9)); }
    EXPECT_TRUE(fs::is_empty(folder_));
}
TEST_F(Frames, AGifOfSeveralSizesIsRefused) {
    GifWriter writer(folder_ + "d.gif");
    writer.add(noise(4, 4, 9));
    EXPECT_THROW(writer.add(noise(5, 4, 9)), UserError);
}
TEST_F(Frames, ASequenceTakesEachSoManyth) {
    int asked = 0;
    const Picture picture = noise(3, 2, 5);
    Recording recording(output_file(folder_ + "f_%02d.png"), 3,
                        {.picture = [&] { return ++asked, picture; }});
    for (int frame = 0; frame < 8; ++frame) recording.add_frame();
    EXPECT_EQ(asked, 2) << "the others are not even drawn";
    EXPECT_EQ(recording.finish(), "2 files, " + folder_ + "f_01.png to " + folder_ + "f_02.png");
    EXPECT_EQ(read_picture(folder_ + "f_02.png").rgba, picture.rgba);
    EXPECT_FALSE(fs::exists(folder_ + "f_03.png"));
}
TEST_F(Frames, TheLastFrameIsWrittenAtTheEnd) {
    int asked = 0;
    const Picture picture = noise(3, 2, 5);
    Recording recording(output_file(folder_ + "g.png"), 1,
                        {.picture = [&] { return ++asked, picture; }});
    for (int frame = 0; frame < 8; ++frame) recording.add_frame();
    EXPECT_EQ(asked, 0);
    EXPECT_EQ(recording.finish(), folder_ + "g.png");
    EXPECT_TRUE(fs::exists(folder_ + "g.png"));
}

}  // namespace
}  // namespace firn
