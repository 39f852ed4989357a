// Sizes that only the device knows, while recording: data symbols and their computation.
#include "compiler/frontend/data_size.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <span>
#include <unordered_set>

#include "compiler/base/error.h"
#include "compiler/frontend/run_graph.h"

namespace firn {
namespace {

DataSource& writable_source(const SizeAtom& symbol) {
    ensure(symbol.source != nullptr, "a recorded data symbol has a source");
    return *static_cast<DataSource*>(const_cast<void*>(symbol.source.get()));
}

std::string name_of(const Size& size) { return data_symbols(size).at(0).name; }

/// The sizes of the iterations of every loop below, in a fixed order.
std::vector<Size> iteration_sizes(const std::vector<Ref>& nodes) {
    std::vector<Size> out;
    for (const Ref& node : nodes)
        if (node->op == Op::Loop)
            out.insert(out.end(), node->as<LoopAttr>().sizes.begin(),
                       node->as<LoopAttr>().sizes.end());
    return out;
}

using Names = std::unordered_set<std::string>;

/// Finds the symbols, and checks that those of iterations stay in their loops.
class Collector {
  public:
    void below(const std::vector<Ref>& roots) {
        const std::vector<Ref> nodes = topological(roots);
        for (const Size& size : iteration_sizes(nodes)) of_iterations_.insert(name_of(size));
        for (const Ref& node : nodes) {
            if (!nodes_.insert(node.get()).second) continue;
            for_sizes(*node, [&](const Size& size) {
                for (const SizeAtom& symbol : data_symbols(size)) add(symbol, *node);
            });
        }
    }

    /// A loop's own sizes belong to its body; `allowed` are those of the loops around.
    void check_scopes(const std::vector<Ref>& roots, const Names& allowed = {}) const {
        if (of_iterations_.empty()) return;
        std::unordered_set<const Node*> seen;
        std::vector<Ref> open = roots;
        while (!open.empty()) {
            const Ref node = std::move(open.back());
            open.pop_back();
            if (!seen.insert(node.get()).second) continue;
            check(*node, allowed);
            open.insert(open.end(), node->inputs.begin(), node->inputs.end());
            if (node->op == Op::If)
                for (const auto& side :
                     {node->as<IfAttr>().then_body, node->as<IfAttr>().else_body})
                    open.insert(open.end(), side->results.begin(), side->results.end());
            if (node->op != Op::Loop) continue;
            const LoopAttr& attr = node->as<LoopAttr>();
            if (attr.sizes.empty()) {
                open.insert(open.end(), attr.body->results.begin(), attr.body->results.end());
                continue;
            }
            Names inside = allowed;
            for (const Size& size : attr.sizes) inside.insert(name_of(size));
            check_scopes(attr.body->results, inside);
        }
    }
    std::vector<SizeAtom> found;

  private:
    void add(const SizeAtom& symbol, const Node& node) {
        if (of_iterations_.contains(symbol.name) || !names_.insert(symbol.name).second) return;
        if (source_of(symbol).scope) refuse(symbol, node);
        for (const SizeAtom& inner : data_symbols(symbol.args[0])) add(inner, node);
        below({source_of(symbol).count});
        found.push_back(symbol);
    }

    void check(const Node& node, const Names& allowed) const {
        for_sizes(node, [&](const Size& size) {
            for (const SizeAtom& symbol : data_symbols(size))
                if (of_iterations_.contains(symbol.name) && !allowed.contains(symbol.name))
                    refuse(symbol, node);
        });
    }

    [[noreturn]] static void refuse(const SizeAtom& symbol, const Node& node) {
        fail_at(first_line(node.lines),
                "a size that an iteration of the loop recorded at " + text(source_of(symbol).loop) +
                    " computes is used outside of the loop, where it has no value; use a result of "
                    "the iteration there, such as a sum, or keep room for all elements, as "
                    "compact_padded and nonzero_padded do");
    }

    std::unordered_set<const Node*> nodes_;
    Names names_, of_iterations_;
};

/// Gives one node for all counts that are computed alike. Outside of loops and branches it does not
/// tell apart values that have an identity of their own (Node::own).
Ref merged_count(NodeTable& table, const Ref& count) {
    const auto is_region = [](const Node& node) {
        return node.op == Op::Loop || node.op == Op::If;
    };
    std::unordered_map<const Node*, Ref> kept;
    for (const Ref& node : topological({count}, is_region))
        if (is_region(*node)) kept.emplace(node.get(), node);
    return merge_equal(table, {count}, kept)[0];
}

bool is_open(const SessionState& session, uint64_t scope) {
    return std::any_of(session.scopes.begin(), session.scopes.end(),
                       [&](const Scope& each) { return each.id == scope; });
}

SizeMap map_of(const Shape& shape,
               const std::function<std::optional<int64_t>(const SizeAtom&)>& value) {
    SizeMap map;
    for (const Size& size : shape)
        for (const SizeAtom& symbol : data_symbols(size))
            if (const auto known = value(symbol)) map.emplace(symbol.name, Size(*known));
    return map;
}

}  // namespace

Size data_size(SessionState& session, const Ref& count, const Size& most, SourceLine line) {
    if (const size_t kernel = kernel_depth(session))
        fail_at(line,
                "a size that only the device knows cannot begin inside the kernel by hand recorded "
                "at " +
                    text(session.scopes[kernel].line) +
                    "; make it before the kernel, or count in the kernel");
    std::erase_if(session.data_sources, [](const auto& entry) { return entry.second.expired(); });
    std::shared_ptr<DataSource> source = session.data_sources[count.get()].lock();
    Ref merged = source ? source->merged : merged_count(session.nodes, count);
    if (!source) source = session.data_sources[merged.get()].lock();
    const bool fresh = !source || (source->scope && !is_open(session, source->scope));
    if (fresh) {
        source = std::make_shared<DataSource>();
        source->name = "?" + std::to_string(++session.last_id);
        source->count = count;
        source->merged = std::move(merged);
        // The source keeps both nodes alive, so their addresses stay theirs.
        session.data_sources[source->count.get()] = source;
        session.data_sources[source->merged.get()] = source;
    }
    // The bound is made of numbers of the host; otherwise the bounds of a frame loop would nest.
    const Size size = Size::data(source->name, largest(most), source);
    if (const size_t loop = innermost_loop(session); fresh && loop) {
        source->scope = session.scopes[loop].id;
        source->loop = session.scopes[loop].line;
        session.scopes[loop].sizes.push_back(size);
    }
    return size;
}

Names data_symbols_of(const std::vector<Ref>& roots) {
    Names names;
    for (const Ref& node : topological(roots))
        for_sizes(*node, [&](const Size& size) {
            for (const SizeAtom& symbol : data_symbols(size)) names.insert(symbol.name);
        });
    return names;
}

std::vector<Size> mentioned(const std::vector<Size>& sizes, const std::vector<Ref>& roots) {
    std::vector<Size> out;
    if (sizes.empty()) return out;
    const Names names = data_symbols_of(roots);
    std::copy_if(sizes.begin(), sizes.end(), std::back_inserter(out),
                 [&](const Size& size) { return names.contains(name_of(size)); });
    return out;
}

const Size* mentioned(const std::vector<Size>& sizes, const Shape& shape) {
    for (const Size& size : shape)
        for (const SizeAtom& symbol : data_symbols(size))
            for (const Size& own : sizes)
                if (name_of(own) == symbol.name) return &own;
    return nullptr;
}

namespace {

void rename(SessionState& session, const Size& size, SizeMap& map) {
    const SizeAtom symbol = data_symbols(size).at(0);
    map[symbol.name] =
        Size::data("?" + std::to_string(++session.last_id), largest(symbol.args[0].substitute(map)),
                   std::make_shared<DataSource>());
}

}  // namespace

void rename_iteration_sizes(SessionState& session, const std::vector<Ref>& roots, SizeMap& map) {
    for (const Size& size : iteration_sizes(topological(roots))) rename(session, size, map);
}

bool has_data_sizes(const Shape& shape) {
    return std::any_of(shape.begin(), shape.end(),
                       [](const Size& size) { return !data_symbols(size).empty(); });
}

const DataSource& source_of(const SizeAtom& symbol) { return writable_source(symbol); }

std::vector<SizeAtom> data_symbols_below(const std::vector<Ref>& roots) {
    Collector collector;
    collector.below(roots);
    std::vector<Ref> all = roots;
    for (const SizeAtom& symbol : collector.found) all.push_back(source_of(symbol).count);
    collector.check_scopes(all);
    return std::move(collector.found);
}

void name_data_sizes(NodeTable& table, Graph& graph, const std::vector<SizeAtom>& symbols) {
    SizeMap map;
    const auto name = [&](const SizeAtom& symbol) {
        return map
            .emplace(symbol.name,
                     Size::data("?" + std::to_string(map.size()), symbol.args[0].substitute(map)))
            .first->second;
    };
    for (const SizeAtom& symbol : symbols) graph.data_sizes.push_back(name(symbol));
    for (const Size& size : iteration_sizes(topological(graph.results)))
        name(data_symbols(size).at(0));
    if (map.empty()) return;
    std::vector<Ref> roots = graph.args;
    roots.insert(roots.end(), graph.results.begin(), graph.results.end());
    roots = substitute_sizes(table, roots, map);
    const auto results = roots.begin() + static_cast<std::ptrdiff_t>(graph.args.size());
    graph.args.assign(roots.begin(), results);
    graph.results.assign(results, roots.end());
}

void set_count(SessionState& session, const SizeAtom& symbol, const Ref& buffer) {
    DataSource& source = writable_source(symbol);
    if (source.count == buffer) return;
    auto at = session.data_sources.find(source.count.get());
    if (at != session.data_sources.end() && at->second.lock().get() == &source) {
        std::weak_ptr<DataSource> same = at->second;
        session.data_sources.erase(at);
        session.data_sources[buffer.get()] = std::move(same);
    }
    source.count = buffer;
}

Ref with_read_sizes(SessionState& session, const Ref& node) {
    if (!has_data_sizes(node->shape)) return node;
    const SizeMap map =
        map_of(node->shape, [](const SizeAtom& symbol) { return source_of(symbol).value; });
    return map.empty() ? node : substitute_sizes(session.nodes, {node}, map)[0];
}

int64_t read_size(SessionState& session, const SizeAtom& symbol) {
    DataSource& source = writable_source(symbol);
    if (!source.value) {
        int32_t count = 0;
        executor_of(session).read(*source.count->as<BufferAttr>().storage, 0,
                                  std::as_writable_bytes(std::span(&count, 1)));
        source.value = std::clamp<int64_t>(count, 0, largest(symbol.args[0]).constant());
    }
    return *source.value;
}

Ref with_known_sizes(SessionState& session, const Ref& node, SourceLine line) {
    if (!has_data_sizes(node->shape)) return node;
    const Ref buffer = realize_nodes(session, {node}, line)[0];
    const SizeMap map = map_of(buffer->shape, [&](const SizeAtom& symbol) {
        return std::optional(read_size(session, symbol));
    });
    return substitute_sizes(session.nodes, {buffer}, map)[0];
}

}  // namespace firn
