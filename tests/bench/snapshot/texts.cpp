// The compiler's output as text, by an executor that runs nothing.
#include "tests/bench/snapshot/texts.h"

#include <algorithm>
#include <memory>
#include <set>
#include <span>

#include "compiler/driver/explain.h"
#include "compiler/frontend/record.h"
#include "compiler/program/executor.h"
#include "tests/bench/bench.h"
#include "tests/bench/gradients/gradients.h"
#include "tests/programs/generate.h"
#include "tests/programs/record.h"
#include "tests/programs/reference.h"

namespace firn {
namespace {

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
            text.code += "==== " + kernel.name + "\n" + kernel.artefact.text;
        text.explained += explain(*program);
    }

    ProgramText text;

  private:
    DeviceProfile profile_;
    std::set<std::shared_ptr<const Program>> seen_;
};

}  // namespace

std::vector<RecordedProgram> bench_programs() {
    std::vector<RecordedProgram> programs;
    for (const bench::Case& one : bench::all_cases())
        programs.push_back({one.name, [one](const Session&) { one.make().firn(); }});
    for (const bench::GradientCase& one : bench::gradient_cases())
        programs.push_back({"gradient_" + one.name, [one](const Session&) {
                                const bench::GradientContest contest = one.make();
                                contest.objective.run();
                                contest.gradient.run();
                            }});
    return programs;
}

std::optional<RecordedProgram> random_program(uint64_t seed) {
    const programs::Program program = programs::generate(seed);
    const auto way = static_cast<programs::Way>(seed % programs::kWays);
    try {
        const std::vector<programs::Call> calls = programs::calls_of(program, way);
        return RecordedProgram{"program_" + std::to_string(seed), [=](const Session& session) {
                                   programs::record(program, way, calls, session);
                               }};
    } catch (const std::exception&) {
        return std::nullopt;
    }
}

ProgramText text_of(const RecordedProgram& program, const DeviceProfile& profile, bool builds) {
    const auto keeper = std::make_shared<TextKeeper>(profile);
    const Session session{std::static_pointer_cast<Executor>(keeper)};
    session.compile_in_background(false);  // else the compiled programs depend on timing
    if (!builds) session.state()->emission = Emission::Text;
    SessionScope scope(session);
    try {
        program.record(session);
    } catch (const std::exception& error) {
        keeper->text.code += std::string("==== error: ") + error.what() + "\n";
    }
    return keeper->text;
}

}  // namespace firn
