// Accesses to a group's memory that no barrier orders, for the host interpreter.
#include "compiler/kernel/interpret/interpret_races.h"

#include <string>

#include "compiler/base/error.h"

namespace firn {
namespace {

std::string line_of(const KernelNode& node) {
    return node.lines.empty() ? "?" : text(node.lines[0]);
}

bool reads(const KernelNode& node) {
    return node.op == KernelOp::Load || node.op == KernelOp::MatrixLoad;
}

[[noreturn]] void fail(const KernelNode& first, const KernelNode& second) {
    const auto verb = [](const KernelNode& node) { return reads(node) ? "reads" : "stores"; };
    throw UserError(std::string("shared: one invocation ") + verb(first) + " an element at " +
                    line_of(first) + " and another " + verb(second) + " it at " + line_of(second) +
                    " without a barrier between; which comes first differs from run to run: call "
                    "barrier() in between");
}

}  // namespace

std::vector<SharedRaces::Element>& SharedRaces::buffer_of(const KernelNode& node,
                                                          int64_t elements) {
    const auto buffer = static_cast<size_t>(node.as<AccessAttr>().buffer);
    if (elements_.size() <= buffer) elements_.resize(buffer + 1);
    elements_[buffer].resize(static_cast<size_t>(elements));
    return elements_[buffer];
}

void SharedRaces::access(const KernelNode& node, int64_t elements, const int32_t* index,
                         const LaneMask& mask) {
    std::vector<Element>& all = buffer_of(node, elements);
    const int width = node.as<AccessAttr>().width;
    for (size_t lane = 0; lane < mask.on.size(); ++lane) {
        if (!mask.on[lane]) continue;
        for (int64_t at = index[lane]; at < index[lane] + width; ++at) {
            if (at < 0 || at >= elements) continue;  // said elsewhere
            Element& element = all[static_cast<size_t>(at)];
            if (reads(node))
                read(element, node, static_cast<int>(lane));
            else
                write(element, node, static_cast<int>(lane));
        }
    }
}

void SharedRaces::clear(const KernelNode& node, int64_t elements, int lanes) {
    std::vector<Element>& all = buffer_of(node, elements);
    for (size_t at = 0; at < all.size(); ++at)
        write(all[at], node, static_cast<int>(at % static_cast<size_t>(lanes)));
}

void SharedRaces::read(Element& element, const KernelNode& node, int lane) const {
    if (by_another(element.writer, lane)) fail(*element.writer.node, node);
    const Use use{&node, lane, epoch_};
    if (element.reader.epoch != epoch_)
        element.reader = use;
    else if (element.reader.lane != lane)
        element.other_reader = use;
}

void SharedRaces::write(Element& element, const KernelNode& node, int lane) const {
    for (const Use& reader : {element.reader, element.other_reader})
        if (by_another(reader, lane)) fail(*reader.node, node);
    const Use& writer = element.writer;
    if (by_another(writer, lane) && writer.node != &node &&
        (writer.node->op != KernelOp::Atomic || node.op != KernelOp::Atomic))
        fail(*writer.node, node);
    element.writer = {&node, lane, epoch_};
}

}  // namespace firn
