// Kernel times as a Chrome trace.
#include "apps/common/trace.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "compiler/program/error.h"

namespace firn {

std::string trace_text(const std::vector<FrameTimes>& frames) {
    using Json = nlohmann::ordered_json;
    Json events = Json::array();
    double now = 0;  // microseconds
    auto event = [](const std::string& name, double begin, double length, int track) {
        return Json{{"name", name},  {"ph", "X"}, {"ts", begin},
                    {"dur", length}, {"pid", 1},  {"tid", track}};
    };
    for (const FrameTimes& frame : frames) {
        double begin = now;
        for (const KernelTime& kernel : frame.kernels) {
            double length = kernel.milliseconds * kernel.dispatches * 1e3;
            Json kernel_event = event(kernel.name, now, length, 2);
            kernel_event["args"] = {{"dispatches", kernel.dispatches},
                                    {"milliseconds each", kernel.milliseconds}};
            events.push_back(kernel_event);
            now += length;
        }
        events.push_back(event("frame " + std::to_string(frame.frame), begin, now - begin, 1));
    }
    return Json{{"traceEvents", events}}.dump() + "\n";
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
                        ": cannot be written; name one in a folder that can be written to");
    }
}

}  // namespace firn
