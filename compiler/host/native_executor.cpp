// Runs programs whose kernels are machine code of this processor.
#include "compiler/host/native_executor.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/error.h"
#include "compiler/base/thread_sanitizer.h"
#include "compiler/host/groups_apart.h"
#include "compiler/host/host_executor.h"
#include "compiler/host/object_file.h"
#include "compiler/host/processor.h"
#include "compiler/host/workers.h"
#include "compiler/program/native_abi.h"
#include "compiler/program/outside_access.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace firn {
namespace {

/// Each thread that takes part has work for at least so long, in seconds. Not measured: the job of
/// sleeping threads takes some 3 us.
constexpr double kWorthAThread = 5e-6;

/// Floats as kernels take them, while it lives: rounded to the nearest, subnormal ones kept.
class FloatMode {
  public:
#if defined(__x86_64__)
    FloatMode() : before_(_mm_getcsr()) { _mm_setcsr(kDefault); }
    ~FloatMode() { _mm_setcsr(before_); }

  private:
    static constexpr unsigned kDefault = 0x1f80;  // all exceptions masked
    unsigned before_;
#elif defined(__aarch64__)
    FloatMode() {
        asm volatile("mrs %0, fpcr" : "=r"(before_));
        asm volatile("msr fpcr, %0" : : "r"(uint64_t{0}));
    }
    ~FloatMode() { asm volatile("msr fpcr, %0" : : "r"(before_)); }

  private:
    uint64_t before_ = 0;
#else
    FloatMode() {}
    ~FloatMode() {}

  private:
#endif
  public:
    FloatMode(const FloatMode&) = delete;
    FloatMode& operator=(const FloatMode&) = delete;
};

/// The bytes of the largest cache; where the system does not tell, as many as nothing exceeds.
uint64_t largest_cache() {
    for (int level : {_SC_LEVEL4_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE})
        if (const long bytes = sysconf(level); bytes > 0) return static_cast<uint64_t>(bytes);
    return UINT64_MAX;
}

/// The code of a kernel.
struct LoadedKernel {
    std::shared_ptr<const ObjectFile> object;
    NativeKernel function = nullptr;
    bool checks_accesses = false;
};
using LoadedKernels = std::vector<LoadedKernel>;

/// The bytes of the object file in an artefact.
std::span<const std::byte> object_bytes(const Program& program, const KernelInfo& kernel) {
    const Artefact& artefact = kernel.artefact;
    const auto words = std::as_bytes(std::span(artefact.words));
    const size_t most = artefact.words.empty() ? 0 : words.size() - sizeof(uint32_t);
    if (artefact.words.empty() || artefact.words[0] > most)
        throw UserError("kernel '" + kernel.name + "' of program '" + program.name +
                        "' has no machine code, or not all of it; compile the program again");
    return words.subspan(sizeof(uint32_t), artefact.words[0]);
}

/// Throws the error of an access outside its memory.
[[noreturn]] void fail(const HostDispatch& dispatch, const NativeFault& fault) {
    constexpr const char* kKinds[] = {"loads", "stores to", "combines with"};
    const KernelInfo& kernel = dispatch.kernel;
    std::string where = "its own memory", bytes, size;
    if (fault.buffer < kernel.bindings.size()) {
        const auto slot = static_cast<size_t>(dispatch.slots[fault.buffer]);
        const BufferInfo& buffer = dispatch.program.buffers[slot];
        const int64_t each = buffer.dtype.bytes();
        where = "tensor '" + buffer.name + "' (binding " + std::to_string(fault.buffer) + ", " +
                buffer.dtype.name() + ")";
        bytes = ", byte " + std::to_string(fault.index * each);
        size = ", " + std::to_string(fault.elements * each) + " bytes";
    }
    throw OutsideAccess("kernel '" + kernel.name + "' of program '" + dispatch.program.name +
                            "', group " + std::to_string(fault.group) + ", " + kKinds[fault.kind] +
                            " element " + std::to_string(fault.index) + bytes + " of " + where +
                            ", which has " + std::to_string(fault.elements) + " elements" + size,
                        static_cast<size_t>(dispatch.step.kernel), fault.access);
}

class NativeExecutor final : public HostExecutor {
  public:
    explicit NativeExecutor(DeviceProfile profile)
        : HostExecutor(std::move(profile), {.called = "the executor of machine code",
                                            .fill = std::nullopt,
                                            .checks_hazards = false,
                                            .keeps_plans = true}) {}

    bool needs_kernel_code() const override { return false; }

    /// Code for a processor of another kind, or of a higher level, would end the process.
    std::string why_cannot_run(const Program& program) const override {
        for (const KernelInfo& kernel : program.kernels)
            if (kernel.artefact.format != kNativeFormat && kernel.artefact.format != kCheckedFormat)
                return "kernel '" + kernel.name + "' of program '" + program.name + "' is '" +
                       kernel.artefact.format + "' and this session runs '" + kNativeFormat +
                       "': the program was saved for other devices";
        const std::string& made_for = program.profile.processor;
        const bool same = program.profile.name == profile().name;
        if (program.profile.device_class != DeviceClass::Native ||
            (made_for.empty() ? same : runs_code_of(made_for, profile().processor)))
            return "";
        return "program '" + program.name + "' is " + program.profile.name +
               " and this session runs " + profile().name;
    }

    std::shared_ptr<const void> prepare(const Program& program) override {
        if (const std::string why = why_cannot_run(program); !why.empty())
            throw UserError(why + "; save it for this device too, or compile the program here");
        auto kernels = std::make_shared<LoadedKernels>();
        for (const KernelInfo& kernel : program.kernels) kernels->push_back(load(program, kernel));
        return kernels;
    }

  private:
    /// Kernels of equal code share it, as long as some program has it.
    LoadedKernel load(const Program& program, const KernelInfo& kernel) {
        const std::span<const std::byte> file = object_bytes(program, kernel);
        const std::string name = "kernel '" + kernel.name + "' of program '" + program.name + "'";
        const std::lock_guard lock(objects_mutex_);
        std::erase_if(objects_, [](const auto& entry) { return entry.second.expired(); });
        std::weak_ptr<const ObjectFile>& known = objects_[kernel.artefact.words];
        LoadedKernel loaded{known.lock(), nullptr, kernel.artefact.format == kCheckedFormat};
        if (!loaded.object) known = loaded.object = std::make_shared<const ObjectFile>(file, name);
        loaded.function = reinterpret_cast<NativeKernel>(loaded.object->symbol(kNativeSymbol));
        if (!loaded.function)
            throw UserError(name + ": its machine code has no function " + kNativeSymbol +
                            "; compile the program again");
        return loaded;
    }

    void dispatch(const HostDispatch& dispatch) override {
        uint64_t groups = 1;
        NativeCall call{};
        for (size_t k = 0; k < 3; ++k) {
            ensure(dispatch.groups[k] <= UINT32_MAX &&
                       !__builtin_mul_overflow(groups, static_cast<uint64_t>(dispatch.groups[k]),
                                               &groups),
                   "a kernel has more groups than can be counted");
            call.groups[k] = static_cast<uint32_t>(dispatch.groups[k]);
        }
        if (groups == 0) return;
        buffers_.resize(dispatch.slots.size());
        for (size_t k = 0; k < buffers_.size(); ++k) buffers_[k] = dispatch.buffer(k).data();
        call.buffers = buffers_.data();
        call.params = dispatch.params.data();
        call.cached = written_bytes(dispatch) > cache_bytes_ ? 0 : UINT64_MAX;
        const auto& kernels = *static_cast<const LoadedKernels*>(dispatch.prepared);
        const LoadedKernel& kernel = kernels[static_cast<size_t>(dispatch.step.kernel)];
        const NativeKernel function = kernel.function;
        NativeFault fault;
        if (kernel.checks_accesses) {
            sizes_.clear();
            for (const int slot : dispatch.slots)
                sizes_.push_back(dispatch.sizes[static_cast<size_t>(slot)]);
            call.bytes = sizes_.data(), call.fault = &fault;
        }
        const auto run = [&](uint64_t first, uint64_t last, size_t /*worker*/) {
            const FloatMode mode;
            if constexpr (kFindsRaces)
                run_groups_apart(function, call, first, last);
            else
                function(&call, first, last);
        };
        const uint64_t threads = groups == 1 ? 1 : threads_for(dispatch.seconds);
        if (threads <= 1)
            run(0, groups, 0);
        else
            workers_.run(groups, threads, std::cref(run));
        if (fault.found) fail(dispatch, fault);
    }

    static uint64_t written_bytes(const HostDispatch& dispatch) {
        uint64_t bytes = 0;
        for (size_t k = 0; k < dispatch.slots.size(); ++k)
            if (dispatch.kernel.bindings[k].written) bytes += dispatch.buffer(k).size();
        return bytes;
    }

    /// The number of threads for a dispatch that takes so long by the profile's rates.
    uint64_t threads_for(double seconds) const {
        const auto all = static_cast<double>(workers_.size());
        const double alone = seconds * kRatedCores;
        if (alone < kSecondsAlone) return 1;
        return static_cast<uint64_t>(std::clamp(alone / kWorthAThread, 1.0, all));
    }

    Workers workers_;
    uint64_t cache_bytes_ = largest_cache();
    std::vector<void*> buffers_;   // of the dispatch that runs
    std::vector<uint64_t> sizes_;  // the same
    std::mutex objects_mutex_;
    std::map<std::vector<uint32_t>, std::weak_ptr<const ObjectFile>> objects_;  // by words
};

}  // namespace

std::unique_ptr<Executor> make_native_executor(DeviceProfile profile) {
    return std::make_unique<NativeExecutor>(std::move(profile));
}

std::unique_ptr<Executor> open_native_executor() {
    return make_native_executor(profile_of_processor(host_processor()));
}

}  // namespace firn
