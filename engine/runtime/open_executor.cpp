// A device that runs programs.
#include "engine/runtime/open_executor.h"

#include "compiler/base/disk_cache.h"
#include "engine/runtime/vulkan_executor.h"

namespace firn {

std::shared_ptr<Executor> open_executor(const ExecutorOptions& options) {
    DeviceOptions device;
    device.device = options.device;
    device.validation = options.validation;
    device.cache_directory = default_cache_directory();
    return std::make_shared<VulkanExecutor>(Device::create(device));
}

std::string validation_report(const Executor& executor) {
    std::string report;
    if (const auto* vulkan = dynamic_cast<const VulkanExecutor*>(&executor))
        for (const std::string& message : vulkan->device().validation_messages())
            report += message + "\n";
    return report;
}

}  // namespace firn
