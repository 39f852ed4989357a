// Recursion of any depth, on stacks of any size.
#pragma once
#include <functional>
#include <optional>
#include <utility>

namespace firn {

/// Calls `work` on an empty stack and returns when it is done; passes on its exceptions. Nothing
/// else runs meanwhile.
void on_fresh_stack(const std::function<void()>& work);

/// The steps of one recursion: after every so many nested ones it continues on a fresh stack, so
/// that it needs little of the stack that it began on.
class Recursion {
  public:
    /// Returns the result of `step`, which itself needs no more than some KiB of stack.
    template <class Step>
    auto operator()(const Step& step) {
        const Inside inside(depth_);
        if (depth_ % kPerStack != 0) return step();
        std::optional<decltype(step())> out;
        on_fresh_stack([&] { out.emplace(step()); });
        return std::move(*out);
    }
    /// Steps that wait for the one that is done now.
    int depth() const { return depth_; }

  private:
    static constexpr int kPerStack = 50;  // some 200 KiB
    struct Inside {
        explicit Inside(int& depth) : depth(depth) { ++depth; }
        ~Inside() { --depth; }
        Inside(const Inside&) = delete;
        Inside& operator=(const Inside&) = delete;
        int& depth;
    };
    int depth_ = 0;
};

}  // namespace firn
