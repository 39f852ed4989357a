// LLVM's text to the object code of this processor, in process.
#pragma once
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "compiler/host/processor.h"

namespace firn {

struct LlvmLibrary;

struct NativeOptions {
    /// The directory in which objects are kept between runs; empty: none. See
    /// default_cache_directory().
    std::string cache_directory;
    /// Another library than that of this process; null: that one.
    const LlvmLibrary* library = nullptr;
};

/// Compiles a module of LLVM's text for a processor. Returns an artefact's words: the number of
/// bytes of an ELF object, then these bytes, filled up with zeros. The object's code may lie
/// anywhere, as long as the object's sections lie together. `name` appears in errors, and is no
/// part of the result. The module says nothing of the target. Calls of `llvm.*` that LLVM does not
/// know are found here. Throws InternalError with LLVM's message and the numbered text, because
/// texts are written by Firn; UserError with why_no_llvm() where there is no LLVM. An object from
/// the cache needs no LLVM, and does not open it. May be called from any thread.
std::vector<uint32_t> compile_native(const std::string& ir, const std::string& name,
                                     const NativeProcessor& processor,
                                     const NativeOptions& options = {});

/// The name by which a module calls kernel `k` of those that compile_native_program() joins to it.
std::string joined_kernel_name(size_t k);
/// Compiles a module together with modules of kernels, each of which defines kNativeSymbol, into
/// one ELF object, and returns its bytes. The object's symbols are the functions of `ir` that are
/// not internal there. `name` and errors are as for compile_native(); nothing is cached.
std::string compile_native_program(const std::string& ir, const std::vector<std::string>& kernels,
                                   const std::string& name, const NativeProcessor& processor);

/// Why no native code can be made here, and which package is missing; empty: it can. Opens LLVM.
std::string why_no_llvm();
/// `LLVM 19.1.7`; empty: there is none. Opens LLVM.
std::string llvm_version();
/// Tells one build of LLVM from another, and opens nothing: for keys of caches.
std::string native_compiler_version();

/// Opens LLVM, and compiles a function of a few lines, on another thread: the first compile then
/// takes no longer than others. The thread ends by itself, and its owner waits for it: a process
/// must not end while it runs.
std::jthread begin_loading_llvm(const NativeProcessor& processor);

}  // namespace firn
