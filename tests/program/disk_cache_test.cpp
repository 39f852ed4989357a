// The cache on disk returns a stored entry or nothing: after damage, on a full disk, and with
// several processes at once.
#include "compiler/base/disk_cache.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "compiler/base/parallel.h"

namespace firn {
namespace {

namespace fs = std::filesystem;

class DiskCache : public ::testing::Test {
  protected:
    void SetUp() override {
        directory_ =
            fs::temp_directory_path() / ("firn_disk_cache_test_" + std::to_string(getpid()));
        fs::remove_all(directory_);
    }
    void TearDown() override { fs::remove_all(directory_); }

    std::string folder() const { return directory_.string(); }
    void put(const std::string& text) const { cache_put_text(folder(), "text", "key", text); }
    std::optional<std::string> found() const { return cache_find_text(folder(), "text", "key"); }

    /// The only file.
    fs::path file() const { return fs::directory_iterator(directory_)->path(); }
    std::string bytes() const {
        std::ifstream in(file(), std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    void overwrite(const std::string& bytes) const {
        std::ofstream(file(), std::ios::binary | std::ios::trunc)
            .write(bytes.data(), static_cast<long>(bytes.size()));
    }

    fs::path directory_;
};

/// The exit status of `body` in a process of its own.
template <class Body>
pid_t in_process(const Body& body) {
    const pid_t child = fork();
    if (child == 0) _exit(body());
    return child;
}
int status_of(pid_t child) {
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(DiskCache, GivesWhatWasStored) {
    const std::string text("a text\0with everything\n", 23);
    put(text);
    EXPECT_EQ(found(), text);
    EXPECT_FALSE(cache_find_text(folder(), "text", "another key"));
    EXPECT_FALSE(cache_find_text(folder(), "other", "key"));
}

TEST_F(DiskCache, AnEntryUnderTheNameOfAnotherKeyIsForeign) {
    put("text");
    fs::rename(file(), directory_ / (cache_hash("another key") + ".text"));
    EXPECT_FALSE(cache_find_text(folder(), "text", "another key"));
}

TEST_F(DiskCache, NoFlippedBitIsTakenForData) {
    put("value");
    const std::string good = bytes();
    for (size_t at = 0; at < good.size(); ++at) {
        std::string bad = good;
        bad[at] = static_cast<char>(bad[at] ^ (1 << at % 8));
        overwrite(bad);
        ASSERT_FALSE(found()) << "a bit of byte " << at;
    }
    put("value");
    EXPECT_EQ(found(), "value");
}

TEST_F(DiskCache, NoCutOrGrownFileIsTakenForData) {
    put("value");
    const std::string good = bytes();
    for (size_t length = 0; length < good.size(); ++length) {
        overwrite(good.substr(0, length));
        ASSERT_FALSE(found()) << "length " << length;
    }
    overwrite(good + "more");
    EXPECT_FALSE(found());
}

TEST_F(DiskCache, AFullDiskOnlyLosesSpeed) {
    put("old");
    const int status = status_of(in_process([&] {
        std::signal(SIGXFSZ, SIG_IGN);
        const rlimit small{1000, 1000};
        if (setrlimit(RLIMIT_FSIZE, &small) != 0) return 2;
        cache_put_text(folder(), "text", "large", std::string(100000, 'x'));
        put(std::string(100000, 'x'));  // the old entry stays
        return cache_find_text(folder(), "text", "large") || found() != "old" ? 1 : 0;
    }));
    EXPECT_EQ(status, 0);
    EXPECT_EQ(found(), "old");
    EXPECT_EQ(std::distance(fs::directory_iterator(directory_), {}), 1)
        << "nothing half written stays";
}

TEST_F(DiskCache, AFolderThatCannotBeWrittenOnlyLosesSpeed) {
    cache_put_text("/proc/firn", "text", "key", "value");
    EXPECT_FALSE(cache_find_text("/proc/firn", "text", "key"));
}

TEST_F(DiskCache, WhatOthersMayWriteToIsNotUsed) {
    put("value");
    EXPECT_EQ(why_cache_is_not_used(folder()), "");
    for (const mode_t open : {0770, 0707, 0777, 01777}) {
        ASSERT_EQ(chmod(folder().c_str(), open), 0);
        EXPECT_FALSE(found()) << open;
        cache_put_text(folder(), "text", "other", "planted");
        EXPECT_NE(
            why_cache_is_not_used(folder()).find("is not used: others may write to it (mode 7"),
            std::string::npos);
    }
    ASSERT_EQ(chmod(folder().c_str(), 0700), 0);
    EXPECT_EQ(found(), "value");
    EXPECT_FALSE(cache_find_text(folder(), "text", "other"));
}

TEST_F(DiskCache, AFolderOfAnotherUserIsNotUsed) {
    put("value");
    if (chown(folder().c_str(), 12345, 12345) != 0) GTEST_SKIP() << "only root gives folders away";
    EXPECT_FALSE(found());
    EXPECT_NE(why_cache_is_not_used(folder()).find("is not used: it belongs to user 12345"),
              std::string::npos);
}

TEST_F(DiskCache, AnEntryThatOthersMayWriteToIsReplaced) {
    put("value");
    ASSERT_EQ(chmod(file().c_str(), 0666), 0);
    EXPECT_FALSE(found());
    put("value");
    EXPECT_EQ(found(), "value");
    EXPECT_EQ(fs::status(file()).permissions(), fs::perms(0600));
}

TEST_F(DiskCache, ALinkIsNoEntry) {
    put("value");
    const fs::path elsewhere = directory_ / "elsewhere", name = file();
    fs::rename(name, elsewhere);
    fs::create_symlink(elsewhere, name);
    EXPECT_FALSE(found());
    put("new");
    EXPECT_EQ(found(), "new");
    EXPECT_FALSE(fs::is_symlink(name));
}

TEST_F(DiskCache, AFolderIsMadeForItsUserAloneWhateverTheMask) {
    const mode_t before = umask(0);
    put("value");
    umask(before);
    EXPECT_EQ(fs::status(directory_).permissions(), fs::perms(0700));
    EXPECT_EQ(fs::status(file()).permissions(), fs::perms(0600));
    EXPECT_EQ(found(), "value");
}

TEST_F(DiskCache, TidyingKeepsWhatWasUsedLast) {
    const auto now = fs::file_time_type::clock::now();
    for (int k = 0; k < 5; ++k) {
        cache_put_text(folder(), "text", std::to_string(k), std::string(1000, 'x'));
        fs::last_write_time(directory_ / (cache_hash(std::to_string(k)) + ".text"),
                            now - std::chrono::hours(100 - k));
    }
    auto kept = [&](int k) {
        return fs::exists(directory_ / (cache_hash(std::to_string(k)) + ".text"));
    };
    cache_tidy(folder(), 6000);
    for (int k = 0; k < 5; ++k) EXPECT_TRUE(kept(k)) << "all fit";
    EXPECT_TRUE(cache_find_text(folder(), "text", "0")) << "read: it is the newest now";
    cache_tidy(folder(), 2500);
    EXPECT_TRUE(kept(0));
    EXPECT_TRUE(kept(4));
    for (int k : {1, 2, 3}) EXPECT_FALSE(kept(k));
}

TEST_F(DiskCache, TidyingTakesWhatKilledWritersLeftAndNothingOfOthers) {
    put("kept");
    const fs::path left = file().string() + ".1.2.tmp", young = file().string() + ".3.4.tmp",
                   other = directory_ / "notes.txt";
    fs::copy_file(file(), left);
    fs::copy_file(left, young);
    std::ofstream(other) << "not Firn's";
    for (const fs::path& path : {left, other})
        fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(2));
    const fs::path begun = file().string() + ".5.6.tmp";
    std::ofstream(begun).close();
    fs::last_write_time(begun, fs::file_time_type::clock::now() - std::chrono::hours(2));
    cache_tidy(folder(), 0);
    EXPECT_FALSE(fs::exists(left));
    EXPECT_FALSE(fs::exists(begun));
    EXPECT_TRUE(fs::exists(young)) << "another process may be writing it";
    EXPECT_TRUE(fs::exists(other));
    EXPECT_FALSE(found());
    cache_tidy((directory_ / "nowhere").string());
}

TEST_F(DiskCache, TwoProcessesWriteAndReadAtOnce) {
    auto writer = [&](char mine) {
        return [this, mine] {
            for (int iteration = 0; iteration < 200; ++iteration) {
                put(std::string(static_cast<size_t>(1 + iteration * 37), mine));
                const auto text = found();
                if (!text) return 1;
                if (text->find_first_not_of((*text)[0]) != std::string::npos) return 2;
            }
            return 0;
        };
    };
    const pid_t a = in_process(writer('a')), b = in_process(writer('b'));
    EXPECT_EQ(status_of(a), 0);
    EXPECT_EQ(status_of(b), 0);
    EXPECT_EQ(std::distance(fs::directory_iterator(directory_), {}), 1);
}

TEST(Parallel, DoesEveryPieceOnce) {
    std::vector<int> done(1000);
    for_each_in_parallel(done.size(), [&](size_t k) { ++done[k]; });
    EXPECT_EQ(done, std::vector<int>(1000, 1));
    for_each_in_parallel(0, [](size_t) { FAIL(); });
}

TEST(Parallel, ThrowsTheFirstFailure) {
    for (int iteration = 0; iteration < 50; ++iteration) {
        std::string message;
        try {
            for_each_in_parallel(100, [](size_t k) {
                if (k % 10 == 7) throw std::runtime_error(std::to_string(k));
            });
        } catch (const std::runtime_error& error) {
            message = error.what();
        }
        ASSERT_EQ(message, "7");
    }
}

}  // namespace
}  // namespace firn
