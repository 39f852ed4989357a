// Whole text files.
#include "engine/window/text_file.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "compiler/base/error.h"

namespace firn {

std::string read_text_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    if (!file)
        throw UserError("file " + path +
                        ": there is no such file, or it cannot be read; choose another");
    return text.str();
}

void write_text_file(const std::string& path, const std::string& text) {
    std::string temporary = path + "." + std::to_string(getpid()) + ".part";
    std::error_code error;
    bool written = false;
    {
        std::ofstream file(temporary, std::ios::binary);
        written = static_cast<bool>(file << text) && static_cast<bool>(file.flush());
    }
    if (written) std::filesystem::rename(temporary, path, error);
    if (!written || error) {
        std::filesystem::remove(temporary, error);
        throw UserError("file " + path +
                        ": cannot be saved; choose a file in a folder that is writable");
    }
}

}  // namespace firn
