// Small programs in masked lockstep: recorded over tensors, and run over plain arrays by the
// meaning alone.
#pragma once
#include <algorithm>
#include <array>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "compiler/language.h"

namespace firn::lockstep {

constexpr int kElements = 6;
using Array = std::array<int, kElements>;
using Mask = std::array<bool, kElements>;

/// The kinds of statements. The elements are i = 0, 1, ..; w and y are tensors; t is the iteration
/// of the innermost loop.
enum class Kind {
    Assign,       // w = w * 3 + 1
    Store,        // w(5 - i) = y + 40
    StoreAt,      // w(y & 7) = i, some of them outside
    Add,          // scatter_add(w(2 * i % 5), 3)
    Neighbour,    // y = y + w(i + 1)
    Sum,          // y = y + sum(w)
    Copy,         // Tensor old = w; w = w + 2; y = y - old(i - 1); w = w + old
    If,           // if_(condition, body, otherwise)
    Loop,         // for (Tensor t : loop(3)) body
    While,        // while_(left > 0) { left = left - 1; body }, with left = i % 4
    Break,        // if_((i + t) % 4 == 3, break_)
    Continue,     // if_((i + t) % 3 == 1, continue_)
    BreakAll,     // break_()
    ContinueAll,  // continue_()
};
enum class Test { Low, Even, Never, Always };  // i < 3; w % 2 == 0; i > 9; one number

struct Statement {
    Kind kind = Kind::Assign;
    Test test = Test::Low;
    std::vector<Statement> body = {}, otherwise = {};
};
using Program = std::vector<Statement>;

inline std::string text(const Program& program) {
    static const char* const names[] = {
        "assign", "store", "store_at", "add",   "neighbour", "sum",       "copy",
        "if",     "loop",  "while",    "break", "continue",  "break_all", "continue_all"};
    static const char* const tests[] = {"low", "even", "never", "always"};
    std::string out;
    for (const Statement& s : program) {
        out += names[static_cast<size_t>(s.kind)];
        if (s.kind == Kind::If) out += std::string("(") + tests[static_cast<size_t>(s.test)] + ")";
        if (!s.body.empty()) out += " { " + text(s.body) + "}";
        if (!s.otherwise.empty()) out += " else { " + text(s.otherwise) + "}";
        out += "; ";
    }
    return out;
}

// --- over arrays
// -----------------------------------------------------------------------------------

/// Sums wrap as those of tensors do.
inline int wrapped(int64_t x) { return static_cast<int>(static_cast<uint32_t>(x)); }

class Native {
  public:
    Array w = {0, 1, 2, 3, 4, 5}, y = {5, 3, 1, 0, 2, 4};

    void run(const Program& program) {
        Mask all;
        all.fill(true);
        run(program, {all, nullptr});
    }

  private:
    struct Loop {
        Mask active, iteration;
        int t = 0;
    };
    /// The active elements: the mask of the branches, without those that left the loop or this
    /// iteration of it.
    struct Place {
        Mask mask;
        Loop* loop;
        Mask now() const {
            Mask out = mask;
            for (size_t i = 0; loop && i < kElements; ++i)
                out[i] = out[i] && loop->active[i] && loop->iteration[i];
            return out;
        }
    };

    /// x = value(i) where the mask holds; every value is computed from the old ones.
    template <class F>
    static void assign(Array& x, const Mask& mask, const F& value) {
        Array made;
        for (int i = 0; i < kElements; ++i) made[size_t(i)] = wrapped(value(i));
        for (size_t i = 0; i < kElements; ++i)
            if (mask[i]) x[i] = made[i];
    }

    static int64_t at(const Array& x, int i) {
        return x[static_cast<size_t>(std::clamp(i, 0, kElements - 1))];
    }

    void store(const Mask& mask, const std::function<int(int)>& index,
               const std::function<int(int)>& value, bool add) {
        for (int i = 0; i < kElements; ++i)
            if (const int k = index(i); mask[size_t(i)] && k >= 0 && k < kElements)
                w[size_t(k)] = wrapped((add ? int64_t{w[size_t(k)]} : 0) + value(i));
    }

    bool holds(Test test, int i) const {
        switch (test) {
            case Test::Low: return i < 3;
            case Test::Even: return w[size_t(i)] % 2 == 0;
            case Test::Never: return i > 9;
            default: return true;
        }
    }

    void leave(const Place& place, Mask Loop::*flag, const std::function<bool(int)>& when) {
        const Mask now = place.now();
        for (int i = 0; i < kElements; ++i)
            if (now[size_t(i)] && when(i)) (place.loop->*flag)[size_t(i)] = false;
    }

    void run_loop(const Statement& s, const Place& place) {
        Loop loop{place.now(), {}, 0};
        Array left;
        for (int i = 0; i < kElements; ++i) left[size_t(i)] = i % 4;
        const Place inside{place.mask, &loop};
        for (; loop.t < (s.kind == Kind::Loop ? 3 : kElements); ++loop.t) {
            loop.iteration.fill(true);
            if (s.kind == Kind::While) {
                leave(inside, &Loop::active, [&](int i) { return left[size_t(i)] <= 0; });
                assign(left, inside.now(), [&](int i) { return left[size_t(i)] - 1; });
            }
            run(s.body, inside);
        }
    }

    void run(const Program& program, const Place& place) {
        for (const Statement& s : program) {
            const Mask now = place.now();
            const int t = place.loop ? place.loop->t : 0;
            switch (s.kind) {
                case Kind::Assign: assign(w, now, [&](int i) { return at(w, i) * 3 + 1; }); break;
                case Kind::Store:
                    store(
                        now, [](int i) { return 5 - i; },
                        [&](int i) { return wrapped(at(y, i) + 40); }, false);
                    break;
                case Kind::StoreAt:
                    store(
                        now, [&](int i) { return y[size_t(i)] & 7; }, [](int i) { return i; },
                        false);
                    break;
                case Kind::Add:
                    store(
                        now, [](int i) { return 2 * i % 5; }, [](int) { return 3; }, true);
                    break;
                case Kind::Neighbour:
                    assign(y, now, [&](int i) { return at(y, i) + at(w, i + 1); });
                    break;
                case Kind::Sum: {
                    int64_t sum = 0;
                    for (int x : w) sum += x;
                    assign(y, now, [&](int i) { return at(y, i) + sum; });
                    break;
                }
                case Kind::Copy: {
                    const Array old = w;
                    assign(w, now, [&](int i) { return at(w, i) + 2; });
                    assign(y, now, [&](int i) { return at(y, i) - at(old, i - 1); });
                    assign(w, now, [&](int i) { return at(w, i) + at(old, i); });
                    break;
                }
                case Kind::If: {
                    Place yes = place, no = place;
                    for (int i = 0; i < kElements; ++i) {
                        const bool one = holds(s.test, i);
                        yes.mask[size_t(i)] = yes.mask[size_t(i)] && one,
                        no.mask[size_t(i)] = no.mask[size_t(i)] && !one;
                    }
                    run(s.body, yes);
                    run(s.otherwise, no);
                    break;
                }
                case Kind::Loop:
                case Kind::While: run_loop(s, place); break;
                case Kind::Break:
                    leave(place, &Loop::active, [&](int i) { return (i + t) % 4 == 3; });
                    break;
                case Kind::Continue:
                    leave(place, &Loop::iteration, [&](int i) { return (i + t) % 3 == 1; });
                    break;
                case Kind::BreakAll: leave(place, &Loop::active, [](int) { return true; }); break;
                case Kind::ContinueAll:
                    leave(place, &Loop::iteration, [](int) { return true; });
                    break;
            }
        }
    }
};

// --- over tensors
// ----------------------------------------------------------------------------------

class Recorded {
  public:
    Tensor w = tensor({0, 1, 2, 3, 4, 5}), y = tensor({5, 3, 1, 0, 2, 4});

    void record(const Program& program) { record(program, Tensor(0)); }

  private:
    Tensor test(Test test) const {
        switch (test) {
            case Test::Low: return i_ < 3;
            case Test::Even: return w % 2 == 0;
            case Test::Never: return i_ > 9;
            default: return one_(0) == 1;
        }
    }

    void record(const Program& program, const Tensor& t) {
        for (const Statement& s : program) switch (s.kind) {
                case Kind::Assign: w = w * 3 + 1; break;
                case Kind::Store: w(5 - i_) = y + 40; break;
                case Kind::StoreAt: w(y & 7) = i_; break;
                case Kind::Add: scatter_add(w(2 * i_ % 5), 3); break;
                case Kind::Neighbour: y = y + w(i_ + 1); break;
                case Kind::Sum: y = y + sum(w); break;
                case Kind::Copy: {
                    Tensor old = w;
                    w = w + 2;
                    y = y - old(i_ - 1);
                    w = w + old;
                    break;
                }
                case Kind::If:
                    if_(
                        test(s.test), [&] { record(s.body, t); }, [&] { record(s.otherwise, t); });
                    break;
                case Kind::Loop:
                    for (Tensor iteration : loop(3)) record(s.body, iteration);
                    break;
                case Kind::While: {
                    Tensor left = i_ % 4, iteration = 0;
                    while_([&] { return left > 0; },
                           [&] {
                               left = left - 1;
                               Tensor now = iteration;
                               iteration = iteration + 1;
                               record(s.body, now);
                           },
                           {.max_steps = kElements});
                    break;
                }
                case Kind::Break: if_((i_ + t) % 4 == 3, [] { break_(); }); break;
                case Kind::Continue: if_((i_ + t) % 3 == 1, [] { continue_(); }); break;
                case Kind::BreakAll: break_(); break;
                case Kind::ContinueAll: continue_(); break;
            }
    }

    Tensor i_ = arange(kElements), one_ = tensor({1});
};

// --- which programs
// --------------------------------------------------------------------------------

/// Every two statements in every place where masks lie between.
inline std::vector<Program> all_pairs() {
    std::vector<Program> out;
    const Kind kinds[] = {Kind::Assign,    Kind::Store, Kind::StoreAt, Kind::Add,
                          Kind::Neighbour, Kind::Sum,   Kind::Copy};
    for (Kind first : kinds)
        for (Kind second : kinds) {
            const Statement a{first}, b{second}, brk{Kind::Break}, next{Kind::Continue};
            auto branch = [](Test test, Program body, Program otherwise = {}) {
                return Statement{Kind::If, test, std::move(body), std::move(otherwise)};
            };
            auto iterations = [](Program body) {
                return Statement{Kind::Loop, {}, std::move(body)};
            };
            auto repeated = [](Program body) {
                return Statement{Kind::While, {}, std::move(body)};
            };
            out.insert(out.end(), {
                                      {branch(Test::Low, {a, b})},
                                      {branch(Test::Even, {a}, {b, a}), b},
                                      {branch(Test::Low, {branch(Test::Never, {a}), b})},
                                      {iterations({branch(Test::Low, {a, b})})},
                                      {iterations({a, brk, b})},
                                      {iterations({a, next, b})},
                                      {repeated({a, b})},
                                      {branch(Test::Low, {iterations({a, b})})},
                                      {branch(Test::Even, {repeated({a, b})}, {a})},
                                      {iterations({iterations({a, brk, b}), next, b, brk, a})},
                                  });
        }
    return out;
}

/// A random program of statements at every depth.
class Generator {
  public:
    explicit Generator(unsigned seed) : random_(seed) {}

    Program block(int depth, bool in_loop) {
        Program out;
        for (int count = pick(1, 4); count > 0; --count) out.push_back(statement(depth, in_loop));
        return out;
    }

  private:
    int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

    Statement statement(int depth, bool in_loop) {
        const int choice = pick(0, 11);
        if (depth > 0 && choice < 3)
            return {Kind::If, static_cast<Test>(pick(0, 3)), block(depth - 1, in_loop),
                    pick(0, 1) ? block(depth - 1, in_loop) : Program()};
        if (depth > 0 && choice == 3) return {Kind::Loop, {}, block(depth - 1, true)};
        if (depth > 0 && choice == 4) return {Kind::While, {}, block(depth - 1, true)};
        if (in_loop && choice == 5)
            return {static_cast<Kind>(pick(int(Kind::Break), int(Kind::ContinueAll)))};
        return {static_cast<Kind>(pick(0, int(Kind::Copy)))};
    }

    std::mt19937 random_;
};

}  // namespace firn::lockstep
