// The small demos: each runs headless, and its picture shows what it should.
#include <firn/firn.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>

namespace firn {
namespace {

/// The last frame of a demo as [h, w, 3] values; fails where it does not run.
std::vector<float> picture_of(const std::string& demo, const std::string& arguments) {
    std::string out = (std::filesystem::path(testing::TempDir()) / (demo + "_test.png")).string();
    std::filesystem::remove(out);
    std::string command =
        FIRN_BIN_DIR "/" + demo + " --headless --out " + out + " " + arguments + " 2>&1";
    std::FILE* pipe = popen(command.c_str(), "r");
    std::string text;
    std::array<char, 4096> part;
    while (size_t count = std::fread(part.data(), 1, part.size(), pipe))
        text.append(part.data(), count);
    EXPECT_EQ(pclose(pipe), 0) << text;
    SessionScope scope(Session::interpreter());
    return load_image(out).to_vector<float>();
}

/// Red, green and blue of pixel (i, j) of `width` columns, summed.
float brightness(const std::vector<float>& picture, int width, int i, int j) {
    auto at = static_cast<size_t>(3 * (i * width + j));
    return picture.at(at) + picture.at(at + 1) + picture.at(at + 2);
}

TEST(Mandelbrot, IsBlackInsideTheSetAndColouredOutside) {
    // 60 rows are 3 high: a row or column is 0.05.
    std::vector<float> p =
        picture_of("mandelbrot", "--size 80x60 --frames 2 --set x=-0.5 --set y=0 --set zoom=0");
    for (auto [x, y] : {std::pair{0.0, 0.0}, {-1.0, 0.0}, {-0.1, 0.74}})
        EXPECT_EQ(brightness(p, 80, int(30 - y / 0.05), int(40 + (x + 0.5) / 0.05)), 0.0f) << x;
    for (auto [x, y] : {std::pair{0.6, 0.0}, {-1.0, 0.6}, {0.4, 0.4}})
        EXPECT_GT(brightness(p, 80, int(30 - y / 0.05), int(40 + (x + 0.5) / 0.05)), 0.1f) << x;
}

TEST(Mandelbrot, TakesAnotherPower) {
    std::vector<float> p = picture_of(
        "mandelbrot", "--size 80x60 --frames 1 --set x=0 --set y=0 --set zoom=0 --set power=3");
    const auto at = [&](int i, int j) { return brightness(p, 80, 30 + i, 40 + j); };
    EXPECT_EQ(at(-16, 0), 0) << "0.8 i is inside of the cubic set";
    EXPECT_GT(at(0, -20), 0.1f) << "-1 is not";
    EXPECT_GT(at(0, 20), 0.1f);
}
TEST(Mandelbrot, GoesToTheLargestLimit) {
    picture_of("mandelbrot", "--size 16x16 --frames 1 --set limit=4000");
}

TEST(Buddhabrot, IsBrightestInTheMiddleAndTheSameOnBothSides) {
    std::vector<float> p = picture_of("buddhabrot", "--size 64x64 --frames 3 --set limit=200");
    double left = 0, right = 0, corner = 0, middle = 0;
    for (int i = 0; i < 64; ++i)
        for (int j = 0; j < 32; ++j) {
            left += double(brightness(p, 64, i, j)), right += double(brightness(p, 64, i, 63 - j));
            if (i < 8 && j < 8) corner += double(brightness(p, 64, i, j));
            if (i >= 40 && i < 48 && j >= 24) middle += double(brightness(p, 64, i, j));
        }
    EXPECT_NEAR(left / right, 1.0, 0.1);
    EXPECT_GT(middle, 3 * corner);
}

TEST(ReactionDiffusion, GrowsPatterns) {
    std::vector<float> early = picture_of("reaction_diffusion", "--size 80x80 --frames 1"),
                       late = picture_of("reaction_diffusion", "--size 80x80 --frames 120");
    auto bright = [](const std::vector<float>& picture) {
        int count = 0;
        for (float value : picture) count += value > 0.4f;
        return count;
    };
    EXPECT_GT(bright(late), 2 * bright(early));
    EXPECT_LT(bright(late), int(late.size()) / 2);
}

TEST(ReactionDiffusion, APatternSetsFeedAndKillUnlessTheyAreGiven) {
    const std::string run = "--size 80x80 --frames 60 ";
    const std::vector<float> waves = picture_of("reaction_diffusion", run + "--set pattern=waves");
    EXPECT_EQ(waves, picture_of("reaction_diffusion", run + "--set feed=0.018 --set kill=0.051"));
    EXPECT_NE(waves, picture_of("reaction_diffusion", run));
    EXPECT_EQ(picture_of("reaction_diffusion", run + "--set pattern=waves --set feed=0.05"),
              picture_of("reaction_diffusion", run + "--set feed=0.05 --set kill=0.051"));
}

TEST(Particles, AreThreeStreamsThatGoOn) {
    const std::string run = "--size 96x64 --set light=0.5 --set bodies=3000 ";
    const std::vector<float> p = picture_of("particles", run + "--frames 2");
    int orange = 0, blue = 0, green = 0;
    for (size_t k = 0; k < p.size(); k += 3) {
        orange += p[k] > p[k + 2] + 0.15f;
        blue += p[k + 2] > p[k] + 0.15f;
        green += p[k + 1] > p[k] + 0.02f && p[k + 1] > p[k + 2] + 0.02f;
    }
    for (int streams : {orange, blue, green}) EXPECT_GT(streams, 40);
    EXPECT_NE(p, picture_of("particles", run + "--frames 30"));
    EXPECT_EQ(p, picture_of("particles", run + "--frames 2"));
}

TEST(Filters, ChangeTheRightHalfAlone) {
    const std::string in = (std::filesystem::path(testing::TempDir()) / "filters_in.png").string();
    {
        SessionScope scope(Session::interpreter());
        auto [i, j] = indices<2>(Shape{32, 64});
        save_image(in, ((i / 4 + j / 4) % 2).as(f32) * 0.5f);  // a chessboard
    }
    const std::string run = "--size 64x32 --set picture=" + in + " --set filter=";
    const auto apart = [&](const std::vector<float>& a, const std::vector<float>& b, int from) {
        float most = 0;
        for (int i = 0; i < 32; ++i)
            for (int k = 3 * from; k < 3 * (from + 28); ++k)
                most = std::max(most, std::abs(a[size_t(192 * i + k)] - b[size_t(192 * i + k)]));
        return most;
    };
    const std::vector<float> same = picture_of("filters", run + "sharpen --set amount=0");
    // A table of one axis that turns colours around.
    const std::string cube =
        (std::filesystem::path(testing::TempDir()) / "filters_table.cube").string();
    std::ofstream(cube) << "LUT_1D_SIZE 2\n1 1 1\n0 0 0\n";
    for (const std::string filter : {"blur", "edges", "tone", "table --set table=", "table"}) {
        const std::vector<float> p =
            picture_of("filters", run + filter + (filter.ends_with("=") ? cube : std::string()));
        EXPECT_EQ(apart(p, same, 0), 0) << filter;
        EXPECT_GT(apart(p, same, 34), 0.1f) << filter;
    }
}

TEST(Filters, TakePicturesOfManyMegapixels) {
    // As floats 139 MB, and a device may read no more than 134 MB at once.
    const std::string in = (std::filesystem::path(testing::TempDir()) / "large.pgm").string();
    std::ofstream(in, std::ios::binary) << "P5 3400 3400 255\n" << std::string(3400 * 3400, '\x80');
    const std::vector<float> p =
        picture_of("filters", "--size 64x32 --set filter=edges --set picture=" + in);
    EXPECT_NEAR(p[3 * (16 * 64 + 20)], 128 / 255.0f, 0.01f);
    EXPECT_NEAR(p[3 * (16 * 64 + 44)], 0, 0.01f);
}

TEST(Brush, LeavesNoGapsAlongItsWay) {
    SessionScope scope(Session::interpreter());
    auto [i, j] = indices<2>(Shape{12, 40});
    const std::vector<float> near =
        (squared_distance(i + 0.5f, j + 0.5f, {2.0f, 3.0f, 8.0f, 37.0f}) < 4.0f)
            .as(f32)
            .to_vector<float>();
    for (int step = 0; step <= 100; ++step) {
        const int row = int(2 + 0.06 * step), column = int(3 + 0.34 * step);
        EXPECT_EQ(near[size_t(40 * row + column)], 1.0f) << row << ", " << column;
    }
    EXPECT_EQ(near[40 * 11 + 3], 0.0f);
    EXPECT_EQ(near[39], 0.0f);
    EXPECT_EQ(near[40 * 2], 0.0f) << "before its start";
}

/// Cells of a run of life on 24 x 24 pixels, one pixel a cell: 1 where it lives.
int population(const std::string& arguments) {
    std::vector<float> p =
        picture_of("life", "--size 24x24 --set cell=1 --set fading=0.5 " + arguments);
    int count = 0;
    for (int i = 0; i < 24 * 24; ++i) count += p[size_t(3 * i)] > 0.9f;
    return count;
}

TEST(Life, ThinsAFullSoupAndKeepsASparseOneEmpty) {
    // More than three neighbours kill; fewer than three bear nothing.
    EXPECT_LT(population("--frames 1 --set density=0.9"), 60);
    EXPECT_EQ(population("--frames 40 --set density=0.02"), 0);
}

TEST(Life, MazesFillThePlane) {
    EXPECT_GT(population("--frames 60 --set rule=maze --set density=0.3"), 24 * 24 / 4);
}

}  // namespace
}  // namespace firn
