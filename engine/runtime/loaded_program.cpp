// A program on a device: pipelines, constants, and plans for the sizes it was called with.
#include <algorithm>
#include <utility>

#include "compiler/base/parallel.h"
#include "engine/gpu/check_device.h"
#include "engine/gpu/module_needs.h"
#include "engine/runtime/record.h"

namespace firn {
namespace {

/// A program that is called with ever new sizes keeps plans for this many of them.
constexpr size_t kMostPlans = 16;

std::shared_ptr<Buffer> upload(const std::shared_ptr<Device>& device, const BufferInfo& info) {
    uint64_t bytes = static_cast<uint64_t>(info.bytes().constant());
    if (info.data.size() > bytes)
        throw InternalError("constant '" + info.name + "' has more data than elements");
    auto buffer = create_buffer(device, bytes, info.name,
                                device->queue() ? BufferPlace::Device : BufferPlace::Filled);
    std::vector<std::byte> padded(buffer->bytes());  // a load of four may touch the tail
    std::copy(info.data.begin(), info.data.end(), padded.begin());
    write_buffer(*buffer, 0, padded);
    return buffer;
}

}  // namespace

LoadedProgram::LoadedProgram(std::shared_ptr<Device> device, const Program& program,
                             const CompileWatch& told)
    : device_(std::move(device)),
      name_(program.name),
      symbols_(plan_symbols(program)),
      symbols_in_parts_(plan_symbols(program, true)) {
    std::vector<DeviceNeeds> needs;
    for (const KernelInfo& kernel : program.kernels) needs.push_back(needs_of(kernel));
    check_device(program, needs, device_->profile());
    // The driver compiles here, which is most of a program's start.
    pipelines_.resize(program.kernels.size());
    std::function<void(size_t)> watch;
    if (told) watch = [&](size_t done) { told({program.name, done, pipelines_.size()}); };
    for_each_in_parallel(
        pipelines_.size(),
        [&](size_t k) { pipelines_[k] = shared_pipeline(*device_, program.kernels[k]); }, watch);
    for (const BufferInfo& info : program.buffers)
        constants_.push_back(info.role == BufferRole::Constant ? upload(device_, info) : nullptr);
}

std::shared_ptr<const CallPlan> LoadedProgram::plan(const Program& program,
                                                    const SizeEnv& symbols) {
    return plan(program, symbols, false);
}

/// Steps that are the same as in the call before are worth a plan of their own: they are recorded
/// faster.
std::shared_ptr<const CallPlan> LoadedProgram::plan_to_run(const Program& program,
                                                           const SizeEnv& symbols) {
    if (symbols_ == symbols_in_parts_) return plan(program, symbols, false);
    const std::vector<int64_t> before = std::exchange(last_values_, values_of(symbols_, symbols));
    return plan(program, symbols, before != last_values_ || !can_be_flat(program, symbols));
}

std::vector<int64_t> LoadedProgram::values_of(const std::vector<std::string>& names,
                                              const SizeEnv& symbols) const {
    std::vector<int64_t> values;
    for (const std::string& name : names) {
        auto found = symbols.find(name);
        if (found == symbols.end())
            throw UserError("program '" + name_ + "' was called without a value for its symbol '" +
                            name + "'; take the symbols from bind_symbols");
        values.push_back(found->second);
    }
    return values;
}

std::shared_ptr<const CallPlan> LoadedProgram::plan(const Program& program, const SizeEnv& symbols,
                                                    bool in_parts) {
    std::vector<int64_t> values = values_of(in_parts ? symbols_in_parts_ : symbols_, symbols);
    auto found = std::find_if(plans_.begin(), plans_.end(), [&](const Planned& planned) {
        return planned.in_parts == in_parts && planned.values == values;
    });
    if (found != plans_.end()) {
        plans_.splice(plans_.begin(), plans_, found);
        return plans_.front().plan;
    }
    auto plan =
        std::make_shared<CallPlan>(plan_call(program, device_->profile(), symbols, in_parts));
    ++plans_made_;
    plans_.push_front({in_parts, std::move(values), plan});
    if (plans_.size() > kMostPlans) plans_.pop_back();
    return plan;
}

}  // namespace firn
