// Recursion of any depth, on stacks of any size.
#include "compiler/base/fresh_stack.h"

#include <exception>
#include <thread>

namespace firn {

void on_fresh_stack(const std::function<void()>& work) {
    std::exception_ptr failure;
    std::thread([&] {
        try {
            work();
        } catch (...) {
            failure = std::current_exception();
        }
    }).join();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace firn
