// Scopes of loops and branches for front ends whose bodies are no C++ callbacks, such as Python's:
// opened and closed by calls, discarded where they are destroyed open; internal.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/frontend/control.h"

namespace firn {

struct Scope;

/// A recorded loop: its body is recorded between the constructor and close().
class LoopScope {
  public:
    /// Opens it; bounds and errors are those of loop().
    LoopScope(const Arg& begin, const Arg& end, const Arg& step, const LoopOptions& options = {});
    /// Discards what is recorded of an open one.
    ~LoopScope();
    LoopScope(const LoopScope&) = delete;
    LoopScope& operator=(const LoopScope&) = delete;

    /// The index of the iteration.
    Tensor index() const { return **iteration_; }
    /// Ends the body: tensors from outside have their values after the loop.
    void close() { ++*iteration_; }

  private:
    SharedPtr<SessionState> session_;
    std::optional<LoopRange> range_;
    std::optional<LoopRange::Iteration> iteration_;
};

/// A recorded branch, as if_() records it: the first side is recorded between the constructor and
/// otherwise(), the second between that and close().
class BranchScope {
  public:
    /// Opens the first side.
    explicit BranchScope(const Arg& condition);
    /// Discards what is recorded of an open one.
    ~BranchScope();
    BranchScope(const BranchScope&) = delete;
    BranchScope& operator=(const BranchScope&) = delete;

    /// Returns whether elements are chosen one by one: the second side then sees what the first
    /// assigned.
    bool masks() const { return masks_; }
    /// Ends the first side and opens the second.
    void otherwise();
    /// Ends the second side: tensors from outside have the values that the sides gave them.
    void close();

  private:
    friend class Carrier;
    SharedPtr<SessionState> session_;
    SharedPtr<const Node> condition_;
    SourceLine line_;
    bool masks_ = false;
    uint64_t scope_ = 0;      // the side that is open; 0: none
    SharedPtr<Scope> first_;  // the first side, once it has ended
};

/// A recorded loop with a condition, as while_() records it: test() is given the condition, which
/// is recorded after the constructor and before the body.
class WhileScope {
  public:
    /// Opens the loop.
    explicit WhileScope(const WhileOptions& options = {}, SourceLine line = here());
    ~WhileScope();
    WhileScope(const WhileScope&) = delete;
    WhileScope& operator=(const WhileScope&) = delete;

    /// Leaves the loop where the condition, a bool, does not hold.
    void test(const Tensor& condition);
    /// Ends the body.
    void close();

  private:
    SharedPtr<SessionState> session_;
    SourceLine line_;
    bool limited_ = false;  // by max_steps
    SharedPtr<Slot> active_;
    std::optional<LoopScope> loop_;
};

/// The scope in which tensors are born now, see Carrier.
uint64_t current_scope();

/// A tensor that belongs to an open scope, though it may be made in one that is nested in it: the
/// loops and branches nested in its scope carry what they assign to it.
class Carrier {
  public:
    /// A tensor of the current scope, or of an enclosing one, which has the value at the start of
    /// the scopes between. Without a value it must be assigned before it is read.
    explicit Carrier(const std::optional<Tensor>& value, uint64_t scope = current_scope(),
                     SourceLine line = here());

    /// Assigns as `tensor = value` does. Returns whether the value is now exactly that: not if a
    /// condition keeps other elements, or if it was converted.
    bool assign(const Tensor& value, SourceLine line);
    /// Its value in the current scope.
    Tensor read(SourceLine line) const;
    /// Returns whether `tensor` has the very same value in the current scope.
    bool holds(const Tensor& tensor) const;
    /// Returns whether it has a value in the current scope.
    bool has_value() const;
    /// Why a loop or a branch has left it without a value; empty: none did.
    const std::string& lost() const;
    /// A tensor of the same scope with the same values in the scopes since, as another type; no
    /// loop may have been opened since. `branches` are those that have been.
    Carrier as(DType type, const std::vector<BranchScope*>& branches) const;
    /// Returns whether a value of this type can be assigned in a loop or branch, without losing its
    /// kind.
    bool takes(DType type) const;

  private:
    explicit Carrier(SharedPtr<Slot> slot) : slot_(std::move(slot)) {}

    SharedPtr<Slot> slot_;
};

}  // namespace firn
