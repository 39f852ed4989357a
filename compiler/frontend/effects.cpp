// Recording prints and assertions: ordinary stores and carried values, handed out as further
// results.
#include "compiler/frontend/effects.h"

#include <algorithm>
#include <limits>

#include "compiler/frontend/apply.h"
#include "compiler/frontend/control.h"
#include "compiler/frontend/data_size.h"
#include "compiler/frontend/effect_report.h"
#include "compiler/frontend/history.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/run_graph.h"
#include "compiler/frontend/shown.h"

namespace firn {
namespace {

Ref filled(const Builder& b, const Scalar& value, const Shape& shape) {
    return expand(b, constant(b, value), shape);
}

/// Returns the depth of the scope whose end hands effects over.
size_t home_depth(const SessionState& session) {
    size_t depth = session.scopes.size() - 1;
    while (depth > 0 && session.scopes[depth].kind != ScopeKind::Function) --depth;
    return depth;
}

/// Returns, for each recorded loop around, outermost first, its number of iterations so far.
std::vector<Ref> iterations_now(const SessionState& session, const Builder& b) {
    std::vector<Ref> out;
    auto is = [](const Ref& node, int64_t value) {
        return node->op == Op::Constant && node->as<ConstantAttr>().value.i == value;
    };
    for (size_t depth = home_depth(session) + 1; depth < session.scopes.size(); ++depth) {
        const Scope& scope = session.scopes[depth];
        if (scope.kind != ScopeKind::Loop) continue;
        Ref iteration = is(scope.begin, 0)
                            ? scope.induction
                            : elementwise(b, Op::Sub, {scope.induction, scope.begin});
        out.push_back(is(scope.step, 1) ? iteration
                                        : elementwise(b, Op::Div, {iteration, scope.step}));
    }
    return out;
}

// --- the elements that a print shows
// --------------------------------------------------------------

/// Returns the place of each element among the shown ones; outside if it is not shown.
std::vector<Ref> places_among_shown(const Builder& b, const Shape& shape, int edge) {
    std::vector<Ref> out;
    for (int k = 0; k < static_cast<int>(shape.size()); ++k) {
        const Size& size = shape[static_cast<size_t>(k)];
        Ref at = index(b, shape, k);
        if (!all_shown(size, edge)) {
            const Ref left_out = size_value(b, size - shown(size, edge));
            const Ref first_last = size_value(b, size - Size(edge));
            const Ref last =
                elementwise(b, Op::Select,
                            {elementwise(b, Op::LessEqual, {first_last, at}),
                             elementwise(b, Op::Sub, {at, left_out}), constant_int(b, -1)});
            at = elementwise(b, Op::Select,
                             {elementwise(b, Op::Less, {at, constant_int(b, edge)}), at, last});
        }
        out.push_back(at);
    }
    return out;
}

/// Bits as u32 words, which stores can combine.
std::vector<Ref> words_of(const Builder& b, const Ref& x) {
    const DType type = x->dtype;
    if (type.bytes() < 4 || type.is_bool())
        return words_of(b, cast(b, x, type.is_float() ? f32 : i32));
    if (type.bytes() == 4) return {bitcast(b, x, u32)};
    const Ref bits = bitcast(b, x, u64);
    return {cast(b, elementwise(b, Op::And, {bits, constant_int(b, 0xffffffff, u64)}), u32),
            cast(b, elementwise(b, Op::ShiftRight, {bits, constant_int(b, 32, u64)}), u32)};
}

Ref from_words(const Builder& b, const std::vector<Ref>& words, DType type) {
    if (type.bytes() < 4 || type.is_bool())
        return cast(b, bitcast(b, words[0], type.is_float() ? f32 : i32), type);
    if (type.bytes() == 4) return bitcast(b, words[0], type);
    const Ref high =
        elementwise(b, Op::ShiftLeft, {cast(b, words[1], u64), constant_int(b, 32, u64)});
    return bitcast(b, elementwise(b, Op::Or, {cast(b, words[0], u64), high}), type);
}

// --- prints
// ---------------------------------------------------------------------------------------

/// The shape of the value and of everything that decides where it is printed.
Shape masked_shape(const Builder& b, const std::shared_ptr<Slot>& slot, const Shape& shape) {
    const Ref mask = store_mask(slot, b.line);
    return mask ? broadcast_shapes(b, shape, mask->shape,
                                   "print_value: the value and the condition around it")
                : shape;
}

/// A size that begins in the iterations of a loop around, of which nothing is kept after the
/// iteration.
bool size_of_iteration(const SessionState& session, const Shape& shape) {
    return std::any_of(session.scopes.begin(), session.scopes.end(),
                       [&](const Scope& scope) { return mentioned(scope.sizes, shape); });
}

/// A print in a loop or branch keeps a row for each iteration. Every element counts its own
/// iterations, so that the rows are stored element by element, inside any kernel that the loop
/// becomes; rows beyond the last are dropped as stores outside are. A row starts as 0, and each
/// place of it is stored once: combining by Or settles nothing.
void keep_rows(SessionState& session, const Builder& b, Effect& effect, const Ref& x) {
    if (size_of_iteration(session, x->shape))
        fail_at(b.line,
                "print_value: the value is " + text(x->shape) +
                    ", a shape that differs between iterations of the loop around it; print its "
                    "sum, or keep room for all elements, as compact_padded does");
    const uint64_t home = session.scopes[home_depth(session)].id;
    effect.inside = true;
    effect.slots.push_back(make_slot_in(session, constant_int(b, 0), home));
    effect.shape = masked_shape(b, effect.slots[0], x->shape);
    note_asked(session, x, b.line);
    Shape row{Size(effect.iterations)};
    for (const Size& size : effect.shape) row.push_back(shown(size, effect.edge));
    std::vector<Ref> places = places_among_shown(b, effect.shape, effect.edge);
    places.insert(places.begin(), expand(b, read_slot(effect.slots[0], b.line), effect.shape));
    auto keep = [&](const Ref& value, const Scalar& empty, ScatterOp how) {
        auto slot = make_slot_in(session, filled(b, empty, row), home);
        const Ref version = read_slot(slot, b.line);
        store_slot(slot,
                   scatter(b, version, value, masked_indices(b, slot, places), ScatterAttr{how}),
                   b.line);
        effect.slots.push_back(slot);
    };
    for (const Ref& word : words_of(b, expand(b, x, effect.shape)))
        keep(word, scalar_int(0, u32), ScatterOp::Or);
    std::vector<Ref> iterations = iterations_now(session, b);
    effect.loops = iterations.size();
    if (iterations.empty()) iterations.push_back(constant_int(b, 0));
    for (const Ref& iteration : iterations)
        keep(expand(b, iteration, effect.shape), scalar_int(-1), ScatterOp::Max);
    write_slot(effect.slots[0],
               elementwise(b, Op::Add, {read_slot(effect.slots[0], b.line), constant_int(b, 1)}),
               b.line);
}

size_t word_count(const Effect& effect) { return effect.dtype.bytes() == 8 ? 2 : 1; }

void finish_print(const Builder& b, Effect& effect, const std::vector<Ref>& values,
                  EffectNodes& out) {
    if (!effect.inside) {
        out.results.push_back(shown_elements(b, values[0], effect.edge));
        out.sources.push_back(values[0]);
        return;
    }
    Ref count = values[0];
    if (!element_count(count->shape).is(0)) count = reduce(b, ReduceOp::Max, count, {}, false);
    out.results.push_back(count);
    out.results.insert(out.results.end(), values.begin() + 1, values.end());
    const std::vector<Ref> words(values.begin() + 1,
                                 values.begin() + 1 + static_cast<long>(word_count(effect)));
    out.sources.push_back(from_words(b, words, effect.dtype));
    out.sources.push_back(elementwise(b, Op::LessEqual, {constant_int(b, 0), values.back()}));
}

// --- assertions
// -----------------------------------------------------------------------------------

/// The operands of a comparison, in the order in which it reads best, and its operator; null: the
/// condition is no comparison.
struct Comparison {
    Ref left, right;
    const char* text = "";
};

Comparison comparison_of(const Node& condition) {
    const char *text = nullptr, *turned = nullptr;
    if (condition.op == Op::Less) text = "<", turned = ">";
    if (condition.op == Op::LessEqual) text = "<=", turned = ">=";
    if (condition.op == Op::Equal) text = turned = "==";
    if (condition.op == Op::NotEqual) text = turned = "!=";
    if (!text) return {};
    const Ref &a = condition.inputs[0], &c = condition.inputs[1];
    auto is_number = [](const Node* node) {
        while (is_movement(node->op)) node = node->inputs[0].get();
        return node->op == Op::Constant;
    };
    if (is_number(a.get()) && !is_number(c.get())) return {c, a, turned};
    return {a, c, text};
}

/// Makes an assertion in a loop or branch carry, element by element, whether it failed, the
/// operands then, and the iterations.
void keep_first_failure(SessionState& session, const Builder& b, Effect& effect,
                        const std::vector<Ref>& values) {
    const uint64_t home = session.scopes[home_depth(session)].id;
    effect.inside = true;
    std::vector<Ref> now(values.begin() + 1, values.end());
    for (Ref& iteration : iterations_now(session, b))
        now.push_back(std::move(iteration)), ++effect.loops;
    auto failed = make_slot_in(session, constant(b, scalar_bool(false)), home);
    effect.slots.push_back(failed);
    const Ref before = read_slot(failed, b.line);
    const Ref first = elementwise(
        b, Op::And, {elementwise(b, Op::Not, {values[0]}), elementwise(b, Op::Not, {before})});
    for (const Ref& value : now) {
        auto slot = make_slot_in(session, constant(b, scalar_int(0).to(value->dtype)), home);
        write_slot(slot, elementwise(b, Op::Select, {first, value, read_slot(slot, b.line)}),
                   b.line);
        effect.slots.push_back(slot);
    }
    write_slot(failed, elementwise(b, Op::Or, {before, first}), b.line);
}

void finish_assertion(const Builder& b, Effect& effect, std::vector<Ref> values, EffectNodes& out) {
    if (!effect.inside) values[0] = elementwise(b, Op::Not, {values[0]});
    for (const Ref& value : values)
        effect.shape = broadcast_shapes(b, effect.shape, value->shape, "assert_value");
    const Size count = element_count(effect.shape);
    for (Ref& value : values) value = reshape(b, expand(b, value, effect.shape), {count});
    const size_t operands = effect.compared.empty() ? 0 : 2;
    out.sources.insert(out.sources.end(), values.begin(),
                       values.begin() + 1 + static_cast<long>(operands));
    if (count.is(0)) return;
    out.results.push_back(reduce(b, ReduceOp::Sum, cast(b, values[0], i32), {}, false));
    // The first in time, and of those the first in the tensor.
    const Ref none = constant_int(b, std::numeric_limits<int32_t>::max());
    Ref left = values[0];
    for (size_t k = 1 + operands; k < values.size(); ++k) {
        const Ref iteration = reduce(
            b, ReduceOp::Min, elementwise(b, Op::Select, {left, values[k], none}), {}, false);
        left = elementwise(b, Op::And, {left, elementwise(b, Op::Equal, {values[k], iteration})});
        out.results.push_back(iteration);
    }
    const Ref at =
        reduce(b, ReduceOp::Min, elementwise(b, Op::Select, {left, index(b, {count}, 0), none}), {},
               false);
    out.results.push_back(at);
    for (size_t k = 1; k <= operands; ++k)
        out.results.push_back(gather(b, values[k], {at}, {Bounds::Constant}, scalar_int(0)));
}

void record_print(SessionState& session, const Builder& b, Effect effect, const Ref& x) {
    effect.dtype = x->dtype;
    effect.shape = x->shape;
    const size_t home = home_depth(session);
    if (home + 1 == session.scopes.size())
        effect.values = {x};
    else
        keep_rows(session, b, effect, x);
    session.scopes[home].effects.push_back(std::move(effect));
    perform_effects(session);
}

void record_assertion(SessionState& session, const Builder& b, Effect effect,
                      const std::vector<Ref>& values) {
    effect.print = false;
    const size_t home = home_depth(session);
    if (home + 1 == session.scopes.size())
        effect.values = values, effect.shape = values[0]->shape;
    else
        keep_first_failure(session, b, effect, values);
    session.scopes[home].effects.push_back(std::move(effect));
    perform_effects(session);
}

/// A kernel by hand is one dispatch and nothing beside it.
void refuse_in_kernel(const SessionState& session, const char* what) {
    if (kernel_depth(session))
        refuse(std::string(what) + ": not inside kernel(...); store the value to a tensor, and " +
               (what[0] == 'p' ? "print" : "check") + " that after the kernel");
}

}  // namespace

void print_value(const Operand& x, const PrintValueOptions& options) {
    LineScope at(x.line());
    SessionState& session = *current_state();
    refuse_in_kernel(session, "print_value");
    if (options.edge < 1 || options.iterations < 1)
        refuse("print_value: edge is " + std::to_string(options.edge) + " and iterations is " +
               std::to_string(options.iterations) + "; both count from 1 up");
    Effect effect;
    effect.line = x.line();
    effect.text = options.label;
    effect.edge = options.edge;
    effect.iterations = options.iterations;
    Ref node = x.node();
    // A value that is printed at once is computed for all later uses, not once more.
    if (!is_recording(session)) node = realize_nodes(session, {node}, x.line())[0];
    if (!is_recording(session) && x.slot()) take_buffer(session, x.slot(), node, x.line());
    record_print(session, builder_at(x), std::move(effect), node);
}

void assert_value(const Operand& condition, const std::string& message) {
    LineScope at(condition.line());
    refuse_in_kernel(*current_state(), "assert_value");
    Ref node = condition.node();
    if (!node->dtype.is_bool())
        refuse(std::string("assert_value: the condition is ") + node->dtype.name() +
               text(node->shape) + "; it must be a bool: compare it, as in x != 0");
    record_check(*current_state(), builder_at(condition),
                 "assert_value: " + (message.empty() ? "the condition does not hold" : message),
                 node);
}

void record_check(SessionState& session, const Builder& b, const std::string& text,
                  const Ref& condition) {
    Effect effect;
    effect.line = b.line;
    effect.text = text;
    std::vector<Ref> values{condition};
    if (size_of_iteration(session, condition->shape))
        values[0] = reduce(b, ReduceOp::All, condition, {}, false);
    else if (const Comparison compared = comparison_of(*condition); compared.left) {
        effect.compared = compared.text;
        values.insert(values.end(), {compared.left, compared.right});
    }
    record_assertion(session, b, std::move(effect), values);
}

void record_failure(SessionState& session, const Builder& b, const std::string& text,
                    const Ref& condition) {
    Effect effect;
    effect.line = b.line;
    effect.text = text;
    effect.told = true;
    record_assertion(session, b, std::move(effect), {condition});
}

EffectNodes finish_effects(SessionState& session, std::vector<Effect>& effects) {
    EffectNodes out;
    for (Effect& effect : effects) {
        std::vector<Ref> values = std::move(effect.values);
        for (const auto& slot : effect.slots)
            values.push_back(value_at(session, slot, session.scopes.size() - 1));
        effect.values.clear();
        effect.slots.clear();
        const size_t results = out.results.size(), sources = out.sources.size();
        const Builder b = builder(session, effect.line);
        effect.print ? finish_print(b, effect, values, out)
                     : finish_assertion(b, effect, std::move(values), out);
        effect.results = out.results.size() - results;
        effect.sources = out.sources.size() - sources;
    }
    return out;
}

namespace {

/// The rows that an inner recording kept, one after the other.
void repeat_rows(const Effect& effect, const std::vector<Ref>& sources) {
    const Tensor rows = Tensor::from_node(sources[0]), came_by = Tensor::from_node(sources[1]);
    for (Tensor iteration : loop(Arg(effect.iterations, effect.line)))
        if_(Arg(came_by(iteration), effect.line), [&] {
            SessionState& session = *current_state();
            record_print(session, builder(session, effect.line), effect,
                         rows(iteration).node(effect.line));
        });
}

}  // namespace

void repeat_effects(SessionState& session, const std::vector<Effect>& effects,
                    const std::vector<Ref>& sources) {
    auto next = sources.begin();
    for (const Effect& effect : effects) {
        const std::vector<Ref> own(next, next + static_cast<long>(effect.sources));
        next += static_cast<long>(effect.sources);
        Effect again;
        again.line = effect.line;
        again.text = effect.text;
        again.edge = effect.edge;
        again.iterations = effect.iterations;
        again.compared = effect.compared;
        again.told = effect.told;
        const Builder b = builder(session, effect.line);
        if (effect.print && effect.inside) {
            repeat_rows(again, own);
        } else if (effect.print) {
            record_print(session, b, std::move(again), own[0]);
        } else {
            std::vector<Ref> values = own;
            values[0] = elementwise(b, Op::Not, {own[0]});
            record_assertion(session, b, std::move(again), values);
        }
    }
}

}  // namespace firn
