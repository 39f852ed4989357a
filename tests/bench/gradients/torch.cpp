// The same gradients by PyTorch, from files with the same arguments.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/bench/gradients/gradients.h"

namespace firn::bench {
namespace {

constexpr const char* kScript = FIRN_SOURCE_DIR "/tests/bench/gradients/torch_gradients.py";

std::string file_of(const std::string& folder, const std::string& what, size_t k) {
    return folder + "/" + what + std::to_string(k);
}

void write(const std::string& path, const Tensor& x) {
    const std::vector<float> values = x.as(f32).to_vector<float>();
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()),
              static_cast<std::streamsize>(values.size() * sizeof(float)));
}

std::vector<float> read(const std::string& path, size_t count) {
    std::vector<float> out(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(out.data()),
            static_cast<std::streamsize>(count * sizeof(float)));
    if (!in) out.assign(count, NAN);
    return out;
}

}  // namespace

TorchGradient torch_gradient(const std::string& name, const std::vector<Tensor>& args,
                             const std::vector<Tensor>& results) {
    const std::string folder =
        (std::filesystem::temp_directory_path() / ("firn_gradients_" + std::to_string(getpid())))
            .string();
    std::filesystem::create_directories(folder);
    std::string command = std::string("python3 '") + kScript + "' " + name + " '" + folder + "' " +
                          std::to_string(results.size());
    for (size_t k = 0; k < args.size(); ++k) {
        write(file_of(folder, "x", k), args[k]);
        std::string shape;
        for (const Size& size : Shape(args[k].shape()))
            shape += (shape.empty() ? "" : ",") + size.text();
        command += " '" + shape + "'";
    }
    TorchGradient out;
    FILE* pipe = popen((command + " 2> /dev/null").c_str(), "r");
    const bool timed =
        pipe && std::fscanf(pipe, "%lf %lf %lf", &out.value, &out.gradient, &out.peak_bytes) == 3;
    if (pipe) pclose(pipe);
    for (size_t k = 0; timed && k < results.size(); ++k) {
        const std::vector<float> own = results[k].to_vector<float>();
        out.difference = std::max(
            out.difference, relative_difference(own, read(file_of(folder, "g", k), own.size())));
    }
    std::filesystem::remove_all(folder);
    return timed ? out : TorchGradient{};
}

}  // namespace firn::bench
