// Kernels that would bind more tensors than the device does.
#pragma once
#include <functional>
#include <unordered_map>
#include <vector>

#include "compiler/kernel/bindings.h"
#include "compiler/schedule/regions.h"

namespace firn {

/// What the kernel of a materialised value stores: a kernel by hand stores all of its targets.
std::vector<Ref> outputs_of(const Ref& root);

/// A value in memory as a kernel binds it.
KernelBuffer bound_value(const Node& value, bool written);

/// Adds to `readers` what is in memory, and what is computed from it. True where there is more.
bool add_memory_readers(NodeSet& readers, const std::vector<Ref>& order,
                        const std::function<bool(const Node&)>& in_memory);

/// What kernels that may bind too much bind and ask for so far. Verdicts keep it up from consumers
/// to producers, so that values go to memory before their askers bind more than the device does.
class BindingPressure {
  public:
    BindingPressure(const DeviceProfile& profile, const SymbolFacts& facts)
        : profile_(profile), facts_(facts) {}

    /// The kernel that computes `root` binds too much. False where that is known already.
    bool add(const Node& root);
    bool contains(const Node& root) const { return kernels_.contains(kernel_of(root)); }
    bool empty() const { return kernels_.empty(); }
    /// The same kernels, of which nothing is judged yet.
    void restart();

    /// The kernel asks for a value that is in memory, or computed from what is.
    void ask(const Node& root, const Node& value);
    /// Asking for `inputs` instead of the value takes more bindings than the device has.
    bool exceeds(const Node& root, const Node& value, const std::vector<const Node*>& inputs) const;
    /// The kernel computes the value where it is asked.
    void inlined(const Node& root, const Node& value);

  private:
    struct Kernel {
        BindingCount count;
        NodeSet asked, counted;  // counted: those that it does not compute
    };
    /// One root stands for it: of what a kernel by hand stores its loop.
    static const Node* kernel_of(const Node& root);
    Kernel fresh(const Node& kernel) const;

    const DeviceProfile& profile_;
    const SymbolFacts& facts_;
    std::unordered_map<const Node*, Kernel> kernels_;
};

}  // namespace firn
