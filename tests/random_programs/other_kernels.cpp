// Executors that run other kernels than their programs have.
#include "tests/random_programs/other_kernels.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/error.h"
#include "compiler/kernel/bindings.h"
#include "compiler/kernel/interpret/interpret_kernel.h"
#include "compiler/kernel/place.h"
#include "compiler/mapping/kernel_passes.h"
#include "compiler/mapping/steps.h"
#include "compiler/plan/plan_kernel.h"

namespace firn::programs {
namespace {

/// Lines of the user's program are comments.
KernelCode without_lines(KernelCode code) {
    for (KernelNode& node : code.nodes) node.lines.clear();
    return code;
}

/// Returns the kernel that the text describes.
KernelCode read_back(const KernelCode& code) {
    const std::string text = print(without_lines(code));
    KernelCode read = parse_kernel(text);
    if (print(read) != text)
        throw InternalError("the text of a kernel that was read from a text is another one:\n" +
                            text + "\n" + print(read));
    return read;
}

std::string placed(KernelCode code) {
    place(code);
    return print(without_lines(std::move(code)));
}

/// The program with kernels from their texts.
void read_kernels_back(Program& program) {
    for (KernelInfo& kernel : program.kernels)
        kernel.code = std::make_shared<KernelCode>(read_back(*kernel.code));
    for_dispatches(program.steps, [](const DispatchStep& step) {
        if (step.lowered)
            ensure(placed(read_back(*step.lowered)) == placed(*step.lowered),
                   "a kernel from its text is placed otherwise");
    });
}

/// Returns a kernel that is Ready as the last run of a pass leaves it, able to run; nothing if the
/// pass does not run on it.
std::optional<KernelCode> after_pass(const KernelCode& ready, const Mapping& mapping,
                                     const DeviceProfile& profile, const std::string& pass) {
    if (!why_illegal({ready, mapping, profile, {}}).empty()) return std::nullopt;
    std::optional<KernelCode> out;
    if (pass == "ready") out = ready;
    KernelPassOptions options;
    options.seen = [&](const KernelPassRun& run, const KernelCode& code) {
        if (run.name == pass) out = code;
    };
    run_kernel_passes(ready, KernelStage::Ready, KernelStage::Placed, {profile, {}, &mapping},
                      options);
    const auto rows = kernel_passes();
    const auto row = std::find_if(rows.rbegin(), rows.rend(),
                                  [&](const KernelPass& p) { return p.info.name == pass; });
    if (out && row != rows.rend() && row->gives != KernelStage::Placed) place(*out);
    if (out) drop_unused_buffers(*out);  // the program has none of them
    return out;
}

/// The program with kernels as they are after a pass.
void stop_after(Program& program, const std::string& pass) {
    for_dispatches(program.steps, [&](DispatchStep& step) {
        const KernelInfo& own = program.kernels[static_cast<size_t>(step.kernel)];
        const auto mapping = parse_mapping(own.mapping);
        if (!step.lowered || step.sizes_binding >= 0 || !mapping) return;
        auto code = after_pass(*step.lowered, *mapping, program.profile, pass);
        if (!code) return;
        launch_as(step, *code);
        KernelInfo info = own;
        info.bindings.clear();
        for (size_t k = 0; k < bound_buffers(*code); ++k) {
            const KernelBuffer& b = code->buffers[k];
            info.bindings.push_back({b.form, b.dtype, b.width, b.written});
        }
        info.param_types = param_types(*code);
        info.group_size = code->group_size;
        info.code = std::make_shared<KernelCode>(std::move(*code));
        step.kernel = static_cast<int>(program.kernels.size());
        program.kernels.push_back(std::move(info));
    });
}

/// Runs what `change` makes of programs.
class ChangingExecutor : public Executor {
  public:
    ChangingExecutor(const DeviceProfile& profile, std::function<void(Program&)> change)
        : executor_(make_interpreter(profile)), change_(std::move(change)) {}

    const DeviceProfile& profile() const override { return executor_->profile(); }
    std::shared_ptr<Memory> allocate(uint64_t bytes, const std::string& name) override {
        return executor_->allocate(bytes, name);
    }
    void write(Memory& memory, uint64_t offset, std::span<const std::byte> data) override {
        executor_->write(memory, offset, data);
    }
    void read(const Memory& memory, uint64_t offset, std::span<std::byte> data) override {
        executor_->read(memory, offset, data);
    }
    void wait() override { executor_->wait(); }

    void run(const std::shared_ptr<const Program>& program, const Call& call) override {
        auto& [kept, changed] = changed_[program.get()];
        if (kept != program) {
            kept = program;
            auto out = std::make_shared<Program>(*program);
            change_(*out);
            changed = std::move(out);
        }
        executor_->run(changed, call);
    }

  private:
    using Changed =
        std::pair<std::shared_ptr<const Program>, std::shared_ptr<const Program>>;  // both
    std::unique_ptr<Executor> executor_;
    std::function<void(Program&)> change_;
    std::map<const Program*, Changed> changed_;
};

}  // namespace

std::shared_ptr<Executor> make_text_executor(const DeviceProfile& profile) {
    return std::make_unique<ChangingExecutor>(profile, read_kernels_back);
}

std::shared_ptr<Executor> make_pass_executor(const DeviceProfile& profile,
                                             const std::string& pass) {
    return std::make_unique<ChangingExecutor>(
        profile, [pass](Program& program) { stop_after(program, pass); });
}

}  // namespace firn::programs
