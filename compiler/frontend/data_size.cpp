// Sizes that only the device knows, while recording: data symbols and what computes them.
#include "compiler/frontend/data_size.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <span>
#include <unordered_set>

#include "compiler/frontend/realize.h"
#include "compiler/program/error.h"

namespace firn {
namespace {

DataSource& writable_source(const SizeAtom& symbol) {
    ensure(symbol.source != nullptr, "a recorded data symbol has a source");
    return *static_cast<DataSource*>(const_cast<void*>(symbol.source.get()));
}

class Collector {
  public:
    void below(const std::vector<Ref>& roots) {
        for (const Ref& node : topological(roots)) {
            if (!nodes_.insert(node.get()).second) continue;
            for_sizes(*node, [&](const Size& size) {
                for (const SizeAtom& symbol : data_symbols(size)) add(symbol);
            });
        }
    }
    std::vector<SizeAtom> found;

  private:
    void add(const SizeAtom& symbol) {
        if (!names_.insert(symbol.name).second) return;
        for (const SizeAtom& inner : data_symbols(symbol.args[0])) add(inner);
        below({source_of(symbol).count});
        found.push_back(symbol);
    }

    std::unordered_set<const Node*> nodes_;
    std::unordered_set<std::string> names_;
};

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
    for (const Scope& scope : session.scopes)
        if (scope.kind == ScopeKind::Loop)
            fail_at(line,
                    "a size that only the device knows cannot begin inside the loop recorded at " +
                        text(scope.line) +
                        ", where every turn could give another; keep room for all, as "
                        "compact_padded and "
                        "nonzero_padded do, or compact before the loop");
    std::erase_if(session.data_sources, [](const auto& entry) { return entry.second.expired(); });
    auto& entry = session.data_sources[count.get()];
    std::shared_ptr<DataSource> source = entry.lock();
    if (!source) {
        source = std::make_shared<DataSource>();
        source->name = "?" + std::to_string(++session.last_id);
        source->count = count;
        entry = source;
    }
    // A bound in numbers of the host: the frames of a loop would nest theirs.
    return Size::data(source->name, largest(most), source);
}

bool has_data_sizes(const Shape& shape) {
    return std::any_of(shape.begin(), shape.end(),
                       [](const Size& size) { return !data_symbols(size).empty(); });
}

const DataSource& source_of(const SizeAtom& symbol) { return writable_source(symbol); }

std::vector<SizeAtom> data_symbols_below(const std::vector<Ref>& roots) {
    Collector collector;
    collector.below(roots);
    return std::move(collector.found);
}

void name_data_sizes(NodeTable& table, Graph& graph, const std::vector<SizeAtom>& symbols) {
    if (symbols.empty()) return;
    SizeMap map;
    for (const SizeAtom& symbol : symbols) {
        const Size name =
            Size::data("?" + std::to_string(map.size()), symbol.args[0].substitute(map));
        map.emplace(symbol.name, name);
        graph.data_sizes.push_back(name);
    }
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
    const SizeMap map =
        map_of(buffer->shape, [&](const SizeAtom& symbol) { return std::optional(read_size(session, symbol)); });
    return substitute_sizes(session.nodes, {buffer}, map)[0];
}

}  // namespace firn
