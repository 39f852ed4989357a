// A session on a device that may fail.
#pragma once
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "compiler/language.h"
#include "engine/runtime/vulkan_executor.h"
#include "tests/faults/faults.h"

namespace firn {

/// Runs on the engine, in which allocations may fail.
class FailingExecutor : public Executor {
  public:
    explicit FailingExecutor(std::shared_ptr<Device> device)
        : engine(std::make_shared<VulkanExecutor>(std::move(device))) {}
    const DeviceProfile& profile() const override { return engine->profile(); }
    std::shared_ptr<Memory> allocate(uint64_t bytes, const std::string& name) override {
        const AllocationsFail here;
        return engine->allocate(bytes, name);
    }
    void write(Memory& memory, uint64_t offset, std::span<const std::byte> data) override {
        const AllocationsFail here;
        engine->write(memory, offset, data);
    }
    void read(const Memory& memory, uint64_t offset, std::span<std::byte> data) override {
        const AllocationsFail here;
        engine->read(memory, offset, data);
    }
    void run(const std::shared_ptr<const Program>& program, const Call& call) override {
        const AllocationsFail here;
        engine->run(program, call);
    }
    void wait() override {
        const AllocationsFail here;
        engine->wait();
    }
    void set_profiling(bool on) override { engine->set_profiling(on); }
    std::vector<KernelTime> take_kernel_times() override {
        const AllocationsFail here;
        return engine->take_kernel_times();
    }

    std::shared_ptr<VulkanExecutor> engine;
};

/// A session on a device of its own, and tensors that must keep their values after every failure.
struct World {
    World(const DeviceOptions& options)
        : device(Device::create(options)),
          executor(std::make_shared<FailingExecutor>(device)),
          session(executor),
          scope(session) {}

    Tensor keep(std::vector<float> values) {
        Tensor made = tensor(values, {static_cast<int>(values.size())});
        kept.emplace_back(made, std::move(values));
        return made;
    }
    void expect_intact() const {
        for (const auto& [tensor, values] : kept) EXPECT_EQ(tensor.to_vector<float>(), values);
    }

    std::shared_ptr<Device> device;
    std::shared_ptr<FailingExecutor> executor;
    Session session;
    SessionScope scope;
    std::vector<std::pair<Tensor, std::vector<float>>> kept;
};

}  // namespace firn
