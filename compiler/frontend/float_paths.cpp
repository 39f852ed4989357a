// Finds the values, and the memory, that others are computed from.
#include "compiler/frontend/float_paths.h"

namespace firn {
namespace {

bool has_regions(const Node& node) { return node.op == Op::Loop || node.op == Op::If; }

void for_bodies(const Node& node, const std::function<void(const Ref&)>& visit) {
    const auto all_of = [&](const Region& body) {
        for (const Ref& result : body.results) visit(result);
    };
    if (node.op == Op::Loop) all_of(*node.as<LoopAttr>().body);
    if (node.op != Op::If) return;
    all_of(*node.as<IfAttr>().then_body);
    all_of(*node.as<IfAttr>().else_body);
}

}  // namespace

void for_smooth_inputs(const Node& node, const std::function<void(const Ref&)>& visit) {
    if (!node.dtype.is_float() && !has_regions(node)) return;
    // A rule replaces the inputs that the value is made from.
    for (size_t k = node.op == Op::Ruled; k < node.inputs.size(); ++k) visit(node.inputs[k]);
    for_bodies(node, visit);
}

FloatPaths::FloatPaths(const std::vector<Ref>& roots, const IsSource& is_source, Buffers wanted) {
    const std::vector<Ref> order = topological(roots);
    NodeMap<uint32_t> sources, buffers;
    for (const Ref& node : order) {
        if (node->op == Op::Buffer && wanted == Buffers::Found) {
            buffers.insert(node.get(), static_cast<uint32_t>(buffers_.size()));
            buffers_.push_back(node);
        }
        if (!node->dtype.is_float() || !is_source(*node)) continue;
        sources.insert(node.get(), static_cast<uint32_t>(sources_.size()));
        sources_.push_back(node);
    }
    if (sources_.empty()) return;
    source_words_ = (sources_.size() + 63) / 64;
    words_ = source_words_ + (buffers_.size() + 63) / 64;
    bits_.resize(order.size() * words_);
    for (size_t row = 0; row < order.size(); ++row) {
        const Node& node = *order[row];
        rows_.insert(&node, static_cast<uint32_t>(row));
        uint64_t* own = &bits_[row * words_];
        const auto join = [&](const Ref& other, size_t first, size_t last) {
            const uint64_t* bits = &bits_[rows_.at(other.get()) * words_];
            for (size_t k = first; k < last; ++k) own[k] |= bits[k];
        };
        const auto set = [&](const NodeMap<uint32_t>& from, uint64_t* words) {
            if (const uint32_t* at = from.find(&node)) words[*at / 64] |= uint64_t{1} << *at % 64;
        };
        const auto memory = [&](const Ref& other) { join(other, source_words_, words_); };
        for (const Ref& input : node.inputs) memory(input);
        for_bodies(node, memory);
        for_smooth_inputs(node, [&](const Ref& other) { join(other, 0, source_words_); });
        set(sources, own);
        set(buffers, own + source_words_);
    }
}

std::vector<Ref> FloatPaths::chosen(const Node& root, size_t first,
                                    const std::vector<Ref>& from) const {
    std::vector<Ref> out;
    if (!any()) return out;
    const uint64_t* bits = &bits_[rows_.at(&root) * words_ + first];
    for (size_t k = 0; k < from.size(); ++k)
        if (bits[k / 64] >> k % 64 & 1) out.push_back(from[k]);
    return out;
}

std::vector<Ref> FloatPaths::sources_of(const Node& root) const {
    return chosen(root, 0, sources_);
}
std::vector<Ref> FloatPaths::buffers_of(const Node& root) const {
    return chosen(root, source_words_, buffers_);
}

}  // namespace firn
