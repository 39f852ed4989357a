// The sizes of a program that only the device knows: where they lie, and what computes them when.
#include "compiler/plan/plan_sizes.h"

#include <algorithm>

#include "compiler/lower/data_sizes.h"
#include "compiler/program/error.h"

namespace firn {

PlannedSizes::PlannedSizes(const Graph& graph, Program& program) : program_(program) {
    for (size_t k = 0; k < graph.data_sizes.size(); ++k) values_.insert(graph.results[k].get());
    for (const Ref& node : topological(graph.results)) {
        if (node->op != Op::Loop) continue;
        const LoopAttr& attr = node->as<LoopAttr>();
        for (size_t k = 0; k < attr.sizes.size(); ++k) values_.insert(attr.body->results[k].get());
    }
    enter(graph.data_sizes, graph.results, "");
}

bool PlannedSizes::waits_for(const ScheduleItem& item) const {
    return std::any_of(item.outputs.begin(), item.outputs.end(),
                       [&](const Ref& output) { return values_.contains(output.get()); });
}

void PlannedSizes::enter(const std::vector<Size>& sizes, const std::vector<Ref>& counts,
                         const std::string& induction) {
    Region region;
    region.induction = induction;
    for (size_t k = 0; k < sizes.size(); ++k)
        region.symbols[data_symbols(sizes[k]).at(0).name] = counts[k].get();
    regions_.push_back(std::move(region));
}

void PlannedSizes::open(const Node& loop, const std::string& induction) {
    const LoopAttr& attr = loop.as<LoopAttr>();
    enter(attr.sizes, attr.body->results, induction);
}

void PlannedSizes::note(const std::unordered_map<const Node*, int>& buffers, size_t steps) {
    Region& region = regions_.back();
    for (const auto& [name, value] : region.symbols) {
        const auto at = buffers.find(value);
        if (at == buffers.end() || !counts_.emplace(name, at->second).second) continue;
        region.ready[name] = steps;
    }
}

/// The innermost in which one of the symbols begins, or which counts by one of them.
PlannedSizes::Region& PlannedSizes::region_of(const std::set<std::string>& symbols) {
    for (size_t k = regions_.size(); k-- > 1;) {
        const Region& region = regions_[k];
        if (std::any_of(symbols.begin(), symbols.end(), [&](const std::string& name) {
                return name == region.induction || region.symbols.contains(name);
            }))
            return regions_[k];
    }
    return regions_.front();
}

std::pair<int, int64_t> PlannedSizes::place(const std::vector<Size>& sizes) {
    std::set<std::string> symbols;
    for (const Size& size : sizes) {
        for (const SizeAtom& symbol : data_symbols(size)) {
            ensure(counts_.contains(symbol.name), "a kernel needs a size before it is computed");
            symbols.insert(symbol.name);
        }
        for (const std::string& name : size.symbols())
            if (std::any_of(regions_.begin(), regions_.end(),
                            [&](const Region& r) { return r.induction == name; }))
                symbols.insert(name);
    }
    Table& table = region_of(symbols).tables[symbols];
    if (table.buffer < 0) {
        table.buffer = static_cast<int>(program_.buffers.size());
        BufferInfo info;
        info.name = "sizes";
        info.dtype = i32;
        program_.buffers.push_back(std::move(info));
    }
    auto at = std::search(table.sizes.begin(), table.sizes.end(), sizes.begin(), sizes.end());
    const int64_t place = at - table.sizes.begin();
    if (at == table.sizes.end()) table.sizes.insert(at, sizes.begin(), sizes.end());
    program_.buffers[static_cast<size_t>(table.buffer)].elements = Size(table.sizes.size());
    return {table.buffer, place};
}

std::vector<PlannedSizes::Computation> PlannedSizes::close() {
    const Region region = std::move(regions_.back());
    regions_.pop_back();
    std::vector<Computation> out;
    for (const auto& [symbols, table] : region.tables) {
        Computation made;
        for (const std::string& name : symbols)
            if (const auto at = region.ready.find(name); at != region.ready.end())
                made.before = std::max(made.before, at->second);
        made.buffer = table.buffer;
        made.code = sizes_kernel(table.sizes, counts_, table.buffer);
        made.code.name = "sizes";
        out.push_back(std::move(made));
    }
    std::stable_sort(out.begin(), out.end(), [](const Computation& a, const Computation& b) {
        return a.before > b.before;
    });
    return out;
}

}  // namespace firn
