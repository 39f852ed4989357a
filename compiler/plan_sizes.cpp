// The sizes of a program that only the device knows: where they lie, and what computes them when.
#include "compiler/plan_sizes.h"

#include <algorithm>
#include <span>

#include "compiler/lower/data_sizes.h"
#include "compiler/program/error.h"

namespace firn {

bool PlannedSizes::waits_for(const ScheduleItem& item) const {
    const auto counts = std::span(graph_.results).first(graph_.data_sizes.size());
    return std::any_of(item.outputs.begin(), item.outputs.end(), [&](const Ref& output) {
        return std::find(counts.begin(), counts.end(), output) != counts.end();
    });
}

void PlannedSizes::note(const std::unordered_map<const Node*, int>& buffers, size_t steps) {
    for (size_t k = 0; k < graph_.data_sizes.size(); ++k) {
        const std::string name = data_symbols(graph_.data_sizes[k]).at(0).name;
        const auto at = buffers.find(graph_.results[k].get());
        if (at == buffers.end() || !counts_.emplace(name, at->second).second) continue;
        ready_[name] = steps;
    }
}

std::pair<int, int64_t> PlannedSizes::place(const std::vector<Size>& sizes) {
    std::set<std::string> symbols;
    for (const Size& size : sizes)
        for (const SizeAtom& symbol : data_symbols(size)) {
            ensure(counts_.contains(symbol.name), "a kernel needs a size before it is computed");
            symbols.insert(symbol.name);
        }
    Table& table = tables_[symbols];
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

std::vector<PlannedSizes::Computation> PlannedSizes::computations() {
    std::vector<Computation> out;
    for (const auto& [symbols, table] : tables_) {
        Computation made;
        for (const std::string& name : symbols)
            made.before = std::max(made.before, ready_.at(name));
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
