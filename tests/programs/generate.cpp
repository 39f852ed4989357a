// Makes random programs: shapes, arguments, rare statements, and outputs.
#include "tests/programs/generate.h"

#include <algorithm>

#include "tests/programs/generator.h"
#include "tests/programs/reference.h"

namespace firn::programs {

Program Generator::make() {
    choose_shapes();
    for (int count = 1 + dice_.below(3), k = 0; k < count || k < static_cast<int>(shapes_.size());
         ++k)
        argument(k < static_cast<int>(shapes_.size())
                     ? shapes_[static_cast<size_t>(k)]
                     : dice_.pick({Extents{}, Extents{{1}}, Extents{{2}}}));
    if (dice_.chance(3)) many_arguments();
    block(program_.body, grammar_.fewest + dice_.below(grammar_.most - grammar_.fewest + 1), 3);
    if (dice_.chance(4)) hands_on();
    if (dice_.chance(2)) never_ends();
    choose_outputs();
    return program_;
}

Extent Generator::any_extent() {
    if (dice_.chance(45)) return {0, dice_.pick({'n', 'n', 'm'})};
    if (dice_.chance(4)) return {0};
    return {dice_.pick({1, 2, 3, 4, 5, 6, 7})};
}

void Generator::choose_shapes() {
    for (int count = 1 + dice_.below(3); count > 0; --count) {
        Extents shape;
        for (int rank = dice_.pick({1, 1, 1, 2, 2, 3}); rank > 0; --rank)
            shape.push_back(any_extent());
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
                program_.sizes_third[each.symbol] =
                    is_n ? dice_.pick({4, 16, 16, 32, 64, 100}) : dice_.pick({1, 4, 8, 16});
            }
}

double Generator::any_number(DType dtype) {
    if (dtype.is_bool()) return dice_.below(2);
    if (dtype.is_float()) return (dice_.below(41) - 20) * 0.25;
    if (dtype.bytes() == 8 && dice_.chance(15))
        return dice_.pick({4294967296.0, 2147483648.0, 1099511627776.0}) + dice_.below(9);
    if (dtype.bytes() == 1 && dice_.chance(20)) return dtype == u8 ? 250 : -120;
    if ((dtype == i16 || dtype == u16) && dice_.chance(20)) return dtype == u16 ? 65000 : -32000;
    return dice_.below(13) - (dtype.is_signed() ? 4 : 0);
}

void Generator::declared(int handle, DType dtype, const Extents& extents, bool fixed,
                         bool own_place) {
    variables_.push_back({handle, dtype, extents, scopes_.size(), fixed, own_place});
}

void Generator::argument(const Extents& extents) {
    const DType dtype = exprs_.any_dtype();
    Argument out{dtype, extents, {}};
    for (int count = 11; count > 0; --count) out.numbers.push_back(any_number(dtype));
    program_.arguments.push_back(std::move(out));
    declared(next_++, dtype, extents);
}

void Generator::many_arguments() {
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

Statement Generator::loop_of(std::vector<Expr> bounds) {
    Statement s{.kind = Kind::Loop, .target = next_++};
    s.places = std::move(bounds);
    return s;
}

void Generator::hands_on() {
    const Extents shape = any_shape(false);
    Statement first{.kind = Kind::Declare, .target = next_++},
        last{.kind = Kind::Declare, .target = next_++};
    first.value.form = Form::Index, first.value.extents = shape, first.value.axis = 0;
    last.value.form = Form::Full, last.value.extents = shape, last.value.dtype = i32;
    // From 17 iterations on, loops whose trip count depends on data take several chunks.
    const bool by_data = dice_.chance(50);
    Statement outer =
        loop_of({by_data ? apply_of(Fn::Add, {exprs_.count(2, true).expr, literal_of(17)})
                         : literal_of(1 + dice_.below(3))});
    Statement copy{.kind = Kind::Declare, .target = next_++},
        inner = loop_of({literal_of(2)}), step{.kind = Kind::Assign, .target = copy.target};
    if (by_data) inner.places = {apply_of(Fn::Add, {handle_of(outer.target), literal_of(1)})};
    copy.value = handle_of(first.target);
    Expr beside;
    beside.form = Form::Roll, beside.axis = 0,
    beside.args = {handle_of(copy.target), literal_of(1)};
    step.value = apply_of(
        Fn::Add, {dice_.chance(50) ? beside : apply_of(Fn::Max, {beside, handle_of(copy.target)}),
                  literal_of(1)});
    Statement give{.kind = Kind::Assign, .target = last.target},
        again{.kind = Kind::Assign, .target = first.target};
    give.value = handle_of(copy.target);
    again.value =
        dice_.chance(50) ? handle_of(copy.target) : apply_of(Fn::Add, {last.value, literal_of(5)});
    declared(first.target, i32, shape), declared(last.target, i32, shape);
    inner.body = {step};
    outer.body = {copy, inner, give, again};
    if (dice_.chance(40)) {
        scopes_.push_back({.loop = true});
        assign(outer.body);
        scopes_.pop_back();
    }
    asked_ = last.target;
    for (const Statement& each : {first, last, outer}) program_.body.push_back(each);
}

void Generator::never_ends() {
    Extents shape = any_shape();
    for (Extent& extent : shape)  // of no elements none goes on
        if (extent.symbol || extent.number == 0) extent = {2};
    Statement start{.kind = Kind::Declare, .target = next_++}, s{.kind = Kind::While};
    Statement same{.kind = Kind::Assign, .target = start.target};
    start.value.form = Form::Full, start.value.extents = shape,
    start.value.dtype = dice_.pick({i32, f32, u32});
    const Expr own = handle_of(start.target);
    s.value = apply_of(Fn::Less, {own, literal_of(1)});
    same.value = dice_.pick({apply_of(Fn::Mul, {own, literal_of(1)}), apply_of(Fn::Max, {own, own}),
                             apply_of(Fn::Sub, {own, literal_of(0)}), own,
                             apply_of(Fn::Mod, {own, literal_of(7)})});
    declared(start.target, start.value.dtype, shape);
    // A handle that is assigned to itself is not assigned: a body with no other effect has no use.
    scopes_.push_back({.mask = shape, .loop = true});
    if (dice_.chance(30) && same.value.form != Form::Handle) assign(s.body);
    scopes_.pop_back();
    s.body.push_back(std::move(same));
    asked_ = start.target;
    program_.body.push_back(std::move(start));
    program_.body.push_back(std::move(s));
    program_.endless = true;
}

void Generator::choose_outputs() {
    std::vector<int> all;
    for (const Variable& each : variables_)
        if (each.handle >= static_cast<int>(program_.arguments.size()) || changed(each.handle))
            all.push_back(each.handle);
    if (all.empty()) all.push_back(variables_.back().handle);
    while (all.size() > 4) all.erase(all.begin() + dice_.below(static_cast<int>(all.size())));
    if (asked_ >= 0) all.push_back(asked_);
    program_.outputs = all;
}

bool Generator::changed(int handle) const {
    return std::find(changed_.begin(), changed_.end(), handle) != changed_.end();
}

namespace {

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
                return ends(program, argument_values(program, sizes, first), sizes) !=
                       program.endless;
            };
            if (!suits(program.sizes, 0) || !suits(program.sizes, 1) ||
                !suits(program.sizes_again, 1))
                continue;
            return program;
        } catch (const Unsuitable&) {
        }
    }
    throw Unsuitable("no program of this seed");
}

}  // namespace firn::programs
