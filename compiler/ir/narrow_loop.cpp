// Loops whose iterations touch the same few elements of a tensor.
#include "compiler/ir/narrow_loop.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "compiler/ir/affine_index.h"
#include "compiler/ir/distinct_positions.h"

namespace firn {
namespace {

using Replaced = std::unordered_map<const Node*, Ref>;

/// A carried tensor that the iterations touch at the same places only.
struct Touched {
    std::vector<Ref> versions;  // the argument, and what each store makes of it
    std::vector<Ref> at;        // an index for each axis
    std::vector<Ref> reads;     // all Gathers of versions
};

bool changes_with(const Node& node, const Region& body) {
    if (!node.free_args) return false;
    return std::any_of(body.args.begin(), body.args.end(), [&](const Ref& arg) {
        return std::binary_search(node.free_args->begin(), node.free_args->end(),
                                  arg->as<RegionArgAttr>().id);
    });
}

/// Returns the indices of a Scatter or a Gather.
std::vector<Ref> indices_of(const Node& node) {
    return {node.inputs.begin() + (node.op == Op::Scatter ? 2 : 1), node.inputs.end()};
}

/// True if the index is inside `extent` at all positions.
bool is_inside(const Node& index, const Size& extent) {
    const auto known = affine_index(index);
    if (!known || known->offset.lower_bound() < 0) return false;
    const Size last = known->axis < 0
                          ? known->offset
                          : known->offset + index.shape[static_cast<size_t>(known->axis)] - Size(1);
    return (extent - Size(1) - last).lower_bound() >= 0;
}

bool reads_at(const Node& node, const Touched& touched) {
    if (node.op != Op::Gather || indices_of(node) != touched.at) return false;
    const std::vector<Bounds>& modes = node.as<GatherAttr>().modes;
    for (size_t k = 0; k < modes.size(); ++k)
        if (modes[k] != Bounds::Constant && modes[k] != Bounds::Unchecked &&
            !is_inside(*touched.at[k], node.inputs[0]->shape[k]))
            return false;
    return true;
}

/// Follows the stores that make the next value of carried value k from its argument.
std::optional<Touched> stores_of(const Region& body, size_t k) {
    const Ref& arg = body.args[k + 1];
    Touched out;
    for (Ref at = body.results[k]; at != arg; at = at->inputs[0]) {
        if (at->op != Op::Scatter) return std::nullopt;
        const ScatterAttr& attr = at->as<ScatterAttr>();
        if (attr.by_hand || attr.part) return std::nullopt;
        if (out.at.empty()) {
            out.at = indices_of(*at);
            const bool same = std::none_of(out.at.begin(), out.at.end(), [&](const Ref& index) {
                return changes_with(*index, body);
            });
            const bool apart = at->inputs[1]->shape.empty() || has_distinct_positions(*at);
            if (!same || !apart) return std::nullopt;
        }
        if (indices_of(*at) != out.at) return std::nullopt;
        out.versions.insert(out.versions.begin(), at);
    }
    if (out.versions.empty()) return std::nullopt;
    out.versions.insert(out.versions.begin(), arg);
    return out;
}

/// Notes the reads of the versions; false if anything else uses one of them.
bool note_reads(const Region& body, size_t k, const std::vector<Ref>& nodes, Touched& touched) {
    const auto version = [&](const Ref& node) {
        return std::find(touched.versions.begin(), touched.versions.end(), node) !=
               touched.versions.end();
    };
    const auto yields = [&](const Region& region, size_t other) {
        for (size_t j = 0; j < region.results.size(); ++j)
            if (j != other && version(region.results[j])) return true;
        return false;
    };
    if (yields(body, k)) return false;
    for (const Ref& node : nodes) {
        if (node->op == Op::Loop && yields(*node->as<LoopAttr>().body, SIZE_MAX)) return false;
        if (node->op == Op::If && (yields(*node->as<IfAttr>().then_body, SIZE_MAX) ||
                                   yields(*node->as<IfAttr>().else_body, SIZE_MAX)))
            return false;
        for (size_t j = 0; j < node->inputs.size(); ++j) {
            if (!version(node->inputs[j])) continue;
            if (j == 0 && version(node)) continue;
            if (j > 0 || !reads_at(*node, touched)) return false;
            touched.reads.push_back(node);
        }
    }
    return true;
}

/// True if the elements are at most half of the tensor's.
bool are_few(const Touched& touched) {
    const Node& store = *touched.versions[1];
    const Shape& positions = store.inputs[1]->shape;
    if (store.shape.empty()) return false;
    if (positions.empty()) return !(element_count(store.shape) == Size(1));
    return (element_count(store.shape) - Size(2) * element_count(positions)).lower_bound() >= 0;
}

std::optional<Touched> touched_by(const Region& body, size_t k, const std::vector<Ref>& nodes) {
    std::optional<Touched> out = stores_of(body, k);
    if (!out || !are_few(*out) || !note_reads(body, k, nodes, *out)) return std::nullopt;
    return out;
}

/// The elements as a tensor of their own: its shape, and the indices there of all positions,
/// outside where the position is outside of the whole tensor.
struct Elements {
    Shape shape;
    std::vector<Ref> at;
};

Elements elements_of(const Builder& b, const Touched& touched) {
    const Node& store = *touched.versions[1];
    const Shape& positions = store.inputs[1]->shape;
    Elements out{positions, {}};
    for (size_t axis = 0; axis < positions.size(); ++axis)
        out.at.push_back(index(b, positions, static_cast<int>(axis)));
    if (positions.empty()) {
        out.shape = {Size(1)};
        out.at.push_back(constant_int(b, 0));
    }
    for (size_t k = 0; k < touched.at.size(); ++k) {
        const Ref& to = touched.at[k];
        if (is_inside(*to, store.shape[k])) continue;
        const Ref above = elementwise(b, Op::LessEqual, {constant_int(b, 0), to}),
                  below = elementwise(b, Op::Less, {to, size_value(b, store.shape[k])}),
                  inside = elementwise(b, Op::And, {above, below});
        out.at[0] = elementwise(b, Op::Select, {inside, out.at[0], constant_int(b, -1)});
    }
    return out;
}

/// Replaces the versions in the body: `arg` stands for the first one.
void replace_versions(const Builder& b, const Touched& touched, const Elements& elements,
                      const Ref& arg, Replaced& replaced) {
    Ref version = arg;
    for (size_t j = 0; j < touched.versions.size(); ++j) {
        const Ref& old = touched.versions[j];
        if (j > 0) {
            const Ref values = substitute(b.table, {old->inputs[1]}, replaced)[0];
            version = scatter(b, version, values, elements.at,
                              {.op = old->as<ScatterAttr>().op, .unique = true});
            note_lines(*version, old->lines);
        }
        replaced[old.get()] = version;
        for (const Ref& read : touched.reads) {
            if (read->inputs[0] != old) continue;
            const std::vector<Bounds> modes(elements.at.size(), Bounds::Constant);
            const Ref made = gather(b, version, elements.at, modes, read->as<GatherAttr>().fill);
            note_lines(*made, read->lines);
            replaced[read.get()] = made;
        }
    }
}

/// Reads the elements of `whole`.
Ref read_elements(const Builder& b, const Ref& whole, const Touched& touched,
                  const Elements& elements) {
    const std::vector<Bounds> modes(touched.at.size(), Bounds::Constant);
    const Ref read = gather(b, whole, touched.at, modes, scalar_int(0).to(whole->dtype));
    return reshape(b, read, elements.shape);
}

Ref store_elements(const Builder& b, const Ref& whole, const Ref& values, const Touched& touched) {
    const Shape& positions = touched.versions[1]->inputs[1]->shape;
    return scatter(b, whole, reshape(b, values, positions), touched.at,
                   {.op = ScatterOp::Last, .unique = true});
}

}  // namespace

std::vector<Ref> narrowed_loop(const Builder& b, const Node& loop) {
    const LoopAttr& attr = loop.as<LoopAttr>();
    if (loop.free_args || attr.by_hand() || attr.active >= 0 || attr.host || attr.open ||
        attr.must_end != MustEnd::No || !attr.sizes.empty())
        return {};
    const Region& body = *attr.body;
    const std::vector<Ref> nodes = topological(body.results);
    std::vector<std::optional<Touched>> touched;
    for (size_t k = 0; k < body.results.size(); ++k) touched.push_back(touched_by(body, k, nodes));
    if (std::none_of(touched.begin(), touched.end(), [](const auto& of) { return of.has_value(); }))
        return {};
    Region made{{region_arg(b, i32, {})}, {}};
    Replaced replaced{{body.args[0].get(), made.args[0]}};
    std::vector<Ref> inits(loop.inputs.begin() + 3, loop.inputs.end());
    std::vector<Elements> elements(touched.size());
    for (size_t k = 0; k < touched.size(); ++k) {
        const Node& arg = *body.args[k + 1];
        if (touched[k]) {
            elements[k] = elements_of(b, *touched[k]);
            inits[k] = read_elements(b, inits[k], *touched[k], elements[k]);
        }
        made.args.push_back(region_arg(b, arg.dtype, inits[k]->shape));
        if (!touched[k]) replaced[&arg] = made.args.back();
    }
    for (size_t k = 0; k < touched.size(); ++k)
        if (touched[k]) replace_versions(b, *touched[k], elements[k], made.args[k + 1], replaced);
    made.results = substitute(b.table, body.results, replaced);
    const Ref narrow =
        firn::loop(b, loop.inputs[0], loop.inputs[1], loop.inputs[2], std::move(inits),
                   std::move(made), -1, MustEnd::No, {}, attr.checkpoint);
    note_lines(*narrow, loop.lines);
    std::vector<Ref> out;
    for (size_t k = 0; k < touched.size(); ++k) {
        const Ref value = result(b, narrow, static_cast<int>(k));
        out.push_back(touched[k] ? store_elements(b, loop.inputs[k + 3], value, *touched[k])
                                 : value);
    }
    return out;
}

}  // namespace firn
