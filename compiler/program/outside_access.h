// The error of a kernel that reaches outside its memory.
#pragma once
#include <cstdint>
#include <string>

#include "compiler/base/error.h"

namespace firn {

/// A kernel that checks its accesses was about to make one outside its memory. Nothing outside was
/// read or written; the arguments of the program are as they were.
struct OutsideAccess : InternalError {
    OutsideAccess(const std::string& what, size_t kernel_number, int32_t access_number)
        : InternalError(what), kernel(kernel_number), access(access_number) {}
    size_t kernel;   // of Program::kernels
    int32_t access;  // see NativeFault::access
};

}  // namespace firn
