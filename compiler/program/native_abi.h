// How a kernel in machine code is called: the contract between the target that writes such kernels
// and the executor that runs them.
#pragma once
#include <cstdint>

namespace firn {

/// Artefact::format of a kernel in machine code. The words are one length in bytes, then the bytes
/// of a relocatable object file, padded to whole words.
inline constexpr const char* kNativeFormat = "native";
/// The same where the kernel checks each of its accesses, and takes NativeCall::bytes and `fault`.
inline constexpr const char* kCheckedFormat = "native, checked";
/// The name of the function in that object file, a NativeKernel.
inline constexpr const char* kNativeSymbol = "firn_kernel";

/// A dispatch that takes one thread less time (in seconds) runs on the calling thread. Not
/// measured.
inline constexpr double kSecondsAlone = 10e-6;

/// An access outside its memory: the first that a thread of the dispatch was about to make.
struct NativeFault {
    enum Kind : uint32_t { Load, Store, Atomic };

    uint32_t found = 0;  // 1: the others say what
    /// The place of the access in accesses_of() (kernel/accesses.h); -1: the kernel makes it of its
    /// own accord.
    int32_t access = -1;
    uint32_t kind = Load;
    /// A binding or, behind these, the memory of its own that the kernel has.
    uint32_t buffer = 0;
    int64_t index = 0;     // of the element
    int64_t elements = 0;  // that there are
    uint64_t group = 0;
};

/// One dispatch, the same for all of its groups.
struct NativeCall {
    /// The memory of each binding, whatever its form: aligned to 64 bytes, with 64 more that may be
    /// read in front of it and behind it.
    void* const* buffers;
    /// DispatchStep::params in their order, 8 bytes each, as param_bits() gives them.
    const uint64_t* params;
    uint32_t groups[3];
    /// 0: what is stored exceeds the caches, so that rows of whole vectors may go past them;
    /// UINT64_MAX: no store does.
    uint64_t cached;
    /// For a kernel of kCheckedFormat, the bytes of each binding that hold elements, and the record
    /// of a fault, behind which the thread runs no further group. Null for other kernels.
    const uint64_t* bytes;
    NativeFault* fault;
};

/// Runs the groups [first, last) of groups[0] * groups[1] * groups[2], whose number is
/// x + groups[0] * (y + groups[1] * z). Any thread may run any of them. Floats are rounded to the
/// nearest, and subnormal ones are kept.
using NativeKernel = void (*)(const NativeCall* call, uint64_t first, uint64_t last);

}  // namespace firn
