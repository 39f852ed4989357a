// The firn_snapshot program: the compiler's output for every bench case and for random programs, as
// text. Runs nothing.
#include <firn/firn.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "compiler/driver/explain.h"
#include "compiler/program/executor.h"
#include "tests/bench/bench.h"
#include "tests/bench/gradients/gradients.h"
#include "tests/excess_sum.h"
#include "tests/programs/generate.h"
#include "tests/programs/record.h"
#include "tests/programs/reference.h"

namespace {

using namespace firn;
namespace fs = std::filesystem;

constexpr const char* kUsage =
    R"(usage: firn_snapshot FOLDER [--programs N] [--only CASE]

Compiles every case of firn_bench and of firn_bench_gradients (gradient_CASE), and N random programs (400), for the reference profiles of both classes of device, and
writes into FOLDER/cpu and FOLDER/gpu a file of GLSL and one of explanations for each. No device is needed, nothing runs:
what a program would read from one is zeros. Says at the end how much more than the work of their values kernels do, and how
many were cut for that (computed-too-often in the explanations).
)";

class Zeros : public Memory {
  public:
    explicit Zeros(uint64_t bytes) : bytes_(bytes) {}
    uint64_t bytes() const override { return bytes_; }

  private:
    uint64_t bytes_;
};

/// Runs nothing, and keeps the text of every program that it is given.
class TextKeeper : public Executor {
  public:
    explicit TextKeeper(DeviceProfile profile) : profile_(std::move(profile)) {}

    const DeviceProfile& profile() const override { return profile_; }
    std::shared_ptr<Memory> allocate(uint64_t bytes, const std::string&) override {
        return std::make_shared<Zeros>(bytes);
    }
    void write(Memory&, uint64_t, std::span<const std::byte>) override {}
    void read(const Memory&, uint64_t, std::span<std::byte> data) override {
        std::fill(data.begin(), data.end(), std::byte{});
    }
    void wait() override {}

    void run(const std::shared_ptr<const Program>& program, const Call&) override {
        if (!seen_.insert(program).second) return;
        for (const KernelInfo& kernel : program->kernels)
            glsl += "==== " + kernel.name + "\n" + kernel.artefact.text;
        explained += explain(*program);
    }

    std::string glsl, explained;

  private:
    DeviceProfile profile_;
    std::set<std::shared_ptr<const Program>> seen_;
};

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

/// Writes the compiler's output for `work` as files of that name. An error is part of it.
template <class Work>
void keep(const fs::path& folder, const std::string& name, const DeviceProfile& profile,
          const Work& work) {
    const auto keeper = std::make_shared<TextKeeper>(profile);
    {
        const Session session{std::static_pointer_cast<Executor>(keeper)};
        session.compile_in_background(false);  // else the compiled programs depend on timing
        SessionScope scope(session);
        try {
            work(session);
        } catch (const std::exception& error) {
            keeper->glsl += std::string("==== error: ") + error.what() + "\n";
        }
    }
    write(folder / (name + ".comp"), keeper->glsl);
    write(folder / (name + ".explain"), keeper->explained);
}

void snapshot(const Options& options, const std::string& device, const DeviceProfile& profile) {
    const fs::path folder = options.folder / device;
    fs::create_directories(folder);
    for (const bench::Case& one : bench::all_cases()) {
        if (!options.only.empty() && one.name != options.only) continue;
        std::fprintf(stderr, "%s %s\n", device.c_str(), one.name.c_str());
        keep(folder, one.name, profile, [&](const Session&) { one.make().firn(); });
    }
    for (const bench::GradientCase& one : bench::gradient_cases()) {
        const std::string name = "gradient_" + one.name;
        if (!options.only.empty() && name != options.only) continue;
        std::fprintf(stderr, "%s %s\n", device.c_str(), name.c_str());
        keep(folder, name, profile, [&](const Session&) {
            const bench::GradientContest contest = one.make();
            contest.objective.run();
            contest.gradient.run();
        });
    }
    if (!options.only.empty()) return;
    for (uint64_t seed = 0; seed < options.programs; ++seed) {
        const programs::Program program = programs::generate(seed);
        const auto way = static_cast<programs::Way>(seed % programs::kWays);
        std::vector<programs::Call> calls;
        try {
            calls = programs::calls_of(program, way);
        } catch (const std::exception&) {
            continue;  // the reference cannot run it
        }
        keep(folder, "program_" + std::to_string(seed), profile,
             [&](const Session& session) { programs::record(program, way, calls, session); });
    }
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const Options options = parse(argc, argv);
        count_excess();
        snapshot(options, "cpu", cpu_profile());
        snapshot(options, "gpu", gpu_profile());
        std::printf("%s\n", text(counted_excess()).c_str());
    } catch (const std::exception& error) {
        std::fprintf(stderr, "firn_snapshot: %s\n", error.what());
        return 1;
    }
    return 0;
}
