// Makes random programs.
#include "tests/programs/generate.h"

#include <algorithm>

#include "tests/programs/make_expr.h"
#include "tests/programs/reference.h"

namespace firn::programs {
namespace {

struct Scope {
    Extents mask;  // of what its if_, while_ or break_ leaves out
    bool loop = false;
    bool left = false;  // by break_ or continue_, under conditions that fit the mask
};

class Generator {
  public:
    Generator(uint64_t seed, const Grammar& grammar) : grammar_(grammar), dice_(seed), exprs_(dice_, variables_) {}

    Program make() {
        choose_shapes();
        for (int count = 1 + dice_.below(3), k = 0; k < count || k < static_cast<int>(shapes_.size()); ++k)
            argument(k < static_cast<int>(shapes_.size()) ? shapes_[static_cast<size_t>(k)] : dice_.pick({Extents{}, Extents{{1}}, Extents{{2}}}));
        if (dice_.chance(3)) many_arguments();
        block(program_.body, grammar_.fewest + dice_.below(grammar_.most - grammar_.fewest + 1), 3);
        if (dice_.chance(2)) never_ends();
        choose_outputs();
        return program_;
    }

  private:
    // --- shapes and arguments

    Extent any_extent() {
        if (dice_.chance(45)) return {0, dice_.pick({'n', 'n', 'm'})};
        if (dice_.chance(4)) return {0};
        return {dice_.pick({1, 2, 3, 4, 5, 6, 7})};
    }

    void choose_shapes() {
        for (int count = 1 + dice_.below(3); count > 0; --count) {
            Extents shape;
            for (int rank = dice_.pick({1, 1, 1, 2, 2, 3}); rank > 0; --rank) shape.push_back(any_extent());
            shapes_.push_back(std::move(shape));
        }
        const bool long_axis = dice_.chance(10);
        for (const Extents& shape : shapes_)
            for (const Extent& each : shape)
                if (each.symbol) {
                    const bool is_n = each.symbol == 'n';
                    auto size = [&] { return dice_.chance(8) ? 0 : 1 + dice_.below(is_n ? 9 : 5); };
                    program_.sizes[each.symbol] = is_n && long_axis ? 64 + dice_.below(237) : size();
                    program_.sizes_again[each.symbol] = size();
                    // Sizes that programs for multiples, and for other magnitudes, are made for.
                    program_.sizes_third[each.symbol] = is_n ? dice_.pick({4, 16, 16, 32, 64, 100}) : dice_.pick({1, 4, 8, 16});
                }
    }

    double any_number(DType dtype) {
        if (dtype.is_bool()) return dice_.below(2);
        if (dtype.is_float()) return (dice_.below(41) - 20) * 0.25;
        if (dtype.bytes() == 8 && dice_.chance(15)) return dice_.pick({4294967296.0, 2147483648.0, 1099511627776.0}) + dice_.below(9);
        if (dtype.bytes() == 1 && dice_.chance(20)) return dtype == u8 ? 250 : -120;
        return dice_.below(13) - (dtype.is_signed() ? 4 : 0);
    }

    void declared(int handle, DType dtype, const Extents& extents, bool fixed = false, bool own_place = false) {
        variables_.push_back({handle, dtype, extents, scopes_.size(), fixed, own_place});
    }

    void argument(const Extents& extents) {
        const DType dtype = exprs_.any_dtype();
        Argument out{dtype, extents, {}};
        for (int count = 11; count > 0; --count) out.numbers.push_back(any_number(dtype));
        program_.arguments.push_back(std::move(out));
        declared(next_++, dtype, extents);
    }

    /// More tensors in one expression than a device binds.
    void many_arguments() {
        const int count = dice_.pick({20, 40, 80, 300});
        const Extents shape{{3}};
        const DType dtype = dice_.pick({i32, f32});
        const bool stacked = dice_.chance(30);
        Expr all = literal_of(1);
        Expr parts;
        parts.form = Form::Stack, parts.axis = 0;
        for (int k = 0; k < count; ++k) {
            argument(shape);
            if (!variables_.back().dtype.is_bool() && dice_.chance(95)) {
                program_.arguments.back().dtype = variables_.back().dtype = dtype;
                for (double& each : program_.arguments.back().numbers) each = any_number(dtype);
            }
            all = apply_of(Fn::Add, {std::move(all), handle_of(next_ - 1)});
            parts.args.push_back(handle_of(next_ - 1));
        }
        Expr sum;
        sum.form = Form::Reduce, sum.fn = Fn::Sum, sum.args = {std::move(parts)};
        Statement s{.kind = Kind::Declare, .target = next_++};
        s.value = stacked ? std::move(sum) : std::move(all);
        program_.body.push_back(std::move(s));
        asked_ = next_ - 1;
    }

    /// A while_ whose body changes nothing.
    void never_ends() {
        const Extents shape = any_shape();
        Statement start{.kind = Kind::Declare, .target = next_++}, s{.kind = Kind::While};
        Statement same{.kind = Kind::Assign, .target = start.target};
        start.value.form = Form::Full, start.value.extents = shape, start.value.dtype = dice_.pick({i32, f32, u32});
        const Expr own = handle_of(start.target);
        s.value = apply_of(Fn::Less, {own, literal_of(1)});
        same.value = dice_.pick({apply_of(Fn::Mul, {own, literal_of(1)}), apply_of(Fn::Max, {own, own}), apply_of(Fn::Sub, {own, literal_of(0)}),
                                 own, apply_of(Fn::Mod, {own, literal_of(7)})});
        declared(start.target, start.value.dtype, shape);
        // A handle that is assigned to itself is not assigned: nobody asks for a body that gives something else alone.
        scopes_.push_back({.mask = shape, .loop = true});
        if (dice_.chance(30) && same.value.form != Form::Handle) assign(s.body);
        scopes_.pop_back();
        s.body.push_back(std::move(same));
        asked_ = start.target;
        program_.body.push_back(std::move(start));
        program_.body.push_back(std::move(s));
        program_.endless = true;
    }

    void choose_outputs() {
        std::vector<int> all;
        for (const Variable& each : variables_)
            if (each.handle >= static_cast<int>(program_.arguments.size()) || changed(each.handle)) all.push_back(each.handle);
        if (all.empty()) all.push_back(variables_.back().handle);
        while (all.size() > 4) all.erase(all.begin() + dice_.below(static_cast<int>(all.size())));
        if (asked_ >= 0) all.push_back(asked_);
        program_.outputs = all;
    }
    bool changed(int handle) const { return std::find(changed_.begin(), changed_.end(), handle) != changed_.end(); }

    // --- scopes

    /// Whether elements of every enclosing scope's mask are elements of this shape.
    bool takes_masks(const Extents& extents) const {
        return std::all_of(scopes_.begin(), scopes_.end(), [&](const Scope& scope) { return fits(scope.mask, extents); });
    }
    bool masked(size_t depth) const {
        return std::any_of(scopes_.begin(), scopes_.begin() + static_cast<long>(depth), [](const Scope& scope) { return !scope.mask.empty(); });
    }

    /// A shape that every mask around fits; the empty one where nothing is masked, and in a kernel by hand.
    Extents any_shape(bool may_be_empty = true) {
        if (kernel_) return {};
        std::vector<Extents> all;
        for (const Variable& each : variables_)
            if (takes_masks(each.extents) && (may_be_empty || !each.extents.empty())) all.push_back(each.extents);
        for (const Extents& each : shapes_)
            if (takes_masks(each)) all.push_back(each);
        return dice_.of(all);
    }

    std::vector<size_t> assignable() const {
        std::vector<size_t> out;
        for (size_t k = 0; k < variables_.size(); ++k) {
            const Variable& each = variables_[k];
            if (!each.fixed && each.depth >= kernel_ && takes_masks(each.extents) && (each.own_place || !masked(each.depth))) out.push_back(k);
        }
        return out;
    }

    // --- statements

    void block(std::vector<Statement>& out, int count, int depth) {
        const size_t outer = variables_.size();
        for (; count > 0; --count) statement(out, depth);
        if (!scopes_.empty()) variables_.resize(outer);
    }

    void inside(const Scope& scope, std::vector<Statement>& out, int depth) {
        scopes_.push_back(scope);
        block(out, 1 + dice_.below(3), depth - 1);
        scopes_.pop_back();
    }

    void statement(std::vector<Statement>& out, int depth) {
        const int kind = dice_.below(100);
        if (kind < 18) return declare(out);
        if (kind < 44) return assign(out);
        if (kind < 47) return swap(out);
        if (kind < 60) return dice_.chance(20) && !kernel_ && !masked(scopes_.size()) ? kernel(out) : store(out);
        if (kind < 63 && scopes_.empty()) return realize(out);
        if (depth == 0) return assign(out);
        if (kind < 76) return branch(out, depth);
        if (kind < 91) return loop(out, depth);
        return repeat(out, depth);
    }

    void declare(std::vector<Statement>& out) {
        Statement s{.kind = Kind::Declare, .target = next_++};
        Variable made{.handle = s.target, .depth = scopes_.size()};
        if (dice_.chance(30) && !kernel_) {
            const Variable& from = dice_.of(variables_);
            made.dtype = from.dtype, made.extents = from.extents, made.own_place = from.own_place;
            s.value = handle_of(from.handle);
        } else {
            made.extents = any_shape();
            Typed x = exprs_.make(made.extents, 2, false);
            made.dtype = x.dtype, made.own_place = x.own_place;
            s.value = std::move(x.expr);
        }
        if (masked(scopes_.size()) && dice_.chance(50)) made.own_place = true;
        out.push_back(std::move(s));
        variables_.push_back(std::move(made));
    }

    void assign(std::vector<Statement>& out) {
        const std::vector<size_t> all = assignable();
        if (all.empty()) return declare(out);
        const size_t which = dice_.of(all);
        const Variable to = variables_[which];
        Statement s{.kind = Kind::Assign, .target = to.handle};
        const bool own = to.depth == scopes_.size();
        // What keeps its own places may depend on what does.
        Typed x = own ? exprs_.make(to.extents, 2, !to.own_place) : exprs_.make_as(to.dtype, to.extents, 3, !to.own_place && !masked(scopes_.size()));
        if (own) variables_[which].dtype = x.dtype;
        s.value = std::move(x.expr);
        out.push_back(std::move(s));
        changed_.push_back(to.handle);
    }

    void swap(std::vector<Statement>& out) {
        const std::vector<size_t> all = assignable();
        for (const size_t a : all)
            for (const size_t b : all)
                if (a != b && variables_[a].extents == variables_[b].extents && variables_[a].dtype == variables_[b].dtype &&
                    variables_[a].own_place == variables_[b].own_place && dice_.chance(60)) {
                    out.push_back({.kind = Kind::Swap, .target = variables_[a].handle, .other = variables_[b].handle});
                    changed_.push_back(variables_[a].handle), changed_.push_back(variables_[b].handle);
                    return;
                }
        assign(out);
    }

    /// Few devices combine 64 bits at once: that is refused.
    Combine any_combine(DType dtype) {
        if (dice_.chance(50) || dtype.bytes() == 1 || dtype.bytes() == 8) return dice_.chance(75) ? Combine::Last : Combine::Update;
        if (dtype.is_bool()) return dice_.pick({Combine::Last, Combine::And, Combine::Or, Combine::Xor});
        if (dtype.is_float()) return dice_.pick({Combine::Add, Combine::Add, Combine::Min, Combine::Max});
        return dice_.pick({Combine::Add, Combine::Add, Combine::Add, Combine::Min, Combine::Max, Combine::Mul, Combine::And, Combine::Or, Combine::Xor});
    }

    void store(std::vector<Statement>& out) {
        std::vector<const Variable*> all;
        for (const Variable& each : variables_)
            if (!each.fixed && each.depth >= kernel_ && !each.own_place && !each.extents.empty() && !masked(each.depth)) all.push_back(&each);
        if (all.empty()) return assign(out);
        const Variable to = *dice_.of(all);
        const bool rows = to.extents.size() > 1 && dice_.chance(20);
        const Extents lead = any_shape();
        Extents whole = lead;
        if (rows) whole.insert(whole.end(), to.extents.begin() + 1, to.extents.end());
        if (whole.size() > 3) return assign(out);
        Statement s{.kind = Kind::Store, .target = to.handle};
        for (size_t axis = 0; axis < (rows ? 1 : to.extents.size()); ++axis)
            s.places.push_back(exprs_.place(lead, to.extents[axis], 2, rows).expr);
        s.combine = any_combine(to.dtype);
        Typed from = exprs_.make_as(to.dtype, whole, 2, rows);
        if (s.combine == Combine::Update) from = cast_of(std::move(from), to.dtype);
        s.value = std::move(from.expr);
        out.push_back(std::move(s));
        changed_.push_back(to.handle);
    }

    /// A kernel by hand: every invocation stores an element of its own, which it computes from elements.
    void kernel(std::vector<Statement>& out) {
        std::vector<Variable> all;
        for (const Variable& each : variables_)
            if (!each.fixed && !each.own_place && !each.extents.empty()) all.push_back(each);
        if (all.empty()) return assign(out);
        const Variable to = dice_.of(all);
        Statement s{.kind = Kind::Kernel, .target = to.handle, .other = next_};
        s.rank = static_cast<int>(to.extents.size());
        Expr own;
        own.form = Form::Read, own.args = {handle_of(to.handle)};
        if (dice_.chance(50))
            for (int axis = 0; axis < s.rank; ++axis) s.group.push_back(axis == 0 ? dice_.pick({1, 4, 8}) : dice_.pick({2, 4}));
        const std::vector<Variable> outer = variables_;
        scopes_.push_back({});
        kernel_ = scopes_.size();
        exprs_.of_elements(true);
        for (int axis = 0; axis < s.rank; ++axis) {
            own.args.push_back(handle_of(next_));
            declared(next_++, i32, {}, true);
        }
        // Of the target an invocation reads its own element only.
        std::erase_if(variables_, [&](const Variable& each) { return each.handle == to.handle; });
        Statement& entry = s.body.emplace_back(Statement{.kind = Kind::Declare, .target = next_++});
        entry.value = std::move(own);
        declared(entry.target, to.dtype, {});
        for (int count = dice_.below(3); count > 0; --count) statement(s.body, 1);
        s.value = exprs_.make_as(to.dtype, {}, 3, true).expr;
        kernel_ = 0;
        exprs_.of_elements(false);
        scopes_.pop_back();
        variables_ = outer;
        out.push_back(std::move(s));
        changed_.push_back(to.handle);
    }

    void realize(std::vector<Statement>& out) {
        out.push_back({.kind = Kind::Realize, .target = dice_.of(variables_).handle});
    }

    /// The innermost loop that break_ may leave from here (none around a kernel), where what is left out fits its mask.
    const Scope* loop_to_leave() const {
        for (size_t k = scopes_.size(); k-- > kernel_;)
            if (scopes_[k].loop) {
                if (!scopes_[k].left) return nullptr;
                for (const Scope& inner : scopes_)
                    if (&inner > &scopes_[k] && !fits(inner.mask, scopes_[k].mask)) return nullptr;
                return &scopes_[k];
            }
        return nullptr;
    }

    void branch(std::vector<Statement>& out, int depth) {
        Statement s{.kind = Kind::If};
        Scope scope;
        if (dice_.chance(65)) scope.mask = any_shape();
        s.value = exprs_.condition(scope.mask, 2, false).expr;
        inside(scope, s.body, depth);
        if (dice_.chance(40)) inside(scope, s.otherwise, depth);
        scopes_.push_back(scope);
        if (loop_to_leave() && dice_.chance(40))
            s.body.insert(s.body.begin() + (dice_.chance(50) ? 0 : static_cast<long>(s.body.size())), leaving());
        scopes_.pop_back();
        out.push_back(std::move(s));
    }

    Statement leaving() { return {.kind = dice_.chance(65) ? Kind::Break : Kind::Continue}; }

    /// if_(condition, break_) somewhere in the body.
    void add_leaving(const Scope& scope, std::vector<Statement>& body) {
        Statement s{.kind = Kind::If};
        scopes_.push_back(scope);
        s.value = exprs_.condition(scope.mask, 2, false).expr;
        scopes_.pop_back();
        s.body = {leaving()};
        const int at = dice_.below(3);
        body.insert(at == 0 ? body.begin() : at == 1 ? body.end() : body.begin() + static_cast<long>(body.size()) / 2, std::move(s));
    }

    Scope loop_scope() {
        Scope scope{.loop = true};
        scope.left = dice_.chance(40);
        if (scope.left && dice_.chance(65)) scope.mask = any_shape();
        return scope;
    }

    std::vector<Expr> bounds() {
        if (kernel_) return {literal_of(dice_.below(5))};   // the same for all invocations
        const Variable* counter = nullptr;
        for (const Variable& each : variables_)
            if (each.fixed && each.extents.empty()) counter = &each;
        const int kind = dice_.below(10);
        if (counter && kind < 5) {
            Expr k = handle_of(counter->handle);
            if (dice_.chance(60)) return {apply_of(dice_.pick({Fn::Add, Fn::Sub}), {std::move(k), literal_of(1 + dice_.below(2))})};
            if (dice_.chance(50)) return {std::move(k), apply_of(Fn::Add, {handle_of(counter->handle), literal_of(2)})};
            return {std::move(k)};
        }
        if (kind < 6) return {exprs_.count(4, true).expr};
        if (kind < 7 && !program_.sizes.empty()) {
            Expr e;
            e.form = Form::Size, e.extents = {{0, program_.sizes.begin()->first}};
            return {e};
        }
        if (dice_.chance(15)) return {literal_of(3), literal_of(-1 - dice_.below(2)), literal_of(dice_.pick({-1, -2}))};
        if (dice_.chance(15)) return {literal_of(1), literal_of(2 + dice_.below(5)), literal_of(2)};
        if (dice_.chance(12) && scopes_.empty()) return {literal_of(17 + dice_.below(3))};
        if (dice_.chance(8) && scopes_.empty()) {
            Expr data = exprs_.count(2, true).expr;   // from 17 on, and only the data says how many
            return {apply_of(Fn::Add, {std::move(data), literal_of(17)})};
        }
        return {literal_of(dice_.below(5))};
    }

    void loop(std::vector<Statement>& out, int depth) {
        Statement s{.kind = Kind::Loop};
        s.places = bounds();
        s.target = next_++;
        const Scope scope = loop_scope();
        const size_t outer = variables_.size();
        scopes_.push_back(scope);
        declared(s.target, i32, {}, true);
        block(s.body, 1 + dice_.below(3), depth - 1);
        scopes_.pop_back();
        if (scope.left) add_leaving(scope, s.body);
        variables_.resize(outer);
        out.push_back(std::move(s));
    }

    void repeat(std::vector<Statement>& out, int depth) {
        Statement s{.kind = Kind::While};
        Scope scope{.loop = true};
        scope.left = dice_.chance(20);
        if (dice_.chance(50)) scope.mask = any_shape();
        if (dice_.chance(25)) {
            s.max_steps = dice_.below(6);
            scopes_.push_back(scope);
            s.value = exprs_.condition(scope.mask, 2, false).expr;
            scopes_.pop_back();
        } else {
            counted(out, s, scope);
        }
        const int counter = counter_;
        inside(scope, s.body, depth);
        if (dice_.chance(80) && !s.max_steps) {
            Statement step{.kind = Kind::Assign, .target = counter};
            step.value = apply_of(Fn::Add, {handle_of(counter), literal_of(1)});
            s.body.insert(dice_.chance(50) ? s.body.begin() : s.body.end(), std::move(step));
        } else if (!s.max_steps) {
            s.max_steps = dice_.below(5);
        }
        if (scope.left) add_leaving(scope, s.body);
        out.push_back(std::move(s));
    }

    /// while_(counter < limit): it ends, of itself.
    void counted(std::vector<Statement>& out, Statement& s, Scope& scope) {
        if (!takes_masks(scope.mask)) scope.mask = any_shape();
        Statement start{.kind = Kind::Declare, .target = next_++};
        counter_ = start.target;
        start.value = cast_of(exprs_.count(3, true), i32).expr;
        if (!scope.mask.empty()) {
            Expr e;
            e.form = Form::Index, e.extents = scope.mask, e.axis = 0;
            start.value = apply_of(Fn::Mod, {std::move(e), literal_of(4)});
        }
        out.push_back(std::move(start));
        declared(counter_, i32, scope.mask, true, masked(scopes_.size()));
        s.value = apply_of(Fn::Less, {handle_of(counter_), literal_of(1 + dice_.below(5))});
        if (dice_.chance(25)) s.value = apply_of(Fn::And, {std::move(s.value), exprs_.condition(scope.mask, 1, false).expr});
    }

    const Grammar& grammar_;
    Dice dice_;
    Program program_;
    std::vector<Variable> variables_;
    std::vector<Scope> scopes_;
    std::vector<Extents> shapes_;
    std::vector<int> changed_;
    int next_ = 0, counter_ = -1, asked_ = -1;
    size_t kernel_ = 0;   // the depth inside of the kernel by hand that is made; 0: none
    ExprMaker exprs_;
};

bool ends(const Program& program, const std::vector<Array>& arguments, const Sizes& sizes) {
    try {
        reference(program, arguments, sizes);
        return true;
    } catch (const Endless&) {
        return false;
    }
}

}  // namespace

Program generate(uint64_t seed, const Grammar& grammar) {
    for (uint64_t attempt = 0; attempt < 200; ++attempt) {
        try {
            Program program = Generator(seed * 1000 + attempt, grammar).make();
            auto suits = [&](const Sizes& sizes, size_t first) {
                return ends(program, argument_values(program, sizes, first), sizes) != program.endless;
            };
            if (!suits(program.sizes, 0) || !suits(program.sizes, 1) || !suits(program.sizes_again, 1)) continue;
            return program;
        } catch (const Unsuitable&) {
        }
    }
    throw Unsuitable("no program of this seed");
}

}  // namespace firn::programs
