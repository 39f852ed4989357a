// A directory of small files that can be made again.
#include "compiler/program/disk_cache.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#define XXH_INLINE_ALL
#include <xxhash.h>

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

fs::path file_of(const std::string& directory, const std::string& kind, const std::string& name) {
    return fs::path(directory) / (name + "." + kind);
}

/// One store in so many looks after the whole folder.
constexpr unsigned kStoresPerTidy = 256;
/// Writers need less; what is older was left by one that was killed.
constexpr auto kLongestWrite = std::chrono::hours(1);

/// Files of any version of Firn begin so; others that lie in the folder are left alone.
bool is_ours(const fs::path& path) {
    char magic[5];
    std::ifstream file(path, std::ios::binary);
    return file.read(magic, sizeof magic) && std::memcmp(magic, kMagic, sizeof magic) == 0;
}

bool is_temporary(const fs::path& path) { return path.extension() == ".tmp"; }

/// What is read stays longest. Once a day is often enough.
void note_use(const fs::path& path) {
    std::error_code error;
    const auto now = fs::file_time_type::clock::now(), used = fs::last_write_time(path, error);
    if (!error && now - used > std::chrono::hours(24)) fs::last_write_time(path, now, error);
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
    // Opened once: another process may put another file in its place at any moment.
    std::ifstream file(file_of(directory, kind, name), std::ios::binary | std::ios::ate);
    if (!file) return std::nullopt;
    const auto size = static_cast<uint64_t>(std::max<std::streamoff>(0, file.tellg()));
    if (size < sizeof(Header) || size > kMaxBytes) return std::nullopt;
    file.seekg(0);
    Header header;
    if (!file.read(reinterpret_cast<char*>(&header), sizeof header)) return std::nullopt;
    if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0) return std::nullopt;
    if (header.bytes != size - sizeof(Header)) return std::nullopt;
    std::vector<std::byte> bytes(header.bytes);
    if (!file.read(reinterpret_cast<char*>(bytes.data()),
                   static_cast<std::streamsize>(bytes.size())))
        return std::nullopt;
    Header expected = make_header(kind, bytes);
    if (std::memcmp(&header, &expected, sizeof header) != 0) return std::nullopt;
    note_use(file_of(directory, kind, name));
    return bytes;
}

void cache_store(const std::string& directory, const std::string& kind, const std::string& name,
                 std::span<const std::byte> bytes) {
    if (directory.empty()) return;
    std::error_code error;
    fs::create_directories(directory, error);
    if (error) return;
    // A name of its own per writer, so that two processes never write into one file.
    std::random_device random;
    fs::path target = file_of(directory, kind, name);
    fs::path temporary = target;
    temporary += "." + std::to_string(getpid()) + "." + std::to_string(random()) + ".tmp";
    Header header = make_header(kind, bytes);
    bool written = false;
    {
        std::ofstream file(temporary, std::ios::binary);
        file.write(reinterpret_cast<const char*>(&header), sizeof header);
        file.write(reinterpret_cast<const char*>(bytes.data()),
                   static_cast<std::streamsize>(bytes.size()));
        file.close();
        written = file.good();
    }
    if (written) fs::rename(temporary, target, error);
    if (!written || error) fs::remove(temporary, error);
    if (random() % kStoresPerTidy == 0) cache_tidy(directory);
}

void cache_tidy(const std::string& directory, uint64_t most_bytes) {
    struct Entry {
        fs::file_time_type used;
        uint64_t bytes;
        fs::path path;
    };
    std::vector<Entry> entries;
    uint64_t total = 0;
    std::error_code error;
    const auto now = fs::file_time_type::clock::now();
    // Other processes take files away while this one looks: what is gone is passed over.
    for (fs::directory_iterator at(directory, error), end; !error && at != end;
         at.increment(error)) {
        std::error_code gone;
        if (!at->is_regular_file(gone)) continue;
        const auto used = at->last_write_time(gone);
        const uint64_t bytes = gone ? 0 : at->file_size(gone);
        const bool begun = bytes == 0 && is_temporary(at->path());
        if (gone || (!begun && !is_ours(at->path()))) continue;
        if (!is_temporary(at->path())) {
            entries.push_back({used, bytes, at->path()});
            total += bytes;
        } else if (now - used > kLongestWrite) {
            fs::remove(at->path(), gone);
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
