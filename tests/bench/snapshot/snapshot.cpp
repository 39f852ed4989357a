// The firn_snapshot program: the compiler's output for every bench case and for random programs, as
// text. Runs nothing.
#include <firn/firn.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/bench/snapshot/texts.h"
#include "tests/excess_sum.h"

namespace {

using namespace firn;
namespace fs = std::filesystem;

constexpr const char* kUsage =
    R"(usage: firn_snapshot FOLDER [--programs N] [--only CASE]

Compiles every case of firn_bench and of firn_bench_gradients (gradient_CASE), and N random programs (400), for the reference profiles of all classes of device, and
writes into FOLDER/cpu, FOLDER/gpu and FOLDER/native a file of code (GLSL, LLVM IR) and one of explanations for each. No device is needed,
nothing runs: what a program would read from one is zeros. Says at the end how much more than the work of their values kernels do, and how
many were cut for that (computed-too-often in the explanations).
)";

struct Options {
    fs::path folder;
    uint64_t programs = 400;
    std::string only;
};

Options parse(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string name = argv[i];
        if (name == "--help" || name == "-h") {
            std::fputs(kUsage, stdout);
            std::exit(0);
        }
        if (name.rfind("--", 0) != 0) {
            options.folder = name;
            continue;
        }
        if (name != "--programs" && name != "--only")
            throw UserError("there is no option '" + name + "'; see --help");
        if (++i == argc) throw UserError(name + " needs a value; see --help");
        if (name == "--only")
            options.only = argv[i];
        else
            options.programs = std::strtoull(argv[i], nullptr, 10);
    }
    if (options.folder.empty()) throw UserError("name a folder to write to; see --help");
    return options;
}

void write(const fs::path& path, const std::string& text) {
    std::ofstream file(path, std::ios::binary);
    if (!(file << text << std::flush)) throw UserError("cannot write " + path.string());
}

/// Writes the compiler's output for a program as files of its name.
void keep(const fs::path& folder, const RecordedProgram& program, const DeviceProfile& profile) {
    const bool is_native = profile.device_class == DeviceClass::Native;
    // The build of GLSL finds errors in the text; that of native code takes minutes.
    const ProgramText text = text_of(program, profile, !is_native);
    write(folder / (program.name + (is_native ? ".ll" : ".comp")), text.code);
    write(folder / (program.name + ".explain"), text.explained);
}

void snapshot(const Options& options, const std::string& device, const DeviceProfile& profile) {
    const fs::path folder = options.folder / device;
    fs::create_directories(folder);
    for (const RecordedProgram& program : bench_programs()) {
        if (!options.only.empty() && program.name != options.only) continue;
        std::fprintf(stderr, "%s %s\n", device.c_str(), program.name.c_str());
        keep(folder, program, profile);
    }
    if (!options.only.empty()) return;
    for (uint64_t seed = 0; seed < options.programs; ++seed)
        if (const auto program = random_program(seed)) keep(folder, *program, profile);
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const Options options = parse(argc, argv);
        count_excess();
        snapshot(options, "cpu", cpu_profile());
        snapshot(options, "gpu", gpu_profile());
        snapshot(options, "native", native_profile());
        std::printf("%s\n", text(counted_excess()).c_str());
    } catch (const std::exception& error) {
        std::fprintf(stderr, "firn_snapshot: %s\n", error.what());
        return 1;
    }
    return 0;
}
