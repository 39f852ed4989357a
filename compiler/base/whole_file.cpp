// Reading and writing by descriptors, so that every failure has its reason.
#include "compiler/base/whole_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "compiler/base/error.h"
#include "compiler/base/long_work.h"

namespace firn {
namespace {

/// Closes it at the end, and removes the file where that is not done by then.
class OpenedFile {
  public:
    OpenedFile(const std::string& path, int flags)
        : path_(path), number_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
    OpenedFile(const OpenedFile&) = delete;
    OpenedFile& operator=(const OpenedFile&) = delete;
    ~OpenedFile() {
        if (number_ >= 0) ::close(number_);
        if (number_ >= 0 && remove_) unlink(path_.c_str());
    }
    int number() const { return number_; }
    void remove_unless_done() { remove_ = true; }
    void done() { remove_ = false; }

  private:
    std::string path_;
    int number_;
    bool remove_ = false;
};

std::string file_reason() { return std::strerror(errno); }

bool write_all(int file, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t count = ::write(file, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        bytes.remove_prefix(static_cast<size_t>(count));
    }
    return true;
}

}  // namespace

std::vector<std::byte> read_whole_file(const std::string& path) {
    const OpenedFile file(path, O_RDONLY);
    const auto fail = [&] {
        throw UserError("file " + path + ": cannot be read: " + file_reason());
    };
    if (file.number() < 0) fail();
    std::vector<std::byte> bytes;
    struct stat facts {};
    const double whole = fstat(file.number(), &facts) == 0 ? double(facts.st_size) : 0;
    LongWork work;
    constexpr size_t kPart = size_t{1} << 20;
    // Reserves room for all of it at once, because growing vectors copy their elements.
    const size_t expected = whole > 0 ? static_cast<size_t>(facts.st_size) : 0;
    try {
        bytes.reserve(expected + 1);
    } catch (const std::exception&) {
        throw UserError("file " + path + ": cannot be read: its " + std::to_string(expected) +
                        " bytes are more than the memory that there is");
    }
    for (size_t size = 0;;) {
        char text[64];
        std::snprintf(text, sizeof text, ", %.0f of %.0f MB", double(size) * 1e-6, whole * 1e-6);
        work.tell_or_end({"loading " + path + text, whole > 0 ? double(size) / whole : -1});
        const size_t part = size < expected    ? std::min(kPart, expected - size)
                            : size == expected ? 1  // which is not there, unless the file grows
                                               : kPart;
        bytes.resize(size + part);
        const ssize_t count = ::read(file.number(), bytes.data() + size, bytes.size() - size);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) fail();
        size += static_cast<size_t>(count);
        bytes.resize(size);
        if (count == 0) return bytes;
    }
}

size_t read_file_part(const std::string& path, uint64_t at, std::byte* to, size_t count) {
    const OpenedFile file(path, O_RDONLY);
    constexpr size_t kPart = size_t{1} << 26;  // a tenth of a second, after which Ctrl-C is heard
    LongWork work;
    size_t done = 0;
    while (done < count) {
        char text[64];
        std::snprintf(text, sizeof text, ", %.0f of %.0f MB", double(done) * 1e-6,
                      double(count) * 1e-6);
        work.tell_or_end({"loading " + path + text, double(done) / double(count)});
        const ssize_t got = file.number() < 0
                                ? -1
                                : ::pread(file.number(), to + done, std::min(kPart, count - done),
                                          static_cast<off_t>(at + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) throw UserError("file " + path + ": cannot be read: " + file_reason());
        if (got == 0) break;
        done += static_cast<size_t>(got);
    }
    return done;
}

uint64_t size_of_file(const std::string& path) {
    struct stat facts {};
    if (stat(path.c_str(), &facts) != 0)
        throw UserError("file " + path + ": cannot be read: " + file_reason());
    return static_cast<uint64_t>(facts.st_size);
}

void write_whole_file(const std::string& path, const std::vector<std::string_view>& parts) {
    const std::string temporary = path + "." + std::to_string(getpid()) + ".part";
    OpenedFile file(temporary, O_WRONLY | O_CREAT | O_TRUNC);
    const auto fail = [&] {
        throw UserError("file " + path + ": cannot be written: " + file_reason() +
                        "; an old file stays unchanged");
    };
    if (file.number() < 0) fail();
    file.remove_unless_done();
    for (std::string_view part : parts)
        if (!write_all(file.number(), part)) fail();
    if (fsync(file.number()) != 0 && errno != EINVAL) fail();
    if (std::rename(temporary.c_str(), path.c_str()) != 0) fail();
    file.done();
}

}  // namespace firn
