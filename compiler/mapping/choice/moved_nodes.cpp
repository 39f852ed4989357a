// Nodes of a kernel that are the same, but for a constant step along a range of the grid.
#include "compiler/mapping/choice/moved_nodes.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <optional>

#include "compiler/kernel/place.h"

namespace firn {
namespace {

/// The first word of a text.
enum Word : int64_t {
    kLeafText,
    kConstantText,
    kIndexText,
    kSumText,
    kCarriedText,
    kLoopText,
    kNodeText
};

int64_t floor_quotient(int64_t a, int64_t b) {
    const int64_t q = a / b;
    return a % b < 0 ? q - 1 : q;
}

}  // namespace

bool is_innermost(const KernelCode& code, const KernelRegion& region) {
    return std::none_of(region.order.begin(), region.order.end(),
                        [&](NodeId id) { return code[id].op == KernelOp::For; });
}

MovedNodes::MovedNodes(const KernelCode& code, int64_t written_out)
    : code_(code),
      written_out_(written_out),
      forms_(code),
      region_(code.nodes.size()),
      parents_(region_parents(code)),
      body_(code.ranges.size()),
      loop_(code.regions.size()) {
    for (NodeId id : code.nodes.ids())
        if (code[id].op == KernelOp::For) loop_[code[id].as<BodyAttr>().region] = id;
    for (RegionId r : code.regions.ids()) {
        for (NodeId id : code[r].order) region_[id] = r;
        if (code[r].range) body_[code[r].range] = r;
    }
}

int MovedNodes::text_of(std::vector<int64_t> words) {
    return texts_.emplace(std::move(words), static_cast<int>(texts_.size())).first->second;
}

int64_t MovedNodes::word_of(const Size& size) {
    const auto at = std::find(sizes_.begin(), sizes_.end(), size) - sizes_.begin();
    if (at == std::ssize(sizes_)) sizes_.push_back(size);
    return at;
}

/// Loops that are written out have one index.
int64_t MovedNodes::word_of(RangeId range) {
    if (!body_[range]) return range.number();
    const auto [region, trips] = place_of(body_[range]);
    if (trips < 0) return range.number();
    return static_cast<int64_t>(code_.ranges.size()) + text_of({kLoopText, region.number(), trips});
}

/// The region where a node of this one is computed, and how often; -1: no loop is written out.
std::pair<RegionId, int64_t> MovedNodes::place_of(RegionId region) const {
    if (!region) return {region, -1};
    const RangeId range = code_[region].range;
    const int64_t trips = range ? code_[range].max_trips : -1;
    const bool whole = trips > 0 && trips <= written_out_ && is_innermost(code_, code_[region]);
    return whole ? std::pair{parents_[region], trips} : std::pair{region, int64_t{-1}};
}

/// Moves an index that is a sum with the range as a term.
std::optional<MovedNodes::Moved> MovedNodes::sum(NodeId id, RangeId range) {
    if (code_[id].dtype != i32) return std::nullopt;
    const IndexForm& form = forms_.of(id);
    if (!form.is_sum() || !form.sum.offset.is_constant()) return std::nullopt;
    const Size along = coefficient_of(form.sum, range);
    if (!along.is_constant() || along.is(0)) return std::nullopt;
    const int64_t stride = std::abs(along.constant()), offset = form.sum.offset.constant();
    const int64_t steps = floor_quotient(offset, stride);
    // Sums in any order of their loops are one text.
    std::vector<std::pair<int64_t, int64_t>> terms;
    for (const auto& [term, factor] : form.sum.terms)
        terms.emplace_back(word_of(term), word_of(factor));
    std::sort(terms.begin(), terms.end());
    std::vector<int64_t> text{kSumText, offset - steps * stride};
    for (const auto& [term, factor] : terms) text.insert(text.end(), {term, factor});
    return Moved{text_of(std::move(text)), along.constant() < 0 ? -steps : steps, true};
}

/// Adds parts to the text of a whole; its step is that of the first part that has one.
void MovedNodes::write(std::vector<NodeId> parts, bool in_order, std::vector<int64_t>& words,
                       Moved& whole) const {
    const auto text_and_step = [&](NodeId id) {
        return std::pair{moved_[id].text, moved_[id].step};
    };
    if (!in_order)
        std::sort(parts.begin(), parts.end(),
                  [&](NodeId a, NodeId b) { return text_and_step(a) < text_and_step(b); });
    for (NodeId id : parts) {
        const Moved& part = moved_[id];
        if (part.moves && !whole.moves) whole.step = part.step, whole.moves = true;
        words.insert(words.end(), {part.text, part.moves, part.moves ? part.step - whole.step : 0});
    }
}

/// Loops of one text whose initial values are alike carry alike values.
std::vector<int64_t> MovedNodes::carried(NodeId id) const {
    const auto& own = code_[id].as<CarriedAttr>();
    const auto [region, trips] = place_of(own.region);
    if (trips < 0 || !loop_[own.region]) return {};
    const NodeId init = code_[loop_[own.region]].args[static_cast<size_t>(own.position)];
    if (init > id || moved_[init].moves) return {};
    return {kCarriedText, region.number(), trips, own.position, moved_[init].text};
}

std::vector<int64_t> MovedNodes::looped(NodeId id, Moved& whole) const {
    const RegionId own = code_[id].as<BodyAttr>().region;
    const KernelRegion& body = code_[own];
    const auto [region, trips] = place_of(own);
    if (trips < 0 || !body.effects.empty() || body.alive) return {};
    std::vector<int64_t> words{kLoopText, region.number(), trips};
    write(code_[id].args, true, words, whole);
    write(body.yields, true, words, whole);
    return words;
}

MovedNodes::Moved MovedNodes::node(NodeId id) {
    const KernelNode& n = code_[id];
    Moved made;
    std::vector<int64_t> words;
    if (n.op == KernelOp::Constant) {
        const auto& number = n.as<Scalar>();
        words = {kConstantText, static_cast<int64_t>(n.dtype.type), number.i,
                 std::bit_cast<int64_t>(number.f)};
    } else if (n.op == KernelOp::Range) {
        words = {kIndexText, word_of(n.as<RangeId>())};
    } else if (n.op == KernelOp::RegionArg) {
        words = carried(id);
    } else if (n.op == KernelOp::For) {
        words = looped(id, made);
    } else if (n.op == KernelOp::Load || n.op == KernelOp::Result || is_elementwise(n.op)) {
        words = {kNodeText, static_cast<int64_t>(n.op), static_cast<int64_t>(n.dtype.type)};
        if (const auto* access = n.get_if<AccessAttr>()) words.push_back(access->buffer);
        if (const auto* result = n.get_if<PositionAttr>()) words.push_back(result->position);
        write(n.args, !(info(n.op).properties & kCommutative), words, made);
    }
    if (words.empty()) words = {kLeafText, id.number()};
    made.text = text_of(std::move(words));
    return made;
}

std::map<MovedNodes::Family, std::map<int64_t, std::vector<NodeId>>> MovedNodes::along(
    RangeId range) {
    moved_.assign(code_.nodes.size(), {});
    std::map<Family, std::map<int64_t, std::vector<NodeId>>> out;
    for (NodeId id : code_.nodes.ids()) {
        const std::optional<Moved> index = sum(id, range);
        const Moved made = moved_[id] = index ? *index : node(id);
        const KernelOp op = code_[id].op;
        if (!made.moves || !region_[id] || (op != KernelOp::Load && !is_elementwise(op))) continue;
        out[{made.text, place_of(region_[id])}][made.step].push_back(id);
    }
    return out;
}

}  // namespace firn
