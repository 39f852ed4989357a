// Lays out the picture of a schedule: places of values and kernels, and edges from values to their
// readers.
#include "engine/inspector/schedule_layout.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace firn {
namespace {

constexpr float kGap = 10, kStepX = ScheduleNode::kWidth + 26,
                kStepY = ScheduleNode::kHeight + kGap, kBetweenGroups = 44;
/// The number of values of a chain that stand side by side; the chain continues in the next row.
constexpr size_t kColumns = 8;

class Layout {
  public:
    Layout(const Program& program, const std::vector<CompileTrace::Value>& values,
           const std::map<int, bool>& folded)
        : program_(program), values_(values), folded_(folded) {}

    ScheduleLayout run() {
        add_groups(program_.steps, nullptr);
        const size_t count = std::min(values_.size(), program_.verdicts.size());
        fold(count);
        for (size_t v = 0; v < count; ++v) add_nodes(static_cast<int>(v));
        for (size_t v = 0; v < count; ++v) add_edges(static_cast<int>(v));
        nodes_in_.resize(out_.groups.size()), edges_to_.resize(out_.groups.size());
        for (size_t n = 0; n < out_.nodes.size(); ++n) nodes_in_[out_.nodes[n].group].push_back(n);
        for (const ScheduleEdge& edge : out_.edges) {
            edges_to_[out_.nodes[edge.to].group].push_back(edge);
            if (!edge.back) reads_[edge.to].push_back(edge.from);
        }
        for (size_t g = 0; g < out_.groups.size(); ++g) place_nodes(g);
        place_groups();
        return std::move(out_);
    }

  private:
    bool in_memory(int v) const {
        return program_.verdicts[static_cast<size_t>(v)].verdict == "materialised";
    }

    /// Makes a group for each dispatch, and one for values that belong to none.
    void add_groups(const std::vector<Step>& steps, const RepeatStep* loop) {
        if (out_.groups.empty()) out_.groups.emplace_back();
        for (const Step& step : steps) {
            if (const auto* dispatch = std::get_if<DispatchStep>(&step.step)) {
                const auto number = static_cast<int>(out_.groups.size()) - 1;
                out_.groups.push_back({number, dispatch->kernel, loop});
            }
            if (const auto* repeat = std::get_if<RepeatStep>(&step.step))
                add_groups(repeat->body, repeat);
        }
    }

    size_t node(int value, int argument, size_t group) {
        const auto [at, added] = places_.try_emplace({value, argument, group}, out_.nodes.size());
        if (added) out_.nodes.push_back({value, argument, 0, group});
        return at->second;
    }

    /// Returns the groups in which a value is computed.
    std::vector<size_t> groups_of(int v) const {
        std::vector<int> dispatches = values_[static_cast<size_t>(v)].dispatches;
        // A reader of memory reads the result of its last kernel; a copy has no kernel.
        if (in_memory(v)) {
            if (dispatches.empty()) dispatches = {-1};
            dispatches = {*std::max_element(dispatches.begin(), dispatches.end())};
        }
        std::vector<size_t> out;
        for (int dispatch : dispatches)
            out.push_back(std::min(static_cast<size_t>(dispatch + 1), out_.groups.size() - 1));
        return out;
    }

    void fold(size_t count) {
        for (size_t v = 0; v < count; ++v)
            for (size_t group : groups_of(static_cast<int>(v)))
                out_.groups[group].values += !in_memory(static_cast<int>(v));
        for (ScheduleGroup& group : out_.groups) {
            const auto said = folded_.find(group.dispatch);
            group.folded = said != folded_.end() ? said->second : group.values > kMostUnfolded;
        }
    }

    void add_nodes(int v) {
        for (size_t group : groups_of(v)) {
            size_t own = 0;
            if (out_.groups[group].folded && !in_memory(v)) {
                own = node(-1, -1, group);
                ++out_.nodes[own].folded;
                places_[{v, -1, group}] = own;
            } else {
                own = node(v, -1, group);
            }
            nodes_of_[v].push_back(own);
        }
    }

    void add_edge(size_t from, size_t to, bool back) {
        // An edge from memory of a folded group back into the group is left out.
        const bool inside = out_.nodes[from].group == out_.nodes[to].group;
        if (from == to || (inside && out_.nodes[to].folded > 0 && out_.nodes[from].value >= 0))
            return;
        if (known_.insert({from, to}).second) out_.edges.push_back({from, to, back});
    }

    void add_edges(int v) {
        const CompileTrace::Value& value = values_[static_cast<size_t>(v)];
        for (size_t to : nodes_of_[v]) {
            const size_t group = out_.nodes[to].group;
            for (int source : value.reads) {
                const auto at = nodes_of_.find(source);
                if (at == nodes_of_.end()) continue;
                const auto here = places_.find({source, -1, group});
                const size_t from = here != places_.end() ? here->second : at->second.back();
                const size_t of = out_.nodes[from].group;
                add_edge(from, to, of > group || (of == group && source >= v));
            }
            for (int argument : value.arguments)
                if (!out_.groups[group].folded ||
                    !program_.arguments[static_cast<size_t>(argument)].scalar)
                    add_edge(node(-1, argument, group), to, false);
        }
    }

    /// The column of every node of a group: behind all that it reads there.
    std::map<size_t, size_t> columns_of(size_t group) const {
        std::map<size_t, size_t> columns, first_reader;
        for (size_t n : nodes_in_[group]) columns[n] = out_.nodes[n].folded > 0 ? 1 : 0;
        // An edge is stored with the value that reads; that value comes after the values it reads.
        for (const ScheduleEdge& edge : edges_to_[group])
            if (!edge.back && out_.nodes[edge.from].group == group)
                columns[edge.to] = std::max(columns[edge.to], columns[edge.from] + 1);
        // Each node is placed as near to its first reader as possible.
        for (auto edge = edges_to_[group].rbegin(); edge != edges_to_[group].rend(); ++edge) {
            if (edge->back || out_.nodes[edge->from].group != group) continue;
            const auto first = first_reader.try_emplace(edge->from, columns[edge->to]).first;
            first->second = std::min(first->second, columns[edge->to]);
            columns[edge->from] = first->second - 1;
        }
        return columns;
    }

    /// Orders the rows of a column so that each value is near the values it reads.
    std::vector<size_t> sorted(const std::vector<size_t>& column) const {
        std::vector<std::pair<float, size_t>> rows;
        for (size_t n : column) {
            float sum = 0, count = 0;
            const auto reads = reads_.find(n);
            if (reads != reads_.end())
                for (size_t from : reads->second)
                    if (out_.nodes[from].group == out_.nodes[n].group && out_.nodes[from].y > 0)
                        sum += out_.nodes[from].y, ++count;
            rows.emplace_back(count > 0 ? sum / count : 0, n);
        }
        std::stable_sort(rows.begin(), rows.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
        std::vector<size_t> out;
        for (const auto& [row, n] : rows) out.push_back(n);
        return out;
    }

    void place_nodes(size_t g) {
        ScheduleGroup& group = out_.groups[g];
        std::map<size_t, std::vector<size_t>> by_column;
        for (const auto& [n, column] : columns_of(g)) by_column[column].push_back(n);
        float y = ScheduleGroup::kTitle + kGap, x = kGap;
        size_t most = 0, beside = 0;
        for (const auto& [column, nodes] : by_column) {
            if (beside++ == kColumns) {
                y += static_cast<float>(most) * kStepY + kGap;
                x = kGap, most = 0, beside = 1;
            }
            float at = y;
            for (size_t n : sorted(nodes)) {
                out_.nodes[n].x = x, out_.nodes[n].y = at;
                at += kStepY;
            }
            most = std::max(most, nodes.size());
            group.width = std::max(group.width, x + ScheduleNode::kWidth + kGap);
            x += kStepX;
        }
        y += static_cast<float>(most) * kStepY + kGap;
        group.height = by_column.empty() ? 0 : y - kGap;
    }

    /// Layers of groups, each below all that it reads.
    void place_groups() {
        std::vector<size_t> layers(out_.groups.size());
        for (size_t g = 0; g < out_.groups.size(); ++g)
            for (const ScheduleEdge& edge : edges_to_[g])
                if (const size_t from = out_.nodes[edge.from].group; from < g)
                    layers[g] = std::max(layers[g], layers[from] + 1);
        std::map<size_t, std::vector<size_t>> by_layer;
        for (size_t g = 0; g < out_.groups.size(); ++g)
            if (out_.groups[g].height > 0) by_layer[layers[g]].push_back(g);
        float y = 0;
        for (const auto& [layer, groups] : by_layer) {
            float x = 0, height = 0;
            for (size_t g : groups) {
                out_.groups[g].x = x, out_.groups[g].y = y;
                x += out_.groups[g].width + kBetweenGroups;
                height = std::max(height, out_.groups[g].height);
            }
            out_.width = std::max(out_.width, x - kBetweenGroups);
            y += height + kBetweenGroups;
        }
        out_.height = std::max(0.0f, y - kBetweenGroups);
        for (ScheduleNode& each : out_.nodes) {
            each.x += out_.groups[each.group].x;
            each.y += out_.groups[each.group].y;
        }
    }

    const Program& program_;
    const std::vector<CompileTrace::Value>& values_;
    const std::map<int, bool>& folded_;
    ScheduleLayout out_;
    std::map<std::tuple<int, int, size_t>, size_t> places_;  // of nodes
    std::map<int, std::vector<size_t>> nodes_of_;            // by value
    std::set<std::pair<size_t, size_t>> known_;              // edges
    std::vector<std::vector<size_t>> nodes_in_;              // by group
    std::vector<std::vector<ScheduleEdge>> edges_to_;
    std::map<size_t, std::vector<size_t>> reads_;  // by node
};

}  // namespace

ScheduleLayout lay_out(const Program& program, const std::vector<CompileTrace::Value>& values,
                       const std::map<int, bool>& folded) {
    return Layout(program, values, folded).run();
}

}  // namespace firn
