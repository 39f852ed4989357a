// An executor that counts its calls.
#pragma once
#include <memory>
#include <string>
#include <utility>

#include "compiler/frontend/session.h"
#include "compiler/program/executor.h"

namespace firn {

/// Runs on the kernel interpreter, and counts allocations and runs.
class CountingExecutor : public Executor {
  public:
    explicit CountingExecutor(DeviceProfile profile = cpu_profile())
        : inner_(Session::interpreter(std::move(profile))) {}
    const DeviceProfile& profile() const override { return inner_.executor().profile(); }
    std::shared_ptr<Memory> allocate(uint64_t bytes, const std::string& name) override {
        ++allocations;
        return inner_.executor().allocate(bytes, name);
    }
    void write(Memory& memory, uint64_t offset, std::span<const std::byte> data) override {
        inner_.executor().write(memory, offset, data);
    }
    void read(const Memory& memory, uint64_t offset, std::span<std::byte> data) override {
        inner_.executor().read(memory, offset, data);
    }
    void run(const std::shared_ptr<const Program>& program, const Call& call) override {
        ++runs;
        inner_.executor().run(program, call);
    }
    void wait() override {}
    int allocations = 0, runs = 0;

  private:
    Session inner_;
};

}  // namespace firn
