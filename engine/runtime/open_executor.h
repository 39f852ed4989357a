// A device that runs programs, for callers without a device of their own that include no Vulkan.
#pragma once
#include <memory>
#include <string>

#include "compiler/program/executor.h"

namespace firn {

struct ExecutorOptions {
    std::string device;       // number or part of a name; empty: the best there is
    bool validation = false;  // the layers of Khronos look at every call
};
/// An executor on a device of its own, with pipelines kept between runs in Firn's cache. UserError:
/// no such device (lists them); DeviceError: no loader, no driver.
std::shared_ptr<Executor> open_executor(const ExecutorOptions& options = {});

/// Returns the messages of the validation layers so far, one a line; empty if they are off or
/// silent.
std::string validation_report(const Executor& executor);

}  // namespace firn
