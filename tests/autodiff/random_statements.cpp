// Random statements over floats: declarations, assignments, stores, branches and loops.
#include "tests/autodiff/random_function.h"

namespace firn {

Tensor RandomFunction::operator()(const std::vector<Tensor>& xs) const {
    RandomFunction run(*this);  // the same dice every time
    run.dtype_ = xs[0].dtype();
    run.main_ = xs[0].shape();
    run.variables_.reserve(64);
    for (const Tensor& x : xs) run.variables_.push_back({x, x.shape()});
    const int count = 3 + run.dice_.below(4), by_hand = run.dice_.below(count);
    for (int k = 0; k < count; ++k) {
        run.on_the_way();
        k == by_hand ? run.by_hand() : run.statement(2);
    }
    run.on_the_way();
    Tensor out = 0.0f;
    for (const FloatVariable& each : run.variables_) out = out + sin(each.value);
    return out;
}

void RandomFunction::on_the_way() {
    Tensor& x =
        variables_[static_cast<size_t>(way_.below(static_cast<int>(variables_.size())))].value;
    const Tensor& other = variables_[0].value;
    const int kind = way_.below(8);
    const bool gives_away = way_.chance(30), is_temporary = way_.chance(30);
    const auto one = [](const Tensor& a) { return 1.2f * sin(a) + 0.1f * a; };
    const auto two = [](const Tensor& a, const Tensor& b) {
        return std::tuple{sin(a) * 0.9f, a + sum(b) * 0.1f};
    };
    const auto call = [&](auto f) {
        if (is_temporary) return f(0.5f * x);
        if (!gives_away) return f(x);
        Tensor given = x;
        x = 0.0f * x;
        return f(std::move(given));
    };
    if (kind == 0 && computes_ && !recording_now()) x.to_vector<double>();
    if (kind == 1 && computes_ && !recording_now()) realize(x);
    if (kind == 2 && computes_ && !recording_now()) sum(x).to_vector<double>();
    if (kind < 3) note_computed(&RandomContents::values);
    if (kind == 3 || kind == 4) note_computed(&RandomContents::calls);
    if (kind == 3) x = computes_ ? call(jit(one)) : call(one);
    if (kind == 4) {
        ArgSpec spec{dtype_, x.shape()}, behind{dtype_, other.shape()};
        const auto [a, b] = computes_ ? compile(two, {spec, behind})(x, other) : two(x, other);
        x = a + 0.2f * b;
    }
}

void RandomFunction::note_kernels(int count) {
    if (!contents) return;
    contents->kernels += count;
    contents->most_kernels = std::max(contents->most_kernels, count);
    contents->kernel_in_loop |= open_loops_ > 0;
    contents->kernel_after_loop |= open_loops_ == 0 && loops_ > 0;
    contents->kernel_after_value |= contents->values + contents->calls > 0;
}

void RandomFunction::note_loop() {
    ++loops_;
    if (contents) contents->kernel_before_loop |= open_loops_ == 0 && contents->kernels > 0;
}

void RandomFunction::note_computed(int RandomContents::*kind) {
    if (!contents) return;
    contents->*kind += 1;
    contents->kernel_before_value |= contents->kernels > 0;
}

Tensor RandomFunction::tamed(const Tensor& x) {
    switch (dice_.below(4)) {
        case 0: return 1.5f * tanh(0.8f * x);
        case 1: return clamp(x, -1.45f, 1.4f);
        default: return 1.5f * sin(x);
    }
}

FloatVariable* RandomFunction::assignable() {
    FloatVariable* out = nullptr;
    do out = &variables_[static_cast<size_t>(dice_.below(static_cast<int>(variables_.size())))];
    while (masked_ && out->shape != main_);
    return out;
}

void RandomFunction::inside(int depth) {
    const size_t outer = variables_.size();
    for (int count = 1 + dice_.below(2); count > 0; --count) statement(depth - 1);
    variables_.resize(outer);
}

void RandomFunction::statement(int depth) {
    const int kind = dice_.below(100);
    if (!masked_ && dice_.chance(open_loops_ > 0 ? 45 : 15)) return by_hand();
    if (kind < 12 && !masked_) return declare();
    if (kind < 36) return assign();
    if (kind < 56) return store();
    if (depth == 0) return assign();
    if (kind < 68) return branch(depth);
    if (kind < 82) return counted(depth);
    return kind < 92 ? left_early(depth) : repeated(depth);
}

void RandomFunction::declare() {
    const Shape shape = dice_.chance(75) ? main_ : Shape{};
    const Tensor value = tamed(expression(shape, 3));
    variables_.push_back({value, shape});
}

void RandomFunction::assign() {
    FloatVariable* to = assignable();
    const Tensor value = tamed(expression(to->shape, 3));
    dice_.chance(30) ? to->value += 0.5f * value : to->value = value;
}

void RandomFunction::store() {
    std::vector<size_t> all;
    for (size_t k = 0; k < variables_.size(); ++k)
        if (!variables_[k].shape.empty()) all.push_back(k);
    FloatVariable& to = variables_[dice_.of(all)];
    const Shape from = masked_ || dice_.chance(70) ? main_ : Shape{};
    std::vector<Tensor> at;
    for (int axis = 0; axis < static_cast<int>(to.shape.size()); ++axis)
        at.push_back(place(from, to.shape, axis));
    const Tensor value = tamed(expression(from, 2));
    Tensor& y = to.value;
    const auto access = [&] { return at.size() == 1 ? y(at[0]) : y(at[0], at[1]); };
    switch (dice_.below(8)) {
        case 0:
        case 1: return void(access() = value);
        case 7: return scatter_mul(access(), 1.2f + 0.4f * sin(value));
        case 2:
        case 3: return scatter_add(access(), 0.3f * value);
        case 4: return scatter_min(access(), value);
        case 5: return scatter_max(access(), value);
        default: return void(access() += 0.4f * value);
    }
}

void RandomFunction::branch(int depth) {
    const bool masks = masked_ || dice_.chance(50), before = masked_;
    const Tensor test = condition(masks ? main_ : Shape{});
    masked_ = masks;
    const bool both = dice_.chance(50);
    if_(
        test, [&] { inside(depth); },
        [&] {
            if (both) inside(depth);
        });
    masked_ = before;
}

void RandomFunction::counted(int depth) {
    note_loop();
    ++open_loops_;
    const int kind = dice_.below(6), count = dice_.below(4);
    const Tensor by_data = cast<int>(floor(2.1f * leaf({}) + 1.3f));
    const auto body = [&](const Tensor& k) {
        const size_t outer = variables_.size();
        variables_.push_back({0.2f * k.as(dtype_) - 0.3f, {}});
        inside(depth);
        variables_.resize(outer);
    };
    if (kind == 0)
        for (Tensor k : loop(3, -2, -2)) body(k);
    else if (kind == 1)
        for (Tensor k : loop(main_[0])) body(k);
    else if (kind == 2)
        for (Tensor k : loop(-1, min(by_data, 4), 2)) body(k);
    else if (kind == 3)
        for (Tensor k : loop(4, {.checkpoint = 1 + count})) body(k);
    else
        for (Tensor k : loop(count)) body(k);
    --open_loops_;
}

void RandomFunction::left_early(int depth) {
    note_loop();
    ++open_loops_;
    const bool before = masked_, by_element = masked_ || dice_.chance(60);
    const bool first = dice_.chance(50), ends = dice_.chance(70);
    const int64_t every = dice_.below(3);
    masked_ = by_element;
    for (Tensor k : loop(4, {.checkpoint = every})) {
        if (!first) inside(depth);
        const Tensor test = condition(by_element ? main_ : Shape{}) & (k > dice_.below(3) - 1);
        if_(test, [&] { ends ? break_() : continue_(); });
        inside(depth);
    }
    masked_ = before;
    --open_loops_;
}

void RandomFunction::repeated(int depth) {
    note_loop();
    ++open_loops_;
    const bool before = masked_;
    masked_ = before || dice_.chance(60);
    const Shape shape = masked_ ? main_ : Shape{};
    Tensor iterations = expand(Tensor(0), shape);
    const int most = 1 + dice_.below(4);
    const Tensor limit = cast<int>(floor(1.7f * leaf(shape) + 2.2f));
    while_([&] { return iterations < limit; },
           [&] {
               iterations += 1;
               inside(depth);
           },
           {.max_steps = most});
    masked_ = before;
    --open_loops_;
}

}  // namespace firn
