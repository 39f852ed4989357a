// A device that runs programs, for who brings none of his own and includes no Vulkan.
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

/// What the validation layers said so far, one message a line; empty where they are off or silent.
std::string validation_report(const Executor& executor);

}  // namespace firn
