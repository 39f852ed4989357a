// LLVM's text to object code: parse, verify, improve, emit; and the cache of objects.
#include "compiler/target/native/llvm.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>

#include "compiler/base/disk_cache.h"
#include "compiler/base/error.h"
#include "compiler/base/numbered_lines.h"
#include "compiler/base/thread_sanitizer.h"
#include "compiler/program/native_abi.h"
#include "compiler/target/native/llvm_library.h"

namespace firn {
namespace {

constexpr const char* kKind = "native";
// A quarter of the time of default<O2>, for kernels that are vectors and loops already: no
// vectoriser, no unrolling, no inlining but where it is asked for. Without `no-verify-fixpoint`
// LLVM ends the process where a second run of instcombine would find more to do.
constexpr const char* kPasses =
    "always-inline,function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,"
    "loop-mssa(loop-rotate,licm),gvn,simplifycfg,instcombine<no-verify-fixpoint>),globaldce";

/// LLVM's name of an architecture and its system.
const char* triple_of(Architecture architecture) {
    return architecture == Architecture::Aarch64 ? "aarch64-unknown-linux-gnu"
                                                 : "x86_64-unknown-linux-gnu";
}

// The sanitizer is told of accesses of single elements, and not of masked ones: vectors become
// such.
constexpr const char* kPassesForRaces =
    ",function(scalarize-masked-mem-intrin,scalarizer,dce,tsan)";

std::string passes() { return std::string(kPasses) + (kFindsRaces ? kPassesForRaces : ""); }

// Values of LLVM's enumerations.
constexpr int kOptimiseByDefault = 2, kPositionIndependent = 2, kSmallCode = 3, kObjectFile = 1;
constexpr int kReturnStatus = 2, kSeverityError = 0, kInternalLinkage = 8;

/// Frees one of LLVM's objects by LLVM's function for it.
template <class Object>
using Owned = std::unique_ptr<Object, void (*)(Object*)>;

/// A message of LLVM, which is freed.
std::string taken(const LlvmFunctions& call, char* message) {
    if (!message) return "";
    const std::string text = message;
    call.DisposeMessage(message);
    return text;
}

void note_diagnostic(const LlvmFunctions& call, std::string& errors, LlvmDiagnostic* diagnostic) {
    if (call.GetDiagInfoSeverity(diagnostic) != kSeverityError) return;
    errors += taken(call, call.GetDiagInfoDescription(diagnostic)) + '\n';
}

struct Diagnosed {
    const LlvmFunctions& call;
    std::string errors;
};

/// The first function `llvm.*` that LLVM does not know, whose calls would be left to a linker.
std::string unknown_intrinsic(const LlvmFunctions& call, LlvmModule* module) {
    for (LlvmValue* f = call.GetFirstFunction(module); f; f = call.GetNextFunction(f)) {
        size_t length = 0;
        const char* text = call.GetValueName2(f, &length);
        const std::string_view name(text, length);
        if (name.starts_with("llvm.") && call.IsDeclaration(f) && call.GetIntrinsicID(f) == 0)
            return std::string(name);
    }
    return "";
}

/// The bytes of the object, or LLVM's message.
struct Compiled {
    std::string object;
    std::string error;
};

Compiled failed(std::string error) { return {"", std::move(error)}; }

/// The texts of modules that make one object: the first one, and the kernels that it calls.
struct Texts {
    std::string first;
    std::vector<std::string> kernels;
};

/// Parses and checks modules for one target.
struct Reader {
    const LlvmFunctions& call;
    LlvmContext* context;
    LlvmLayout* layout;
    const char* triple;
    std::string error;

    /// Null and an error where LLVM refuses it.
    LlvmModule* read(const std::string& ir) {
        char* message = nullptr;
        LlvmModule* parsed = nullptr;
        // The module's name is a symbol of the object.
        LlvmBuffer* text =
            call.CreateMemoryBufferWithMemoryRange(ir.data(), ir.size(), "kernel", 1);
        if (call.ParseIRInContext(context, text, &parsed, &message)) {
            error = taken(call, message);
            return nullptr;
        }
        Owned<LlvmModule> module(parsed, call.DisposeModule);
        call.SetTarget(module.get(), triple);
        call.SetModuleDataLayout(module.get(), layout);
        const int faulty = call.VerifyModule(module.get(), kReturnStatus, &message);
        if (std::string said = taken(call, message); faulty) {
            error = std::move(said);
            return nullptr;
        }
        if (const std::string name = unknown_intrinsic(call, module.get()); !name.empty()) {
            error = "there is no intrinsic " + name;
            return nullptr;
        }
        return module.release();
    }
};

/// Joins kernel `k` to a module that calls it.
bool join(const LlvmFunctions& call, LlvmModule* module, LlvmModule* kernel, size_t k) {
    const std::string name = joined_kernel_name(k);
    call.SetValueName2(call.GetNamedFunction(kernel, kNativeSymbol), name.data(), name.size());
    if (call.LinkModules2(module, kernel)) return false;
    call.SetLinkage(call.GetNamedFunction(module, name.c_str()), kInternalLinkage);
    return true;
}

Compiled compile(const LlvmFunctions& call, const Texts& texts, const NativeProcessor& processor) {
    const char* triple = triple_of(processor.architecture);
    char* message = nullptr;
    LlvmTarget* target = nullptr;
    if (call.GetTargetFromTriple(triple, &target, &message)) return failed(taken(call, message));
    const Owned<LlvmMachine> machine(
        call.CreateTargetMachine(target, triple, processor.cpu.c_str(), processor.features.c_str(),
                                 kOptimiseByDefault, kPositionIndependent, kSmallCode),
        call.DisposeTargetMachine);
    if (!machine) return failed("there is no machine " + processor.cpu + " of " + triple);

    Diagnosed diagnosed{call, ""};
    const Owned<LlvmContext> context(call.ContextCreate(), call.ContextDispose);
    call.ContextSetDiagnosticHandler(
        context.get(),
        [](LlvmDiagnostic* diagnostic, void* data) {
            auto& into = *static_cast<Diagnosed*>(data);
            note_diagnostic(into.call, into.errors, diagnostic);
        },
        &diagnosed);

    const Owned<LlvmLayout> layout(call.CreateTargetDataLayout(machine.get()),
                                   call.DisposeTargetData);
    Reader reader{call, context.get(), layout.get(), triple, ""};
    const Owned<LlvmModule> module(reader.read(texts.first), call.DisposeModule);
    if (!module) return failed(reader.error);
    for (size_t k = 0; k < texts.kernels.size(); ++k) {
        LlvmModule* kernel = reader.read(texts.kernels[k]);
        if (!kernel) return failed("kernel " + std::to_string(k) + ": " + reader.error);
        if (!join(call, module.get(), kernel, k)) return failed(diagnosed.errors);
    }

    const Owned<LlvmPassOptions> options(call.CreatePassBuilderOptions(),
                                         call.DisposePassBuilderOptions);
    if (LlvmFailure* failure =
            call.RunPasses(module.get(), passes().c_str(), machine.get(), options.get())) {
        char* said = call.GetErrorMessage(failure);
        std::string error = said;
        call.DisposeErrorMessage(said);
        return failed(std::move(error));
    }
    LlvmBuffer* emitted = nullptr;
    message = nullptr;
    if (call.TargetMachineEmitToMemoryBuffer(machine.get(), module.get(), kObjectFile, &message,
                                             &emitted))
        return failed(taken(call, message));
    const Owned<LlvmBuffer> object(emitted, call.DisposeMemoryBuffer);
    if (!diagnosed.errors.empty()) return failed(diagnosed.errors);
    return {std::string(call.GetBufferStart(object.get()), call.GetBufferSize(object.get())), ""};
}

/// Work on a thread of its own, which may stop in the midst of it.
struct OwnThread {
    std::function<void()> work;
    std::mutex mutex;
    std::condition_variable changed;
    bool is_done = false;
    std::optional<std::string> fatal;
    std::exception_ptr failure;
};

/// Notes LLVM's last words, and never returns to it: LLVM would end the process. Its frames stay as
/// they are, on a thread that waits for the end of the process; nothing is unwound, because LLVM is
/// not written for that.
void stay_forever(void* data, const char* reason) {
    {
        auto& own = *static_cast<OwnThread*>(data);
        const std::lock_guard lock(own.mutex);
        own.fatal = reason;
        own.changed.notify_all();
    }
    for (;;) pause();
}

void* run_own_thread(void* data) {
    const std::unique_ptr<std::shared_ptr<OwnThread>> owner(
        static_cast<std::shared_ptr<OwnThread>*>(data));
    OwnThread& own = **owner;
    const LlvmFatal fatal{stay_forever, &own};
    on_llvm_fatal(&fatal);
    try {
        const OutsideSanitizer outside;
        own.work();
    } catch (...) {
        own.failure = std::current_exception();
    }
    on_llvm_fatal(nullptr);
    const std::lock_guard lock(own.mutex);
    own.is_done = true;
    own.changed.notify_all();
    return nullptr;
}

/// LLVM recurses over expressions; of this a process pays for what is used.
constexpr size_t kStackBytes = size_t{32} << 20;

/// Does `work`, which calls LLVM, on a thread of its own; returns why LLVM could not go on. What
/// `work` refers to must live on then.
std::optional<std::string> with_llvm(std::function<void()> work) {
    const auto own = std::make_shared<OwnThread>();
    own->work = std::move(work);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, kStackBytes);
    auto owner = std::make_unique<std::shared_ptr<OwnThread>>(own);
    pthread_t thread;
    const int refused = pthread_create(&thread, &attributes, run_own_thread, owner.get());
    pthread_attr_destroy(&attributes);
    if (refused)
        throw UserError(
            "native code is compiled on a thread of its own, and the system has none: " +
            std::string(std::strerror(refused)));
    owner.release();
    std::unique_lock lock(own->mutex);
    own->changed.wait(lock, [&] { return own->is_done || own->fatal; });
    lock.unlock();
    if (own->fatal) {
        pthread_detach(thread);
        return own->fatal;
    }
    pthread_join(thread, nullptr);
    if (own->failure) std::rethrow_exception(own->failure);
    return std::nullopt;
}

std::vector<uint32_t> words_of(const std::string& object) {
    std::vector<uint32_t> words(1 + (object.size() + 3) / 4);
    words[0] = static_cast<uint32_t>(object.size());
    std::memcpy(words.data() + 1, object.data(), object.size());
    return words;
}

/// Everything that could change the result, as text.
std::string cache_text(const std::string& ir, const NativeProcessor& processor) {
    return "native " + native_compiler_version() + " passes " + passes() + " for " +
           triple_of(processor.architecture) + ' ' + processor.cpu + ' ' + processor.features +
           '\n' + ir;
}

constexpr const char* kWarmUp = R"(
define void @f(ptr %to, <4 x float> %x, i64 %n) {
begin:
  br label %next
next:
  %k = phi i64 [ 0, %begin ], [ %k1, %next ]
  %at = getelementptr float, ptr %to, i64 %k
  %y = load <4 x float>, ptr %at, align 4
  %z = fadd <4 x float> %x, %y
  store <4 x float> %z, ptr %at, align 4
  %k1 = add i64 %k, 4
  %goes_on = icmp ult i64 %k1, %n
  br i1 %goes_on, label %next, label %end
end:
  ret void
}
)";

constexpr const char* kOnlyThese =
    "native code is made for x86-64 and 64-bit ARM processors alone; on others the Vulkan driver "
    "of the CPU runs programs";

/// Why a library makes no code for a processor; empty: it does.
std::string why_not_for(const LlvmLibrary& library, const NativeProcessor& processor) {
    if (library.version.empty()) return library.why_not;
    const std::vector<Architecture>& all = library.architectures;
    if (std::find(all.begin(), all.end(), processor.architecture) != all.end()) return "";
    return "this " + library.version + " makes no code for " + processor.name +
           " processors; Debian's package libllvm19 does";
}

/// The bytes of the object; throws as compile_native() does.
std::string compiled_object(const Texts& given, const std::string& name,
                            const NativeProcessor& processor, const LlvmLibrary& library) {
    if (const std::string why = why_not_for(library, processor); !why.empty()) throw UserError(why);
    // A thread that LLVM stops for ever still refers to these: they are shared with it.
    const auto texts = std::make_shared<const Texts>(given);
    const auto compiled = std::make_shared<Compiled>();
    const auto call = std::make_shared<const LlvmFunctions>(library.call);
    const std::optional<std::string> fatal =
        with_llvm([=] { *compiled = compile(*call, *texts, processor); });
    const std::string& error = fatal ? *fatal : compiled->error;
    if (!fatal && !compiled->object.empty()) return compiled->object;
    std::string said = "LLVM IR of kernel '" + name + "' does not compile:\n" +
                       (error.empty() ? "(no message)" : error) + '\n' +
                       numbered_lines(given.first);
    for (const std::string& kernel : given.kernels) said += '\n' + numbered_lines(kernel);
    throw InternalError(said);
}

}  // namespace

std::vector<uint32_t> compile_native(const std::string& ir, const std::string& name,
                                     const NativeProcessor& processor,
                                     const NativeOptions& options) {
    if (processor.cpu.empty()) throw UserError(kOnlyThese);
    const std::string key = options.cache_directory.empty() ? "" : cache_text(ir, processor);
    if (const auto kept = cache_find_text(options.cache_directory, kKind, key))
        return words_of(*kept);
    const std::string object = compiled_object({ir, {}}, name, processor,
                                               options.library ? *options.library : llvm_library());
    cache_put_text(options.cache_directory, kKind, key, object);
    return words_of(object);
}

std::string joined_kernel_name(size_t k) { return "firn.kernel_" + std::to_string(k); }

std::string compile_native_program(const std::string& ir, const std::vector<std::string>& kernels,
                                   const std::string& name, const NativeProcessor& processor) {
    return compiled_object({ir, kernels}, name, processor, llvm_library());
}

std::string why_no_llvm() {
    // Whatever level FIRN_CPU asks for: that it is there is found out later.
#if defined(__x86_64__)
    return why_not_for(llvm_library(), processor_of_levels(1, ""));
#elif defined(__aarch64__)
    return why_not_for(llvm_library(), processor_named("aarch64+neon", "native code"));
#else
    return kOnlyThese;
#endif
}

std::string llvm_version() { return llvm_library().version; }

std::string native_compiler_version() {
    const std::string file = llvm_file(llvm_names());
    return file.empty() ? llvm_version() : file;
}

std::jthread begin_loading_llvm(const NativeProcessor& processor) {
    return std::jthread([processor] {
        try {
            if (why_no_llvm().empty()) compile_native(kWarmUp, "warm-up", processor);
        } catch (const std::exception&) {
            // The first compile that is asked for says what is wrong.
        }
    });
}

}  // namespace firn
