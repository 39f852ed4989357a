// Replaces operator new by one that counts.
#include "tests/runtime/allocation_count.h"

#include <cstdlib>
#include <new>

namespace {
thread_local int count = 0;
}

int firn::allocation_count() { return count; }

void* operator new(size_t bytes) {
    ++count;
    if (void* memory = std::malloc(bytes > 0 ? bytes : 1)) return memory;
    throw std::bad_alloc();
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
    ++count;
    return std::malloc(bytes > 0 ? bytes : 1);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
