// The door to LLVM: its C interface, from a library that is opened at run time. Nothing of LLVM is
// needed to build Firn, and a program that makes no native code never opens it.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "compiler/host/processor.h"

namespace firn {

// LLVM's objects, of which Firn knows pointers alone.
struct LlvmContext;
struct LlvmModule;
struct LlvmValue;
struct LlvmBuffer;
struct LlvmTarget;
struct LlvmMachine;
struct LlvmLayout;
struct LlvmPassOptions;
struct LlvmFailure;
struct LlvmDiagnostic;

/// The functions of LLVM's C interface that Firn calls, each under its name there without `LLVM`
/// (llvm-c/Core.h and others). Booleans are ints, and true is a failure.
struct LlvmFunctions {
    void (*GetVersion)(unsigned* major, unsigned* minor, unsigned* patch);
    void (*InstallFatalErrorHandler)(void (*handler)(const char* reason));
    void (*DisposeMessage)(char* message);
    void (*ParseCommandLineOptions)(int count, const char* const* options, const char* overview);

    LlvmContext* (*ContextCreate)();
    void (*ContextDispose)(LlvmContext*);
    void (*ContextSetDiagnosticHandler)(LlvmContext*, void (*handler)(LlvmDiagnostic*, void* data),
                                        void* data);
    char* (*GetDiagInfoDescription)(LlvmDiagnostic*);
    int (*GetDiagInfoSeverity)(LlvmDiagnostic*);  // 0: an error

    LlvmBuffer* (*CreateMemoryBufferWithMemoryRange)(const char* bytes, size_t count,
                                                     const char* name, int ends_with_zero);
    const char* (*GetBufferStart)(LlvmBuffer*);
    size_t (*GetBufferSize)(LlvmBuffer*);
    void (*DisposeMemoryBuffer)(LlvmBuffer*);

    /// Takes the buffer.
    int (*ParseIRInContext)(LlvmContext*, LlvmBuffer*, LlvmModule** out, char** message);
    void (*DisposeModule)(LlvmModule*);
    /// Frees the second one.
    int (*LinkModules2)(LlvmModule* into, LlvmModule* from);
    int (*VerifyModule)(LlvmModule*, int action, char** message);
    LlvmValue* (*GetFirstFunction)(LlvmModule*);
    LlvmValue* (*GetNextFunction)(LlvmValue*);
    LlvmValue* (*GetNamedFunction)(LlvmModule*, const char* name);
    const char* (*GetValueName2)(LlvmValue*, size_t* length);
    void (*SetValueName2)(LlvmValue*, const char* name, size_t length);
    void (*SetLinkage)(LlvmValue*, int linkage);
    unsigned (*GetIntrinsicID)(LlvmValue*);
    int (*IsDeclaration)(LlvmValue*);

    int (*GetTargetFromTriple)(const char* triple, LlvmTarget** out, char** message);
    LlvmMachine* (*CreateTargetMachine)(LlvmTarget*, const char* triple, const char* cpu,
                                        const char* features, int optimisation, int relocation,
                                        int code_model);
    void (*DisposeTargetMachine)(LlvmMachine*);
    LlvmLayout* (*CreateTargetDataLayout)(LlvmMachine*);
    void (*SetModuleDataLayout)(LlvmModule*, LlvmLayout*);
    void (*DisposeTargetData)(LlvmLayout*);
    void (*SetTarget)(LlvmModule*, const char* triple);
    int (*TargetMachineEmitToMemoryBuffer)(LlvmMachine*, LlvmModule*, int kind, char** message,
                                           LlvmBuffer** out);

    LlvmPassOptions* (*CreatePassBuilderOptions)();
    void (*DisposePassBuilderOptions)(LlvmPassOptions*);
    LlvmFailure* (*RunPasses)(LlvmModule*, const char* passes, LlvmMachine*, LlvmPassOptions*);
    char* (*GetErrorMessage)(LlvmFailure*);
    void (*DisposeErrorMessage)(char* message);
};

/// An opened library, or why there is none. It is never closed.
struct LlvmLibrary {
    LlvmFunctions call{};
    std::string version;                      // "LLVM 19.1.7"; empty: there is no library
    std::vector<Architecture> architectures;  // for which it makes code
    std::string why_not;
};

/// The names that the library of LLVM 19 has on Debian and elsewhere.
std::span<const char* const> llvm_names();

/// Opens the first of these that is there, and looks up its functions. Costs some 20 ms, and 100
/// where the file has to be read from a disk.
LlvmLibrary open_llvm(std::span<const char* const> names);

/// The library of this process: opened at the first call, from any thread.
const LlvmLibrary& llvm_library();

/// Tells one build of the library from another without opening it: by its file's path, size and
/// time. Empty: there is none in the folders of the dynamic linker.
std::string llvm_file(std::span<const char* const> names);

/// Makes `*to` what LLVM says when it would end the process by a call on this thread; null:
/// nothing. From then on such a call never returns. See compile_native().
struct LlvmFatal {
    void (*tell)(void* data, const char* reason);
    void* data;
};
void on_llvm_fatal(const LlvmFatal* to);

}  // namespace firn
