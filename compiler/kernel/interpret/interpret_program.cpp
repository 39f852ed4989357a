// An executor on host memory: runs programs by interpret_kernel in the order and memory of the
// engine.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <new>

#include "compiler/base/error.h"
#include "compiler/base/physical_memory.h"
#include "compiler/kernel/interpret/interpret_kernel.h"
#include "compiler/program/walk_steps.h"

namespace firn {
namespace {

/// Fills fresh memory, so that a read of it shows: nan as a float, -1 as an integer.
constexpr std::byte kUnwritten{0xff};

class HostMemory : public Memory {
  public:
    HostMemory(uint64_t bytes, std::string memory_name, std::shared_ptr<uint64_t> held_by_all)
        : data(bytes, kUnwritten), name(std::move(memory_name)), held(std::move(held_by_all)) {
        *held += bytes;
    }
    ~HostMemory() override { *held -= data.size(); }
    uint64_t bytes() const override { return data.size(); }

    std::vector<std::byte> data;
    std::string name;
    std::shared_ptr<uint64_t>
        held;  // by all memory of the executor, which may end before its memory
};

/// The slots of one call as host memory.
class BoundSlots {
  public:
    BoundSlots(const Program& program, const Call& call)
        : program_(program), memory_(program.buffers.size()) {
        const std::vector<int> ends = expected_result_slots(program, call.symbols);
        bind_arguments(call);
        bind_results(ends, call);
        bind_own(ends, call.symbols);
    }

    std::span<std::byte> operator[](int slot) const { return memory_[static_cast<size_t>(slot)]; }

    /// A result that ended in other memory than its own is copied there: it shares its slot with an
    /// argument or another result, or the data decided where it ends.
    void copy_results(const std::vector<int>& ends, const Call& call) const {
        std::vector<std::pair<size_t, std::vector<std::byte>>> elsewhere;
        for (size_t k = 0; k < ends.size(); ++k) {
            if (!call.results[k]) continue;
            const std::span<std::byte> value = (*this)[ends[k]];
            if (value.data() != memory_of(call.results[k], ends[k], call.symbols).data())
                elsewhere.emplace_back(k, std::vector(value.begin(), value.end()));
        }
        for (const auto& [k, value] : elsewhere) {
            const std::span<std::byte> target = memory_of(call.results[k], ends[k], call.symbols);
            std::copy_n(value.begin(), std::min(value.size(), target.size()), target.begin());
        }
    }

    /// See walk_steps.
    const SlotSets& shared() const { return shared_; }

  private:
    uint64_t bytes_of(int slot, const SizeEnv& env) const {
        return static_cast<uint64_t>(
            program_.buffers[static_cast<size_t>(slot)].bytes().evaluate(env));
    }

    std::span<std::byte> memory_of(const std::shared_ptr<Memory>& memory, int slot,
                                   const SizeEnv& env) const {
        auto* host = dynamic_cast<HostMemory*>(memory.get());
        ensure(host, "memory of another executor is given to the interpreter");
        const auto wanted = static_cast<uint64_t>(
            program_.buffers[static_cast<size_t>(slot)].bytes().evaluate(env));
        if (host->data.size() < wanted)
            throw InternalError("internal error: program " + program_.name + " needs " +
                                std::to_string(wanted) + " bytes for buffer " +
                                program_.buffers[static_cast<size_t>(slot)].name + " and memory " +
                                host->name + " has " + std::to_string(host->data.size()));
        return std::span(host->data)
            .first(std::min<uint64_t>(host->data.size(), bytes_of(slot, env)));
    }

    void bind_arguments(const Call& call) {
        ensure(call.arguments.size() == program_.arguments.size() &&
                   call.results.size() == program_.results.size(),
               "a call has another number of arguments or results than its program");
        for (size_t k = 0; k < program_.arguments.size(); ++k) {
            int buffer = program_.arguments[k].buffer;
            if (buffer >= 0)
                memory_[static_cast<size_t>(buffer)] =
                    memory_of(call.arguments[k], buffer, call.symbols);
        }
    }

    void bind_results(const std::vector<int>& ends, const Call& call) {
        for (size_t k = 0; k < ends.size(); ++k) {
            int slot = ends[k];
            BufferRole role = program_.buffers[static_cast<size_t>(slot)].role;
            bool placed = role == BufferRole::Argument || role == BufferRole::Constant ||
                          (*this)[slot].data() != nullptr;
            if (placed) continue;
            memory_[static_cast<size_t>(slot)] =
                call.results[k] ? memory_of(call.results[k], slot, call.symbols)
                                : own(bytes_of(slot, call.symbols));
        }
    }

    /// Temporaries at their planned offsets, and constants.
    void bind_own(const std::vector<int>& ends, const SizeEnv& env) {
        MemoryPlan plan;
        if (can_be_flat(program_, env)) {
            plan = plan_memory(program_, flatten(program_, env), env);
        } else {
            RotatingMemory memory = plan_rotating_memory(program_, env);
            plan.bytes = memory.plan.bytes;
            plan.offsets = offsets_for(memory, program_, ends);
            shared_ = std::move(memory.shared);
        }
        std::span<std::byte> temporaries = own(plan.bytes);
        for (size_t slot = 0; slot < memory_.size(); ++slot) {
            const BufferInfo& buffer = program_.buffers[slot];
            uint64_t bytes = bytes_of(static_cast<int>(slot), env);
            if (plan.offsets[slot] != UINT64_MAX)
                memory_[slot] = temporaries.subspan(plan.offsets[slot], bytes);
            if (buffer.role != BufferRole::Constant) continue;
            memory_[slot] = own(bytes);
            ensure(buffer.data.size() <= bytes, "a constant has more data than elements");
            std::memcpy(memory_[slot].data(), buffer.data.data(), buffer.data.size());
        }
    }

    std::span<std::byte> own(uint64_t bytes) { return owned_.emplace_back(bytes, kUnwritten); }

    const Program& program_;
    std::vector<std::span<std::byte>> memory_;
    std::vector<std::vector<std::byte>> owned_;
    SlotSets shared_;
};

/// Checks that steps between two barriers do not touch bytes that another of them writes: this
/// finds a missing barrier and a wrong lifetime, which running one step after the other would hide.
class HazardCheck {
  public:
    void step(const FlatStep& step, const std::vector<bool>& written, const BoundSlots& slots) {
        if (step.barrier_before) touched_.clear();
        std::vector<Touched> now;
        for (size_t k = 0; k < step.slots.size(); ++k) {
            std::span<std::byte> memory = slots[step.slots[k]];
            now.push_back({memory.data(), memory.data() + memory.size(), written[k]});
        }
        for (const Touched& a : touched_)
            for (const Touched& b : now)
                if ((a.written || b.written) && a.begin < b.end && b.begin < a.end)
                    throw InternalError(
                        "internal error: a step touches memory that an earlier one uses, without a "
                        "barrier between them");
        touched_.insert(touched_.end(), now.begin(), now.end());
    }

  private:
    struct Touched {
        const std::byte *begin, *end;
        bool written;
    };
    std::vector<Touched> touched_;
};

class Interpreter : public Executor {
  public:
    Interpreter(DeviceProfile profile, FunctionValues functions)
        : profile_(std::move(profile)), functions_(functions) {}

    const DeviceProfile& profile() const override { return profile_; }

    std::shared_ptr<Memory> allocate(uint64_t bytes, const std::string& name) override {
        // Asking for more than the machine has may succeed and end the process at the first touch.
        uint64_t physical = physical_memory(), free = physical - std::min(physical, *held_);
        try {
            if (bytes <= free) return std::make_shared<HostMemory>(bytes, name, held_);
        } catch (const std::bad_alloc&) {
            free = 0;
        }
        throw DeviceError("out of memory: " + std::to_string(bytes) + " bytes were asked for '" +
                          name + "', " + std::to_string(*held_) +
                          " bytes are held by this executor and at most " + std::to_string(free) +
                          " are free; release tensors or use smaller ones");
    }

    void write(Memory& memory, uint64_t offset, std::span<const std::byte> data) override {
        check(memory, offset, data.size());
        auto& host = static_cast<HostMemory&>(memory);
        std::copy(data.begin(), data.end(), host.data.begin() + static_cast<ptrdiff_t>(offset));
    }

    void read(const Memory& memory, uint64_t offset, std::span<std::byte> data) override {
        check(memory, offset, data.size());
        auto& host = static_cast<const HostMemory&>(memory);
        std::copy_n(host.data.begin() + static_cast<ptrdiff_t>(offset), data.size(), data.begin());
    }

    const std::byte* mapped(const Memory& memory) override {
        check(memory, 0, 0);
        return static_cast<const HostMemory&>(memory).data.data();
    }

    std::byte* map_for_writing(Memory& memory) override {
        check(memory, 0, 0);
        return static_cast<HostMemory&>(memory).data.data();
    }

    void run(const std::shared_ptr<const Program>& program, const Call& call) override {
        BoundSlots slots(*program, call);
        Running running(*this, *program, slots, call.scalars);
        const std::vector<int> ends = walk_steps(*program, call.symbols, running, slots.shared());
        slots.copy_results(ends, call);
    }

    void wait() override {}
    void set_profiling(bool on) override { profiling_ = on; }

    std::vector<KernelTime> take_kernel_times() override {
        std::vector<KernelTime> result;
        for (auto& [name, time] : times_) {
            time.milliseconds /= time.dispatches;
            result.push_back(time);
        }
        times_.clear();
        return result;
    }

  private:
    /// A call that runs.
    struct Running : StepVisitor {
        Running(Interpreter& by, const Program& of, const BoundSlots& bound,
                const std::vector<Scalar>& given)
            : interpreter(by), program(of), slots(bound), scalars(given) {}
        void step(const FlatStep& step) override { interpreter.run_step(*this, step, hazards); }
        bool goes_on(int slot, int64_t) override {
            uint32_t alive = 0;
            std::memcpy(&alive, slots[slot].data(), 4);
            return alive != 0;
        }

        Interpreter& interpreter;
        const Program& program;
        const BoundSlots& slots;
        const std::vector<Scalar>& scalars;
        HazardCheck hazards;
    };

    void run_step(const Running& running, const FlatStep& step, HazardCheck& hazards) {
        if (step.copy) {
            hazards.step(step, {false, true}, running.slots);
            std::span<std::byte> source = running.slots[step.slots[0]],
                                 target = running.slots[step.slots[1]];
            const size_t size = std::min(
                source.size(), target.size());  // an empty one may have room for no element
            ensure(size + 16 >= std::max(source.size(), target.size()),
                   "a copy between buffers of different sizes");
            std::memcpy(target.data(), source.data(), size);
            return;
        }
        const KernelInfo& kernel =
            running.program.kernels[static_cast<size_t>(step.dispatch->kernel)];
        std::vector<bool> written;
        for (const BindingInfo& binding : kernel.bindings) written.push_back(binding.written);
        hazards.step(step, written, running.slots);
        dispatch(kernel, step, running.slots, scalars_of(running, step));
    }

    /// Returns the scalar arguments, and behind them the numbers that the host computes, as far as
    /// the step uses them.
    static std::vector<Scalar> scalars_of(const Running& running, const FlatStep& step) {
        const std::vector<HostScalar>& numbers = running.program.host_scalars;
        const size_t arguments = running.scalars.size();
        std::vector<Scalar> out = running.scalars, values;
        out.resize(arguments + numbers.size());
        PlacedNumbers placed;
        for (const ParamInfo& param : step.dispatch->params) {
            if (param.scalar < static_cast<int>(arguments)) continue;
            const int place =
                placed.place(numbers, param.scalar - static_cast<int>(arguments), step.env);
            host_values(placed.placed(), running.scalars, values);
            out[static_cast<size_t>(param.scalar)] = values[static_cast<size_t>(place)];
        }
        return out;
    }

    /// The memory is ours and has these bytes.
    static void check(const Memory& memory, uint64_t offset, uint64_t bytes) {
        auto* host = dynamic_cast<const HostMemory*>(&memory);
        ensure(host, "memory of another executor is given to the interpreter");
        if (offset > host->data.size() || bytes > host->data.size() - offset)
            throw InternalError("internal error: " + std::to_string(bytes) + " bytes at " +
                                std::to_string(offset) + " of memory " + host->name + " of " +
                                std::to_string(host->data.size()) + " bytes");
    }

    static int32_t size_in(std::span<const std::byte> sizes, int64_t at) {
        ensure(at >= 0 && static_cast<size_t>(at) * 4 + 4 <= sizes.size(),
               "a size lies outside its buffer");
        int32_t size = 0;
        std::memcpy(&size, sizes.data() + at * 4, 4);
        return size;
    }

    /// Merges the parameters that the host gives with the sizes that only the device knows.
    static std::vector<Scalar> all_params(const KernelCode& code,
                                          const std::vector<std::span<std::byte>>& buffers,
                                          const std::vector<Scalar>& given) {
        if (code.sizes_buffer < 0) return given;
        std::vector<Scalar> out;
        size_t next = 0;
        int64_t at = given.back().as_int();
        for (const ParamInfo& param : code.params)
            out.push_back(
                code.on_device(param)
                    ? scalar_int(size_in(buffers[static_cast<size_t>(code.sizes_buffer)], at++))
                    : given[next++]);
        return out;
    }

    void dispatch(const KernelInfo& kernel, const FlatStep& step, const BoundSlots& slots,
                  const std::vector<Scalar>& scalars) {
        if (!kernel.code)
            throw InternalError(
                "internal error: kernel " + kernel.name +
                " has no Kernel code to interpret; a saved program runs on a device");
        std::vector<std::span<std::byte>> buffers;
        for (int slot : step.slots) buffers.push_back(slots[slot]);
        std::array<int64_t, 3> groups{};
        for (size_t k = 0; k < 3; ++k) groups[k] = step.dispatch->groups[k].evaluate(step.env);
        if (step.dispatch->sizes_binding >= 0) {
            const std::span<std::byte> sizes =
                buffers[static_cast<size_t>(step.dispatch->sizes_binding)];
            for (size_t k = 0; k < 3; ++k)
                groups[k] = size_in(sizes, step.dispatch->sizes_groups + static_cast<int64_t>(k));
        }
        auto begin = std::chrono::steady_clock::now();
        interpret_kernel(
            *kernel.code, buffers,
            all_params(*kernel.code, buffers, param_values(*step.dispatch, step.env, scalars)),
            step.env, profile_.subgroup_size, groups, functions_);
        if (!profiling_) return;
        std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
        KernelTime& time = times_[kernel.name];
        time.name = kernel.name;
        time.milliseconds += took.count();
        ++time.dispatches;
    }

    DeviceProfile profile_;
    FunctionValues functions_;
    std::shared_ptr<uint64_t> held_ = std::make_shared<uint64_t>(0);
    bool profiling_ = false;
    std::map<std::string, KernelTime> times_;
};

}  // namespace

std::unique_ptr<Executor> make_interpreter(DeviceProfile profile, FunctionValues functions) {
    return std::make_unique<Interpreter>(std::move(profile), functions);
}

}  // namespace firn
