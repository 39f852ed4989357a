// An executor that only runs programs read back from the bytes of a saved program.
#pragma once
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/error.h"
#include "compiler/frontend/session.h"
#include "compiler/program/executor.h"
#include "compiler/program/saved_program.h"
#include "engine/gpu/module_needs.h"

namespace firn {

/// The program by itself: the call has its own data.
inline SavedProgram saved_alone(const std::shared_ptr<const Program>& program) {
    SavedProgram saved;
    saved.name = program->name;
    saved.program = program;
    for (const ArgumentInfo& argument : program->arguments) {
        saved.scalars.push_back(Scalar().to(argument.dtype));
        saved.shapes.emplace_back(argument.shape.size());
    }
    return saved;
}

/// Returns a need that the module of some kernel declares and the kernel does not state; empty:
/// none.
inline std::string unstated_need(const Program& program) {
    using Row = std::pair<bool DeviceNeeds::*, const char*>;
    for (KernelInfo kernel : program.kernels) {
        const DeviceNeeds stated = std::exchange(kernel.needs, {}), declared = needs_of(kernel);
        for (const auto& [need, name] :
             {Row{&DeviceNeeds::f64, "f64"}, Row{&DeviceNeeds::i64, "i64"},
              Row{&DeviceNeeds::bits_16, "bits_16"}, Row{&DeviceNeeds::bits_8, "bits_8"},
              Row{&DeviceNeeds::subgroups, "subgroups"},
              Row{&DeviceNeeds::wide_atomics, "wide_atomics"},
              Row{&DeviceNeeds::float_atomics, "float_atomics"},
              Row{&DeviceNeeds::addresses, "addresses"}})
            if (declared.*need && !(stated.*need)) return kernel.name + ": " + name;
    }
    return {};
}

/// Passes all on to the executor of a session, every program through its bytes, which are the same
/// again when the program that was read is saved.
class SavingExecutor : public Executor {
  public:
    explicit SavingExecutor(Session session)
        : session_(std::move(session)), runs_(session_.executor()) {}

    const DeviceProfile& profile() const override { return runs_.profile(); }
    std::shared_ptr<Memory> allocate(uint64_t bytes, const std::string& name) override {
        return runs_.allocate(bytes, name);
    }
    void write(Memory& memory, uint64_t offset, std::span<const std::byte> data) override {
        runs_.write(memory, offset, data);
    }
    void read(const Memory& memory, uint64_t offset, std::span<std::byte> data) override {
        runs_.read(memory, offset, data);
    }
    const std::byte* mapped(const Memory& memory) override { return runs_.mapped(memory); }
    std::byte* map_for_writing(Memory& memory) override { return runs_.map_for_writing(memory); }
    void run(const std::shared_ptr<const Program>& program, const Call& call) override {
        Entry& entry = read_[program.get()];
        if (entry.of.lock() != program) entry = {program, read_back(program)};
        runs_.run(entry.read, call);
    }
    void wait() override { runs_.wait(); }
    const Session& session() const { return session_; }
    /// Programs that were read.
    size_t programs() const { return read_.size(); }

  private:
    struct Entry {
        std::weak_ptr<const Program> of;
        std::shared_ptr<const Program> read;
    };
    static std::shared_ptr<const Program> read_back(const std::shared_ptr<const Program>& program) {
        const std::vector<std::byte> bytes = program_bytes(saved_alone(program));
        const SavedProgram read = program_from_bytes(bytes, program->name);
        // Random programs run in processes of their own, which do not report expectations.
        if (program_bytes(read) != bytes)
            throw InternalError("program " + program->name + " is another one once it was read");
        if (const std::string need = unstated_need(*program); !need.empty())
            throw InternalError("program " + program->name + " has an unstated need: " + need);
        return read.program;
    }

    Session session_;
    Executor& runs_;
    std::map<const Program*, Entry> read_;
};

}  // namespace firn
