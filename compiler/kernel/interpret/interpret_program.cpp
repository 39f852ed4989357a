// An executor on host memory: runs programs by interpret_kernel in the order and memory of the
// engine.
#include <utility>

#include "compiler/base/error.h"
#include "compiler/host/host_executor.h"
#include "compiler/kernel/interpret/interpret_kernel.h"

namespace firn {
namespace {

/// Fills fresh memory, so that a read of it shows: nan as a float, -1 as an integer.
constexpr std::byte kUnwritten{0xff};

/// Merges the parameters that the host gives with the sizes that only the device knows.
std::vector<Scalar> all_params(const KernelCode& code,
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

class Interpreter final : public HostExecutor {
  public:
    Interpreter(DeviceProfile profile, FunctionValues functions)
        : HostExecutor(std::move(profile), {.called = "the interpreter",
                                            .fill = kUnwritten,
                                            .checks_hazards = true,
                                            .keeps_plans = false}),
          functions_(functions) {}

  private:
    void dispatch(const HostDispatch& dispatch) override {
        const KernelInfo& kernel = dispatch.kernel;
        if (!kernel.code)
            throw InternalError(
                "internal error: kernel " + kernel.name +
                " has no Kernel code to interpret; a saved program runs on a device");
        std::vector<std::span<std::byte>> buffers;
        for (size_t k = 0; k < dispatch.slots.size(); ++k) buffers.push_back(dispatch.buffer(k));
        std::vector<Scalar> given;
        for (size_t k = 0; k < dispatch.params.size(); ++k)
            given.push_back(scalar_of_bits(dispatch.params[k], dispatch.step.params[k].dtype));
        interpret_kernel(*kernel.code, buffers, all_params(*kernel.code, buffers, given),
                         *dispatch.env, profile().subgroup_size, dispatch.groups, functions_);
    }

    FunctionValues functions_;
};

}  // namespace

std::unique_ptr<Executor> make_interpreter(DeviceProfile profile, FunctionValues functions) {
    return std::make_unique<Interpreter>(std::move(profile), functions);
}

}  // namespace firn
