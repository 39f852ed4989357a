// Kernels that would bind more tensors than the device does.
#include "compiler/schedule/crowds.h"

namespace firn {

KernelBuffer bound_value(const Node& value, bool written) {
    KernelBuffer out;
    out.dtype = value.dtype;
    out.elements = element_count(largest(value.shape));
    out.written = written;
    return out;
}

Crowds::Kernel Crowds::fresh(const Node& root) const {
    Kernel out;
    out.count.add(bound_value(root, true), profile_, facts_);
    return out;
}

bool Crowds::add(const Node& root) { return kernels_.emplace(&root, fresh(root)).second; }

void Crowds::restart() {
    for (auto& [root, kernel] : kernels_) kernel = fresh(*root);
}

void Crowds::ask(const Node& root, const Node& value) {
    Kernel& kernel = kernels_.at(&root);
    if (!kernel.asked.insert(&value).second) return;
    kernel.counted.insert(&value);
    kernel.count.add(bound_value(value, false), profile_, facts_);
}

bool Crowds::exceeds(const Node& root, const Node& value,
                     const std::vector<const Node*>& inputs) const {
    const Kernel& kernel = kernels_.at(&root);
    BindingCount after = kernel.count;
    after.remove(bound_value(value, false), profile_, facts_);
    std::unordered_set<const Node*> seen;
    for (const Node* input : inputs)
        if (!kernel.asked.contains(input) && seen.insert(input).second)
            after.add(bound_value(*input, false), profile_, facts_);
    const bool grows = after.texels > kernel.count.texels || after.storage > kernel.count.storage;
    return grows && !after.fits(profile_);
}

void Crowds::inlined(const Node& root, const Node& value) {
    Kernel& kernel = kernels_.at(&root);
    if (kernel.counted.erase(&value))
        kernel.count.remove(bound_value(value, false), profile_, facts_);
}

}  // namespace firn
