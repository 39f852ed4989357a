// An executor that runs kernels from their texts.
#include "tests/random_programs/text_executor.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/kernel/interpret/interpret_kernel.h"
#include "compiler/kernel/place.h"
#include "compiler/program/error.h"

namespace firn::programs {
namespace {

/// Lines of the user's program are comments.
KernelCode without_lines(KernelCode code) {
    for (KernelNode& node : code.nodes) node.lines.clear();
    return code;
}

/// What the text says.
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

class TextExecutor : public Executor {
  public:
    explicit TextExecutor(const DeviceProfile& profile) : executor_(make_interpreter(profile)) {}

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
        auto& [kept, read] = read_[program.get()];
        if (kept != program) {
            kept = program;
            auto out = std::make_shared<Program>(*program);
            for (KernelInfo& kernel : out->kernels)
                kernel.code = std::make_shared<KernelCode>(read_back(*kernel.code));
            for_dispatches(out->steps, [](const DispatchStep& step) {
                if (step.lowered)
                    ensure(placed(read_back(*step.lowered)) == placed(*step.lowered),
                           "a kernel from its text is placed otherwise");
            });
            read = std::move(out);
        }
        executor_->run(read, call);
    }

  private:
    using Read = std::pair<std::shared_ptr<const Program>,
                           std::shared_ptr<const Program>>;  // the program, the same from texts
    std::unique_ptr<Executor> executor_;
    std::map<const Program*, Read> read_;
};

}  // namespace

std::unique_ptr<Executor> make_text_executor(const DeviceProfile& profile) {
    return std::make_unique<TextExecutor>(profile);
}

}  // namespace firn::programs
