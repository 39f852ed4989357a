// Gives loops that end by a carried count a bound.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "compiler/ir/builder.h"
#include "compiler/ir/pattern.h"
#include "compiler/passes/passes.h"

namespace firn {
namespace {

constexpr size_t kMostParts = 64;  // of the condition on which a loop goes on

/// Returns the conditions that hold if `whole` does: its parts, and itself.
std::vector<Ref> parts_of(const Ref& whole) {
    std::vector<Ref> out{whole};
    for (size_t k = 0; k < out.size() && out.size() < kMostParts; ++k) {
        const Ref node = out[k];
        const auto is_false = [](const Node& n) {
            const auto value = constant_value(n);
            return value && value->i == 0;
        };
        if (node->op == Op::And) {
            out.insert(out.end(), node->inputs.begin(), node->inputs.end());
        } else if (node->op == Op::Select && is_false(*node->inputs[2])) {
            out.insert(out.end(), {node->inputs[0], node->inputs[1]});
        }
    }
    return out;
}

double number(const Scalar& value, DType dtype) {
    return dtype.is_float() ? value.f : static_cast<double>(value.i);
}

/// Returns the increase of a carried value in each iteration in which `goes_on` holds; 0: unknown.
double gain(const Region& body, size_t k, const Ref& goes_on) {
    Ref next = body.results[k];
    if (next->op == Op::Select && next->inputs[0] == goes_on) next = next->inputs[1];
    if (next->op != Op::Add) return 0;
    for (size_t side = 0; side < 2; ++side)
        if (next->inputs[side] == body.args[k + 1])
            if (const auto step = constant_value(*next->inputs[1 - side]))
                return number(*step, next->dtype);
    return 0;
}

/// The most iterations after which `value < limit` holds no more, where it begins at `begin` and
/// gains `step` in each. Sums of floats are rounded: each gains half of the step at least.
std::optional<int64_t> most_until(double begin, double step, double limit, DType dtype,
                                  bool or_equal) {
    if (!std::isfinite(begin) || !std::isfinite(limit) || !(step > 0)) return std::nullopt;
    double trips = (limit - begin) / step;
    if (dtype == f32) {
        const auto largest = static_cast<float>(std::max(std::abs(begin), std::abs(limit)) + step);
        const float apart =
            std::nextafter(largest, std::numeric_limits<float>::infinity()) - largest;
        if (step < double(apart)) return std::nullopt;
        trips *= 2;
    } else if (dtype == i32) {
        if (limit + step > INT32_MAX) return std::nullopt;
    } else {
        return std::nullopt;
    }
    // One more, which finds that it holds no more.
    trips = std::ceil(std::max(trips, 0.0)) + 1 + (or_equal ? 1 : 0);
    if (trips > INT32_MAX) return std::nullopt;
    return static_cast<int64_t>(trips);
}

std::optional<int64_t> most_trips(const Node& loop) {
    const LoopAttr& attr = loop.as<LoopAttr>();
    const Region& body = *attr.body;
    const Ref goes_on = body.results[static_cast<size_t>(attr.active)];
    std::optional<int64_t> least;
    for (const Ref& part : parts_of(goes_on)) {
        if (part->op != Op::Less && part->op != Op::LessEqual) continue;
        const auto limit = constant_value(*part->inputs[1]);
        const Ref& counted = part->inputs[0];
        const auto arg = std::find(body.args.begin() + 1, body.args.end(),
                                   counted->op == Op::Expand ? counted->inputs[0] : counted);
        if (!limit || arg == body.args.end()) continue;
        const auto k = static_cast<size_t>(arg - body.args.begin()) - 1;
        const auto begin = constant_value(*loop.inputs[3 + k]);
        if (!begin) continue;
        const DType dtype = (*arg)->dtype;
        const auto trips = most_until(number(*begin, dtype), gain(body, k, goes_on),
                                      number(*limit, dtype), dtype, part->op == Op::LessEqual);
        if (trips && (!least || *trips < *least)) least = trips;
    }
    return least;
}

}  // namespace

Graph end_by_counts(NodeTable& table, const Graph& graph, RuleCounts* fired) {
    const auto visit = [](const Node&, const std::vector<Ref>&) { return Ref(); };
    const auto visit_region = [&](const Node&, const Ref& made) -> Ref {
        if (made->op != Op::Loop) return nullptr;
        const LoopAttr& attr = made->as<LoopAttr>();
        const auto begin = constant_value(*made->inputs[0]), end = constant_value(*made->inputs[1]),
                   step = constant_value(*made->inputs[2]);
        if (attr.active < 0 || !attr.sizes.empty() || attr.by_hand() || !begin || !end || !step ||
            begin->i != 0 || step->i != 1)
            return nullptr;
        const auto trips = most_trips(*made);
        if (!trips || *trips >= end->i) return nullptr;
        if (fired) ++(*fired)["loop until a count ends it"];
        std::vector<Ref> inputs = made->inputs;
        inputs[1] = constant_int({table, first_line(made->lines)}, *trips);
        LoopAttr bounded = attr;
        if (bounded.must_end == MustEnd::Throws) bounded.must_end = MustEnd::No;
        const Ref out =
            table.intern(Op::Loop, made->dtype, made->shape, std::move(inputs), bounded);
        note_lines(*out, made->lines);
        return out;
    };
    return {graph.args, rewrite(table, graph.results, visit, {}, visit_region), graph.guards,
            graph.data_sizes};
}

}  // namespace firn
