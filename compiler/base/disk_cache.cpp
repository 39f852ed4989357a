// A directory of small files that can be made again.
#include "compiler/base/disk_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <random>
#include <utility>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "compiler/base/list_folder.h"

namespace firn {
namespace {

namespace fs = std::filesystem;

/// Stands before the payload of every file. All fields are checked before the payload is used.
struct Header {
    char magic[8];
    uint64_t kind_hash;
    uint64_t bytes;
    uint64_t checksum;
};
constexpr char kMagic[8] = {'f', 'i', 'r', 'n', 'c', 0, 0, 1};  // the last byte is the version

/// Larger files are not ours: nothing that Firn caches comes near.
constexpr uint64_t kMaxBytes = 1ull << 30;

/// An open file or folder.
class Descriptor {
  public:
    explicit Descriptor(int number) : number_(number) {}
    ~Descriptor() { close(); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    explicit operator bool() const { return number_ >= 0; }
    int number() const { return number_; }
    /// Closes the file; returns false if written data may be lost.
    bool close() { return number_ < 0 || ::close(std::exchange(number_, -1)) == 0; }

  private:
    int number_;
};

/// Why others than this user may have written here; empty: only this user.
std::string distrust(const struct stat& status) {
    if (status.st_uid != geteuid()) return "it belongs to user " + std::to_string(status.st_uid);
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) == 0) return "";
    char mode[8];
    std::snprintf(mode, sizeof mode, "%03o", static_cast<unsigned>(status.st_mode & 0777));
    return std::string("others may write to it (mode ") + mode + ")";
}

Descriptor open_folder(const std::string& directory) {
    return Descriptor(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

bool is_trusted(const Descriptor& folder) {
    struct stat status {};
    return folder && fstat(folder.number(), &status) == 0 && distrust(status).empty();
}

std::string file_name(const std::string& kind, const std::string& name) {
    return name + "." + kind;
}

bool read_all(int file, void* to, size_t bytes) {
    auto* at = static_cast<std::byte*>(to);
    while (bytes > 0) {
        const ssize_t done = read(file, at, bytes);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return false;
        at += done, bytes -= static_cast<size_t>(done);
    }
    return true;
}

bool write_all(int file, const void* from, size_t bytes) {
    const auto* at = static_cast<const std::byte*>(from);
    while (bytes > 0) {
        const ssize_t done = write(file, at, bytes);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return false;
        at += done, bytes -= static_cast<size_t>(done);
    }
    return true;
}

/// The whole folder is checked once in this many stores.
constexpr unsigned kStoresPerTidy = 256;
/// No writer needs this long: an older file was left by a writer that was killed.
constexpr auto kLongestWrite = std::chrono::hours(1);

/// Files of any version of Firn begin so; others that lie in the folder are left alone.
bool is_ours(const fs::path& path) {
    char magic[5];
    std::ifstream file(path, std::ios::binary);
    return file.read(magic, sizeof magic) && std::memcmp(magic, kMagic, sizeof magic) == 0;
}

bool is_temporary(const fs::path& path) { return path.extension() == ".tmp"; }

/// Notes that the file was read, because files that are read stay longest. Once a day is often
/// enough.
void note_use(int file, const struct stat& status) {
    constexpr time_t kDay = 24 * 60 * 60;
    if (std::time(nullptr) - status.st_mtim.tv_sec > kDay) futimens(file, nullptr);
}

Header make_header(const std::string& kind, std::span<const std::byte> bytes) {
    Header header{};
    std::memcpy(header.magic, kMagic, sizeof kMagic);
    header.kind_hash = XXH3_64bits(kind.data(), kind.size());
    header.bytes = bytes.size();
    header.checksum = XXH3_64bits(bytes.data(), bytes.size());
    return header;
}

}  // namespace

std::string default_cache_directory() {
    const char* off = std::getenv("FIRN_NO_CACHE");
    if (off && *off && std::strcmp(off, "0") != 0) return "";
    const char* xdg = std::getenv("XDG_CACHE_HOME");
    if (xdg && *xdg) return (fs::path(xdg) / "firn").string();
    const char* home = std::getenv("HOME");
    if (home && *home) return (fs::path(home) / ".cache" / "firn").string();
    return "";
}

std::string cache_hash(std::string_view text) {
    XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
    char digits[33];
    std::snprintf(digits, sizeof digits, "%016llx%016llx",
                  static_cast<unsigned long long>(hash.high64),
                  static_cast<unsigned long long>(hash.low64));
    return digits;
}

std::optional<std::vector<std::byte>> cache_load(const std::string& directory,
                                                 const std::string& kind, const std::string& name) {
    if (directory.empty()) return std::nullopt;
    const Descriptor folder = open_folder(directory);
    if (!is_trusted(folder)) return std::nullopt;
    // Opened once: another process may put another file in its place at any moment.
    const Descriptor file(
        openat(folder.number(), file_name(kind, name).c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    struct stat status {};
    if (!file || fstat(file.number(), &status) != 0) return std::nullopt;
    if (!S_ISREG(status.st_mode) || !distrust(status).empty()) return std::nullopt;
    const auto size = static_cast<uint64_t>(status.st_size);
    if (size < sizeof(Header) || size > kMaxBytes) return std::nullopt;
    Header header;
    if (!read_all(file.number(), &header, sizeof header)) return std::nullopt;
    if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0) return std::nullopt;
    if (header.bytes != size - sizeof(Header)) return std::nullopt;
    std::vector<std::byte> bytes(header.bytes);
    if (!read_all(file.number(), bytes.data(), bytes.size())) return std::nullopt;
    Header expected = make_header(kind, bytes);
    if (std::memcmp(&header, &expected, sizeof header) != 0) return std::nullopt;
    note_use(file.number(), status);
    return bytes;
}

void cache_store(const std::string& directory, const std::string& kind, const std::string& name,
                 std::span<const std::byte> bytes) {
    if (directory.empty()) return;
    std::error_code error;
    fs::create_directories(fs::path(directory).parent_path(), error);
    mkdir(directory.c_str(), 0700);  // whatever the mask: no other user may write to it
    const Descriptor folder = open_folder(directory);
    if (!is_trusted(folder)) return;
    // A name of its own per writer, so that two processes never write into one file.
    std::random_device random;
    const std::string target = file_name(kind, name);
    const std::string temporary =
        target + "." + std::to_string(getpid()) + "." + std::to_string(random()) + ".tmp";
    Descriptor file(openat(folder.number(), temporary.c_str(),
                           O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file) return;
    const Header header = make_header(kind, bytes);
    bool written = write_all(file.number(), &header, sizeof header) &&
                   write_all(file.number(), bytes.data(), bytes.size());
    written = file.close() && written;
    if (!written ||
        renameat(folder.number(), temporary.c_str(), folder.number(), target.c_str()) != 0)
        unlinkat(folder.number(), temporary.c_str(), 0);
    if (random() % kStoresPerTidy == 0) cache_tidy(directory);
}

std::string why_cache_is_not_used(const std::string& directory) {
    struct stat status {};
    if (directory.empty() || stat(directory.c_str(), &status) != 0) return "";
    const std::string why = S_ISDIR(status.st_mode) ? distrust(status) : "it is no folder";
    if (why.empty()) return "";
    return "cache folder " + directory + " is not used: " + why +
           "; make it yours alone (chmod 700), or set XDG_CACHE_HOME to another";
}

void cache_tidy(const std::string& directory, uint64_t most_bytes) {
    if (!is_trusted(open_folder(directory))) return;
    struct Entry {
        fs::file_time_type used;
        uint64_t bytes;
        fs::path path;
    };
    std::vector<Entry> entries;
    uint64_t total = 0;
    std::error_code error;
    const auto now = fs::file_time_type::clock::now();
    // Other processes may remove files meanwhile: missing ones are skipped.
    for (const std::string& name : list_folder(directory).names) {
        std::error_code gone;
        const fs::path path = fs::path(directory) / name;
        if (!fs::is_regular_file(path, gone)) continue;
        const auto used = fs::last_write_time(path, gone);
        const uint64_t bytes = gone ? 0 : fs::file_size(path, gone);
        const bool begun = bytes == 0 && is_temporary(path);
        if (gone || (!begun && !is_ours(path))) continue;
        if (!is_temporary(path)) {
            entries.push_back({used, bytes, path});
            total += bytes;
        } else if (now - used > kLongestWrite) {
            fs::remove(path, gone);
        }
    }
    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return a.used < b.used; });
    for (const Entry& entry : entries) {
        if (total <= most_bytes) break;
        if (fs::remove(entry.path, error)) total -= entry.bytes;
    }
}

std::optional<std::string> cache_find_text(const std::string& directory, const std::string& kind,
                                           const std::string& key) {
    const auto bytes = cache_load(directory, kind, cache_hash(key));
    if (!bytes) return std::nullopt;
    const std::string all(reinterpret_cast<const char*>(bytes->data()), bytes->size());
    const std::string head = key + '\0';
    if (all.compare(0, head.size(), head) != 0) return std::nullopt;
    return all.substr(head.size());
}

void cache_put_text(const std::string& directory, const std::string& kind, const std::string& key,
                    const std::string& text) {
    const std::string all = key + '\0' + text;
    cache_store(directory, kind, cache_hash(key), std::as_bytes(std::span(all)));
}

}  // namespace firn
