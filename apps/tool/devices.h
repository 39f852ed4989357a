// The devices on which the tool runs a saved program.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "compiler/program/executor.h"
#include "compiler/program/saved_program.h"

namespace firn::tool {

/// Opens the device of that number or name; `cpu` is native code of the processor. Empty: the value
/// of FIRN_DEVICE, else the best one that the file has a program for: a GPU, else native code, else
/// a Vulkan driver for the CPU. Throws UserError (no such device) or DeviceError (no driver).
std::shared_ptr<Executor> open_device(const SavedProgram& saved, const std::string& wanted);

/// A device that was tried.
struct TriedDevice {
    std::string kind;                    // `Vulkan`, `native code`
    std::shared_ptr<Executor> executor;  // null: it cannot be used
    std::string why_not;
};
/// A Vulkan device and native code, as far as the file has programs for them, or the one that is
/// wanted.
std::vector<TriedDevice> try_devices(const SavedProgram& saved, const std::string& wanted);

/// `Vulkan device llvmpipe`, `native code for x86-64-v3`.
std::string device_name(const Executor& executor);

}  // namespace firn::tool
