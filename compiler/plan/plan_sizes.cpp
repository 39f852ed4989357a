// The sizes of a program that only the device knows: their places, and the kernels that compute
// them.
#include "compiler/plan/plan_sizes.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "compiler/base/error.h"
#include "compiler/kernel/count.h"
#include "compiler/lower/data_sizes.h"

namespace firn {
namespace {

/// Sizes that depend on the same data symbols and inductions.
struct Table {
    int buffer = -1;
    std::vector<Size> sizes;
};

/// The steps of the program, or of a loop.
struct Region {
    std::string induction;
    std::map<std::string, size_t> ready;  // symbols that begin here: steps before they are known
    std::map<std::set<std::string>, Table> tables;
};

struct SizesRun {
    Program& program;
    const DeviceProfile& profile;
    std::vector<Region> regions;        // the program's own first
    std::map<std::string, int> counts;  // the buffer of each symbol's value
};

/// The innermost in which one of the symbols begins, or which counts by one of them.
Region& region_of(SizesRun& run, const std::set<std::string>& symbols) {
    for (size_t k = run.regions.size(); k-- > 1;) {
        Region& region = run.regions[k];
        if (std::any_of(symbols.begin(), symbols.end(), [&](const std::string& name) {
                return name == region.induction || region.ready.contains(name);
            }))
            return region;
    }
    return run.regions.front();
}

/// The data symbols and inductions that the sizes depend on.
std::set<std::string> symbols_of(const SizesRun& run, const std::vector<Size>& sizes) {
    std::set<std::string> out;
    const auto is_counted = [&](const std::string& name) {
        return std::any_of(run.regions.begin(), run.regions.end(),
                           [&](const Region& region) { return region.induction == name; });
    };
    for (const Size& size : sizes) {
        for (const SizeAtom& symbol : data_symbols(size)) {
            ensure(run.counts.contains(symbol.name), "a kernel needs a size before it is computed");
            out.insert(symbol.name);
        }
        for (const std::string& name : size.symbols())
            if (is_counted(name)) out.insert(name);
    }
    return out;
}

/// The buffer where `sizes` will lie one after the other, and the first one's place in it.
std::pair<int, int64_t> place_of(SizesRun& run, const std::vector<Size>& sizes) {
    const std::set<std::string> symbols = symbols_of(run, sizes);
    Table& table = region_of(run, symbols).tables[symbols];
    std::vector<BufferInfo>& buffers = run.program.buffers;
    if (table.buffer < 0) {
        table.buffer = static_cast<int>(buffers.size());
        BufferInfo info;
        info.name = "sizes";
        info.dtype = i32;
        buffers.push_back(std::move(info));
    }
    auto at = std::search(table.sizes.begin(), table.sizes.end(), sizes.begin(), sizes.end());
    const int64_t place = at - table.sizes.begin();
    if (at == table.sizes.end()) table.sizes.insert(at, sizes.begin(), sizes.end());
    buffers[static_cast<size_t>(table.buffer)].elements = Size(table.sizes.size());
    return {table.buffer, place};
}

void bind_kernel(SizesRun& run, ListedKernel& kernel) {
    const NeededSizes needed = needed_sizes(kernel.code, run.profile);
    std::vector<Size> all = needed.params;
    all.insert(all.end(), needed.groups.begin(), needed.groups.end());
    if (all.empty()) return;
    const auto [buffer, at] = place_of(run, all);
    bind_sizes(kernel.code, buffer, at);
    kernel.ready = nullptr, kernel.mapping.clear();
    if (!needed.groups.empty())
        kernel.group_counts = at + static_cast<int64_t>(needed.params.size());
}

/// Inserts the kernels that compute the sizes of a region between the steps.
void add_computations(SizesRun& run, const Region& region, std::vector<ListedStep>& steps) {
    std::vector<std::pair<size_t, ListedKernel>> made;  // by the step that it stands before
    for (const auto& [symbols, table] : region.tables) {
        auto& [before, kernel] = made.emplace_back();
        for (const std::string& name : symbols)
            if (const auto at = region.ready.find(name); at != region.ready.end())
                before = std::max(before, at->second);
        kernel.code = sizes_kernel(table.sizes, run.counts, table.buffer);
        kernel.code.name = "sizes";
        kernel.work = largest(count_work(kernel.code));
    }
    // The last first: inserting one does not move the next.
    std::stable_sort(made.begin(), made.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    for (auto& [before, kernel] : made)
        steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(before), {std::move(kernel)});
}

void bind_region(SizesRun& run, std::vector<ListedStep>& steps, const std::string& induction) {
    run.regions.push_back({induction, {}, {}});
    std::vector<ListedStep> out;
    for (ListedStep& step : steps) {
        if (const auto* size = std::get_if<ListedSize>(&step.step)) {
            if (run.counts.emplace(size->symbol, size->buffer).second)
                run.regions.back().ready[size->symbol] = out.size();
            continue;
        }
        if (auto* kernel = std::get_if<ListedKernel>(&step.step)) bind_kernel(run, *kernel);
        if (auto* loop = std::get_if<ListedLoop>(&step.step))
            bind_region(run, loop->body, loop->loop.induction);
        out.push_back(std::move(step));
    }
    add_computations(run, run.regions.back(), out);
    run.regions.pop_back();
    steps = std::move(out);
}

}  // namespace

void bind_list_sizes(KernelList& list, const DeviceProfile& profile) {
    SizesRun run{*list.program, profile, {}, {}};
    bind_region(run, list.steps, "");
}

}  // namespace firn
