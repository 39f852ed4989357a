// Estimates, before a call, how many iterations loops and reductions take.
#include "compiler/schedule/trip_counts.h"

#include <algorithm>
#include <optional>

#include "compiler/target/cost_table.h"

namespace firn {
namespace {

/// Estimates a number that the caller chooses as the largest that it can be, if that is known.
std::optional<double> bounded_estimate(const Size& size, const SymbolFacts& symbols) {
    const auto most = static_cast<double>(size.upper_bound(symbols.largest));
    if (most > costs::kLongestKnown) return std::nullopt;
    return std::max(1.0, most);
}

/// Returns what was counted already, or counts now.
double known_trips(const RegionFacts& regions, const Node& loop, const SymbolFacts& symbols) {
    const auto found = regions.trips.find(&loop);
    return found != regions.trips.end() ? found->second : expected_trips(loop, symbols);
}

}  // namespace

double expected_trips(const Node& loop, const SymbolFacts& symbols) {
    auto value = [&](int k) -> std::optional<double> {
        const auto size = host_size(*loop.inputs[k], {});
        if (!size) return std::nullopt;
        for (const std::string& s : size->symbols())
            if (s[0] == '$') return bounded_estimate(*size, symbols);
        return estimate(*size, symbols);
    };
    const auto begin = value(0), end = value(1), step = value(2);
    if (!begin || !end || !step || *step == 0) return costs::kUnknownTrips;
    return std::max(0.0, (*end - *begin) / *step);
}

void note_expected_trips(RegionFacts& regions, const SymbolFacts& symbols) {
    for (const Ref& node : regions.order)
        if (node->op == Op::Loop) regions.trips.emplace(node.get(), expected_trips(*node, symbols));
}

double most_trips(const Node& loop, const HostNumbers& numbers, const DeviceProfile& profile,
                  const SymbolFacts& symbols) {
    const auto begin = host_size(*loop.inputs[0], numbers.inductions),
               end = host_size(*loop.inputs[1], numbers.inductions);
    if (!begin || !end) return profile.max_back_edges;
    const Size &from = *begin, &to = *end;
    const int64_t most = std::max((to - from).upper_bound(symbols.largest),
                                  (from - to).upper_bound(symbols.largest));
    return std::clamp(static_cast<double>(most), 1.0, static_cast<double>(profile.max_back_edges));
}

double reduction_trips(const Node& reduce, const SymbolFacts& symbols) {
    double trips = 1;
    for (int axis : reduce.as<ReduceAttr>().axes)
        trips *= estimate(reduce.inputs[0]->shape[axis], symbols);
    return trips;
}

double expected_runs(const RegionFacts& regions, const SymbolFacts& symbols, const Node& node) {
    double runs = 1;
    for (const Node* loop : regions.loops.at(&node))
        if (regions.host_loops.contains(loop))
            runs *= std::max(1.0, known_trips(regions, *loop, symbols));
    return runs;
}

std::vector<std::pair<const Node*, double>> kernel_loops(const RegionFacts& regions,
                                                         const SymbolFacts& symbols,
                                                         const Node& node) {
    std::vector<std::pair<const Node*, double>> out;
    for (const Node* loop : regions.loops.at(&node))
        if (!regions.host_loops.contains(loop))
            out.emplace_back(loop, known_trips(regions, *loop, symbols));
    return out;
}

double expected_elements(const Shape& shape, const SymbolFacts& symbols) {
    // Products of numbers need no terms. It is asked for each use of each value.
    int64_t count = 1;
    for (const Size& extent : shape)
        if (!extent.is_constant() || __builtin_mul_overflow(count, extent.constant(), &count))
            return estimate(element_count(shape), symbols);
    return static_cast<double>(count);
}

}  // namespace firn
