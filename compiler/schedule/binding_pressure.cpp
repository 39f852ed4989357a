// Tracks kernels that would bind more tensors than the device allows.
#include "compiler/schedule/binding_pressure.h"

namespace firn {

std::vector<Ref> outputs_of(const Ref& root) {
    if (!is_stored_by_hand(*root)) return {root};
    return root->inputs[0]->as<LoopAttr>().body->results;
}

KernelBuffer bound_value(const Node& value, bool written) {
    KernelBuffer out;
    out.dtype = value.dtype;
    out.elements = element_count(largest(value.shape));
    out.written = written;
    return out;
}

bool add_memory_readers(NodeSet& readers, const std::vector<Ref>& order,
                        const std::function<bool(const Node&)>& in_memory) {
    const size_t before = readers.size();
    for (const Ref& ref : order) {
        bool reads = in_memory(*ref);
        for (const Ref& input : ref->inputs) reads |= readers.contains(input.get());
        if (ref->op == Op::Loop || ref->op == Op::If)
            for (const Ref& r : region_results(*ref)) reads |= readers.contains(r.get());
        if (reads) readers.insert(ref.get());
    }
    return readers.size() > before;
}

const Node* BindingPressure::kernel_of(const Node& root) {
    return is_stored_by_hand(root) ? root.inputs[0].get() : &root;
}

BindingPressure::Kernel BindingPressure::fresh(const Node& kernel) const {
    Kernel out;
    if (kernel.op == Op::Loop)
        for (const Ref& stored : kernel.as<LoopAttr>().body->results)
            out.count.add(bound_value(*stored, true), profile_, facts_);
    else
        out.count.add(bound_value(kernel, true), profile_, facts_);
    return out;
}

bool BindingPressure::add(const Node& root) {
    const Node* kernel = kernel_of(root);
    return kernels_.emplace(kernel, fresh(*kernel)).second;
}

void BindingPressure::restart() {
    for (auto& [root, kernel] : kernels_) kernel = fresh(*root);
}

void BindingPressure::ask(const Node& root, const Node& value) {
    Kernel& kernel = kernels_.at(kernel_of(root));
    if (!kernel.asked.insert(&value).second) return;
    kernel.counted.insert(&value);
    kernel.count.add(bound_value(value, false), profile_, facts_);
}

bool BindingPressure::exceeds(const Node& root, const Node& value,
                              const std::vector<const Node*>& inputs) const {
    const Kernel& kernel = kernels_.at(kernel_of(root));
    BindingCount after = kernel.count;
    after.remove(bound_value(value, false), profile_, facts_);
    NodeSet seen;
    for (const Node* input : inputs)
        if (!kernel.asked.contains(input) && seen.insert(input).second)
            after.add(bound_value(*input, false), profile_, facts_);
    bool grows = false;
    for (size_t form = 0; form < kBindingForms; ++form)
        grows |= after.of[form] > kernel.count.of[form];
    return grows && !after.fits(profile_);
}

void BindingPressure::inlined(const Node& root, const Node& value) {
    Kernel& kernel = kernels_.at(kernel_of(root));
    if (kernel.counted.erase(&value))
        kernel.count.remove(bound_value(value, false), profile_, facts_);
}

}  // namespace firn
