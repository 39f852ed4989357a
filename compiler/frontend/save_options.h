// The devices and sizes that a saved program is made for.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace firn {

/// The devices and sizes that a file has programs for.
struct SaveOptions {
    /// `vulkan`: Vulkan devices like the session's, or like a driver for the CPU if that runs
    /// native code. `vulkan-least`: all devices of Vulkan 1.2, whatever features a host made them
    /// with; slower, and without what needs one (f64, i64, f16 and narrow integers in memory).
    /// `cpu`: native code for this processor. The name of a processor, as save_native
    /// takes it: native code for it and for all above it. Empty: `vulkan`, and `cpu` too in a
    /// session that runs native code.
    std::vector<std::string> devices = {};
    /// Sizes of the symbols that the function declares. Calls with exactly these run a program that
    /// was made for them, which is faster; all others run one that serves all sizes. One entry
    /// without symbols: no such program. Empty: those of the call.
    std::vector<std::vector<std::pair<std::string, int64_t>>> sizes = {};
    /// Programs for calls in which every size is a multiple of such a number and at most 16384.
    /// They load whole vectors and need fewer guards than the program for all sizes. They are made
    /// for Vulkan devices. Empty: none.
    std::vector<int64_t> multiples = {64, 4};
    /// The names of arguments and results in the file, in their order, by which hosts tell them
    /// apart. A name that is empty or missing is that of the Param, or none.
    std::vector<std::string> arguments = {}, results = {};
};

}  // namespace firn
