// The readers of files, each with files that it reads.
#pragma once
#include <functional>
#include <string>
#include <vector>

namespace firn {

struct FuzzFormat {
    const char* name;
    /// Whole files of this format, made by what writes them.
    std::function<std::vector<std::string>()> seeds;
    /// Reads a file of these bytes; throws UserError where it is refused.
    std::function<void(const std::string& bytes)> read;
    /// Makes checksums right again, without which nothing behind them is reached.
    void (*mend)(std::string& bytes);
    /// Files grow no larger, so that a run is short.
    size_t most_bytes = 4096;
    /// Returns a line that is printed after all runs; null: none.
    std::string (*notes)() = nullptr;
};
const std::vector<FuzzFormat>& fuzz_formats();

}  // namespace firn
