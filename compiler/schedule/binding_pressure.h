// Tracks kernels that would bind more tensors than the device allows.
#pragma once
#include <functional>
#include <unordered_map>
#include <vector>

#include "compiler/kernel/bindings.h"
#include "compiler/schedule/regions.h"

namespace firn {

/// Returns what the kernel of a materialised value stores; a kernel written by hand stores all of
/// its targets.
std::vector<Ref> outputs_of(const Ref& root);

/// Returns the binding of a value in memory in a kernel.
KernelBuffer bound_value(const Node& value, bool written);

/// Adds to `readers` the values in memory and everything computed from them. True if any was new.
bool add_memory_readers(NodeSet& readers, const std::vector<Ref>& order,
                        const std::function<bool(const Node&)>& in_memory);

/// The tensors that kernels which may bind too many bind, and those they ask for so far. Verdicts
/// update this from consumers to producers, so that values go to memory before the kernels
/// that ask for them bind more than the device allows.
class BindingPressure {
  public:
    BindingPressure(const DeviceProfile& profile, const SymbolFacts& facts)
        : profile_(profile), facts_(facts) {}

    /// Notes that the kernel that computes `root` binds too much. False if that is known already.
    bool add(const Node& root);
    bool contains(const Node& root) const { return kernels_.contains(kernel_of(root)); }
    bool empty() const { return kernels_.empty(); }
    /// Keeps the same kernels, and forgets what was judged of them.
    void restart();

    /// Notes that the kernel asks for a value that is in memory, or is computed from one that is.
    void ask(const Node& root, const Node& value);
    /// True if asking for `inputs` instead of the value takes more bindings than the device has.
    bool exceeds(const Node& root, const Node& value, const std::vector<const Node*>& inputs) const;
    /// Notes that the kernel computes the value at its uses.
    void inlined(const Node& root, const Node& value);

  private:
    struct Kernel {
        BindingCount count;
        NodeSet asked, counted;  // counted: those that it does not compute
    };
    /// Returns the one root that stands for a kernel: for a kernel written by hand, its loop.
    static const Node* kernel_of(const Node& root);
    Kernel fresh(const Node& kernel) const;

    const DeviceProfile& profile_;
    const SymbolFacts& facts_;
    std::unordered_map<const Node*, Kernel> kernels_;
};

}  // namespace firn
