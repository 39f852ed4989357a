// Picture files that are written beside their places first.
#include "engine/pictures/whole_picture.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include "engine/pictures/samples.h"

namespace firn {

void write_whole_picture(const std::string& path, const Callback<bool(FILE*)>& write) {
    const std::string temporary = path + "." + std::to_string(getpid()) + ".part";
    using File = std::unique_ptr<FILE, int (*)(FILE*)>;
    errno = 0;
    File file(std::fopen(temporary.c_str(), "wb"), std::fclose);
    bool written = false;
    try {
        written = file && write(file.get()) && std::ferror(file.get()) == 0;
    } catch (...) {
        std::remove(temporary.c_str());
        throw;
    }
    if (file) written = std::fclose(file.release()) == 0 && written;  // what was left in memory
    std::string reason = errno ? std::strerror(errno) : "disk full?";
    std::error_code error;
    if (written) std::filesystem::rename(temporary, path, error);
    if (!written || error) {
        if (error) reason = error.message();
        std::filesystem::remove(temporary, error);
        fail_picture(path, "cannot be written (" + reason +
                               "); name a file in a folder that exists and can be written to");
    }
}

}  // namespace firn
