// Folders of pictures: which are found, how they are scaled, what is refused.
#include "engine/firn/picture_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "compiler/language.h"
#include "compiler/learning/batches.h"
#include "engine/window/picture_scale.h"

namespace firn {
namespace {

namespace fs = std::filesystem;

/// A picture whose pixels are grey, row by row.
Picture grey(int width, int height, const std::vector<int>& values) {
    Picture out{width, height, {}};
    for (int value : values)
        for (int c = 0; c < 4; ++c) out.rgba.push_back(c < 3 ? static_cast<uint8_t>(value) : 255);
    return out;
}

class PictureFolders : public testing::Test {
  protected:
    PictureFolders() { fs::create_directories(folder); }
    ~PictureFolders() override { fs::remove_all(folder); }
    void write(const std::string& name, int value) const {
        fs::create_directories(fs::path(folder + "/" + name).parent_path());
        write_png(folder + "/" + name, grey(2, 2, {value, value, value, value}));
    }
    static std::string refusal(const std::function<void()>& body) {
        try {
            body();
        } catch (const UserError& error) {
            return error.what();
        }
        return "";
    }
    std::string folder = testing::TempDir() + "/picture_folder_" + std::to_string(getpid());
};

TEST(PictureScale, CoversAndCutsAroundTheMiddle) {
    const auto greys = [](const Picture& picture) {
        std::vector<int> out;
        for (size_t k = 0; k < picture.rgba.size(); k += 4) out.push_back(picture.rgba[k]);
        return out;
    };
    const Picture wide = grey(6, 2, {0, 10, 20, 40, 60, 90, 4, 14, 24, 44, 64, 94});
    EXPECT_EQ(greys(covering(wide, 1, 1)), (std::vector<int>{32}));  // of columns 2 and 3
    EXPECT_EQ(greys(covering(wide, 2, 2)), (std::vector<int>{20, 40, 24, 44}));
    EXPECT_EQ(greys(covering(wide, 3, 1)), (std::vector<int>{7, 32, 77}));
    EXPECT_EQ(greys(covering(wide, 6, 2)), greys(wide));
    EXPECT_EQ(greys(covering(grey(1, 1, {7}), 2, 2)), (std::vector<int>{7, 7, 7, 7}));
    EXPECT_THROW(covering(wide, 0, 2), UserError);
}

TEST_F(PictureFolders, SubfoldersAreClasses) {
    write("cats/b.png", 20);
    write("cats/a.PNG", 10);
    write("dogs/c.png", 30);
    std::ofstream(folder + "/cats/notes.txt") << "no picture";
    const PictureFolder found = find_pictures(folder);
    EXPECT_EQ(found.classes, (std::vector<std::string>{"cats", "dogs"}));
    EXPECT_EQ(found.labels, (std::vector<int>{0, 0, 1}));
    const int64_t which[] = {2, 0};
    const StoredTensor batch = read_pictures(found, which, {.height = 1, .width = 2});
    EXPECT_EQ(batch.shape, (std::vector<int64_t>{2, 1, 2, 3}));
    std::vector<int> values;
    for (std::byte each : batch.bytes) values.push_back(std::to_integer<int>(each));
    EXPECT_EQ(values, (std::vector<int>{30, 30, 30, 30, 30, 30, 10, 10, 10, 10, 10, 10}));
}

TEST_F(PictureFolders, AreReadAheadWhileOthersAreUsed) {
    for (int k = 0; k < 4; ++k) write(std::to_string(k) + ".png", 10 * k);
    const PictureFolder found = find_pictures(folder);
    EXPECT_TRUE(found.classes.empty());
    SessionScope scope(Session::oracle());
    Prefetch batches([&](int64_t k) {
        const int64_t which[] = {2 * k, 2 * k + 1};
        return std::vector{read_pictures(found, which, {.height = 1, .width = 1})};
    });
    EXPECT_EQ(batches.next()[0].as(i32).to_vector<int>(), (std::vector<int>{0, 0, 0, 10, 10, 10}));
    EXPECT_EQ(batches.next()[0].as(i32).to_vector<int>(),
              (std::vector<int>{20, 20, 20, 30, 30, 30}));
    EXPECT_NE(refusal([&] { batches.next(); }).find("picture 4 of 4"), std::string::npos);
}

TEST_F(PictureFolders, RefuseWhatIsNone) {
    EXPECT_NE(refusal([&] { find_pictures(folder); }).find("has no pictures"), std::string::npos);
    EXPECT_NE(refusal([&] { find_pictures(folder + "/no"); }).find("cannot be read"),
              std::string::npos);
    std::ofstream(folder + "/x.png") << "no picture";
    const PictureFolder found = find_pictures(folder);
    const int64_t first[] = {0};
    EXPECT_NE(refusal([&] { read_pictures(found, first); }).find("x.png"), std::string::npos);
}

}  // namespace
}  // namespace firn
