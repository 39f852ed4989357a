// Opens LLVM's library, and asks it for the functions of its C interface.
#include "compiler/target/native/llvm_library.h"

#include <dlfcn.h>
#include <sys/stat.h>

#include <cstdio>
#include <vector>

#include "compiler/base/thread_sanitizer.h"

namespace firn {
namespace {

constexpr const char* kPackage = "libllvm19";
constexpr unsigned kLeastMajor = 19;

thread_local const LlvmFatal* fatal_of_this_thread = nullptr;

/// LLVM calls this where it cannot go on, and ends the process when it returns.
void handle_fatal(const char* reason) {
    if (const LlvmFatal* to = fatal_of_this_thread) to->tell(to->data, reason);
    std::fprintf(stderr, "LLVM ERROR: %s\n", reason);
}

/// The folders in which the dynamic linker looks for libraries.
std::vector<std::string> folders_of_libraries() {
    std::vector<std::string> folders;
    void* program = dlopen(nullptr, RTLD_NOW);
    Dl_serinfo size{};
    if (!program || dlinfo(program, RTLD_DI_SERINFOSIZE, &size) != 0) return folders;
    std::vector<char> room(size.dls_size);
    auto* info = reinterpret_cast<Dl_serinfo*>(room.data());
    if (dlinfo(program, RTLD_DI_SERINFOSIZE, info) == 0 &&
        dlinfo(program, RTLD_DI_SERINFO, info) == 0)
        for (unsigned k = 0; k < info->dls_cnt; ++k)
            folders.emplace_back(info->dls_serpath[k].dls_name);
    dlclose(program);
    return folders;
}

/// Looks up one function; notes the first that is missing.
template <class Function>
void look_up(void* library, const char* name, Function& function, std::string& missing) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    if (!function && missing.empty()) missing = name;
}

/// Returns the name of a function that the library lacks; empty: it has all.
std::string look_up_all(void* library, LlvmFunctions& call) {
    std::string missing;
#define FIRN_LOOK_UP(name) look_up(library, "LLVM" #name, call.name, missing)
    FIRN_LOOK_UP(GetVersion);
    FIRN_LOOK_UP(InstallFatalErrorHandler);
    FIRN_LOOK_UP(DisposeMessage);
    FIRN_LOOK_UP(ParseCommandLineOptions);
    FIRN_LOOK_UP(ContextCreate);
    FIRN_LOOK_UP(ContextDispose);
    FIRN_LOOK_UP(ContextSetDiagnosticHandler);
    FIRN_LOOK_UP(GetDiagInfoDescription);
    FIRN_LOOK_UP(GetDiagInfoSeverity);
    FIRN_LOOK_UP(CreateMemoryBufferWithMemoryRange);
    FIRN_LOOK_UP(GetBufferStart);
    FIRN_LOOK_UP(GetBufferSize);
    FIRN_LOOK_UP(DisposeMemoryBuffer);
    FIRN_LOOK_UP(ParseIRInContext);
    FIRN_LOOK_UP(DisposeModule);
    FIRN_LOOK_UP(LinkModules2);
    FIRN_LOOK_UP(VerifyModule);
    FIRN_LOOK_UP(GetFirstFunction);
    FIRN_LOOK_UP(GetNextFunction);
    FIRN_LOOK_UP(GetNamedFunction);
    FIRN_LOOK_UP(GetValueName2);
    FIRN_LOOK_UP(SetValueName2);
    FIRN_LOOK_UP(SetLinkage);
    FIRN_LOOK_UP(GetIntrinsicID);
    FIRN_LOOK_UP(IsDeclaration);
    FIRN_LOOK_UP(GetTargetFromTriple);
    FIRN_LOOK_UP(CreateTargetMachine);
    FIRN_LOOK_UP(DisposeTargetMachine);
    FIRN_LOOK_UP(CreateTargetDataLayout);
    FIRN_LOOK_UP(SetModuleDataLayout);
    FIRN_LOOK_UP(DisposeTargetData);
    FIRN_LOOK_UP(SetTarget);
    FIRN_LOOK_UP(TargetMachineEmitToMemoryBuffer);
    FIRN_LOOK_UP(CreatePassBuilderOptions);
    FIRN_LOOK_UP(DisposePassBuilderOptions);
    FIRN_LOOK_UP(RunPasses);
    FIRN_LOOK_UP(GetErrorMessage);
    FIRN_LOOK_UP(DisposeErrorMessage);
#undef FIRN_LOOK_UP
    return missing;
}

/// Makes LLVM know how to make code for an architecture, which takes some 0.2 ms; false: this
/// library was built without it.
bool begin_backend(void* library, Architecture architecture) {
    const std::string name = architecture == Architecture::Aarch64 ? "AArch64" : "X86";
    std::vector<void (*)()> steps;
    std::string missing;
    for (const char* part : {"TargetInfo", "Target", "TargetMC", "AsmPrinter"})
        look_up(library, ("LLVMInitialize" + name + part).c_str(), steps.emplace_back(), missing);
    if (!missing.empty()) return false;
    for (const auto step : steps) step();
    return true;
}

std::string path_of(std::span<const char* const> names) {
    for (const std::string& folder : folders_of_libraries())
        for (const char* name : names) {
            const std::string path = folder + "/" + name;
            struct stat status {};
            if (stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode)) return path;
        }
    return "";
}

LlvmLibrary without(const std::string& why) {
    LlvmLibrary none;
    none.why_not = "native code is made by LLVM 19, which cannot be used: " + why +
                   "; the package " + kPackage + " has it (apt-get install " + kPackage +
                   "); without it the Vulkan driver of the CPU runs programs";
    return none;
}

}  // namespace

std::span<const char* const> llvm_names() {
    static constexpr const char* kNames[] = {"libLLVM.so.19.1", "libLLVM-19.so.1", "libLLVM-19.so"};
    return kNames;
}

LlvmLibrary open_llvm(std::span<const char* const> names) {
    const OutsideSanitizer outside;
    void* opened = nullptr;
    std::string why;
    for (const char* name : names) {
        opened = dlopen(name, RTLD_NOW | RTLD_LOCAL);
        if (opened) break;
        // What it says of the first name tells a library that is broken from one that is missing.
        if (const char* said = dlerror(); said && why.empty()) why = said;
    }
    if (!opened) return without(why);
    LlvmLibrary library;
    const std::string missing = look_up_all(opened, library.call);
    if (!missing.empty()) {
        dlclose(opened);
        return without("the library has no function " + missing);
    }
    unsigned major = 0, minor = 0, patch = 0;
    library.call.GetVersion(&major, &minor, &patch);
    library.version =
        "LLVM " + std::to_string(major) + '.' + std::to_string(minor) + '.' + std::to_string(patch);
    if (major < kLeastMajor) return without("the library is " + library.version);
    for (Architecture architecture : {Architecture::X86_64, Architecture::Aarch64})
        if (begin_backend(opened, architecture)) library.architectures.push_back(architecture);
    if (library.architectures.empty()) return without("it makes code for no processor of Firn's");
    library.call.InstallFatalErrorHandler(handle_fatal);
    if (kFindsRaces) {
        // See the passes of llvm.cpp: an option of one that has no other way to be given.
        constexpr const char* kOptions[] = {"firn", "-scalarize-load-store"};
        library.call.ParseCommandLineOptions(2, kOptions, nullptr);
    }
    return library;
}

const LlvmLibrary& llvm_library() {
    static const LlvmLibrary library = open_llvm(llvm_names());
    return library;
}

std::string llvm_file(std::span<const char* const> names) {
    const std::string path = path_of(names);
    struct stat status {};
    if (path.empty() || stat(path.c_str(), &status) != 0) return "";
    return path + ' ' + std::to_string(status.st_size) + " bytes of " +
           std::to_string(status.st_mtim.tv_sec);
}

void on_llvm_fatal(const LlvmFatal* to) { fatal_of_this_thread = to; }

}  // namespace firn
