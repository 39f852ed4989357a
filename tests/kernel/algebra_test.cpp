// The builder's facts about integers, which remove clamps, guards and divisions, against brute
// force: random expressions over ranges and sizes, evaluated at every index.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/ir/evaluate.h"
#include "compiler/kernel/index_form.h"
#include "compiler/kernel/kernel_builder.h"

namespace firn {
namespace {

/// The values of symbols `n` and `m`, and of the indices of the ranges.
struct Point {
    SizeEnv env;
    ByRange<int64_t> indices;
};

/// An expression: the builder's node for it, and its value.
struct Value {
    NodeId node;
    std::string text;
    std::vector<int64_t> at;  // by point, exact
};

/// The node at a point, from its operands.
using Known = std::unordered_map<NodeId, Scalar>;
Scalar value_of(const KernelCode& code, NodeId id, const Point& point, Known& known) {
    if (const auto it = known.find(id); it != known.end()) return it->second;
    const KernelNode& n = code[id];
    Scalar out;
    if (const auto* value = n.get_if<Scalar>()) {
        out = *value;
    } else if (const auto* range = n.get_if<RangeId>()) {
        out = scalar_int(point.indices[*range]);
    } else if (const auto* given = n.get_if<ParamAttr>()) {
        out = scalar_int(code.params[static_cast<size_t>(given->param)].size.evaluate(point.env));
    } else {
        std::vector<Scalar> args;
        for (NodeId arg : n.args) args.push_back(value_of(code, arg, point, known));
        out = evaluate(graph_op(n.op), n.dtype, args);
    }
    return known[id] = out;
}

class Algebra {
  public:
    Algebra(uint32_t seed, bool sizes_known) : random_(seed), b_(code_, facts(sizes_known)) {
        const std::vector<Size> extents{Size(7), Size::symbol("n"),
                                        Size::symbol("n") * Size::symbol("m"), Size(4)};
        for (const Size& extent : extents) {
            Range range;
            range.name = "r", range.extent = extent;
            ranges_.push_back(b_.range(b_.add_range(range)));
        }
        for (int64_t n : {1, 3, 8})
            for (int64_t m : {1, 2, 5}) add_points({{"n", n}, {"m", m}}, extents);
    }

    /// Checks `count` values that are made of one another.
    void check(int count) {
        std::vector<Value> values = leaves();
        for (int k = 0; k < count; ++k) {
            Value made = make(values);
            if (!made.node) continue;  // beyond 32 bits: sizes of kernels are refused there
            expect_right(made);
            if (HasFailure()) return;
            expect_form(made);
            if (HasFailure()) return;
            values.push_back(std::move(made));
        }
    }
    static bool HasFailure() { return testing::Test::HasFailure(); }

  private:
    static SymbolFacts facts(bool sizes_known) {
        SymbolFacts out;
        if (sizes_known) out.largest = {{"n", 16}, {"m", 16}};
        return out;
    }

    /// Adds points with all indices at an end, and some places between.
    void add_points(const SizeEnv& env, const std::vector<Size>& extents) {
        for (int k = 0; k < 24; ++k) {
            Point point{env, {}};
            for (size_t r = 0; r < extents.size(); ++r) {
                const int64_t count = extents[r].evaluate(env);
                point.indices.push_back(k < 8 ? (k >> r) % 2 * (count - 1) : random_() % count);
            }
            points_.push_back(std::move(point));
        }
        known_.resize(points_.size());
    }

    std::vector<Value> leaves() {
        std::vector<Value> out;
        for (RangeId r : ranges_.ids()) {
            Value v{ranges_[r], "r" + std::to_string(r.number()), {}};
            for (const Point& p : points_) v.at.push_back(p.indices[r]);
            out.push_back(std::move(v));
        }
        const Size n = Size::symbol("n"), m = Size::symbol("m");
        for (const auto& [size, text] : {std::pair{n, "n"}, {m, "m"}, {n * m, "nm"}}) {
            Value v{b_.size(size), text, {}};
            for (const Point& p : points_) v.at.push_back(size.evaluate(p.env));
            out.push_back(std::move(v));
        }
        for (int64_t c : {-3, -1, 0, 1, 2, 4, 7, 64}) {
            Value v{b_.integer(c), std::to_string(c), {}};
            v.at.assign(points_.size(), c);
            if (c > 0) numbers_.push_back(v);
            out.push_back(std::move(v));
        }
        return out;
    }

    const Value& any(const std::vector<Value>& values) {
        // Half of the time a young one.
        const size_t young = random_() % 2 ? std::min<size_t>(values.size(), 6) : values.size();
        return values[values.size() - 1 - random_() % young];
    }

    Value make(const std::vector<Value>& values) {
        static constexpr std::array kOps{KernelOp::Add, KernelOp::Add,   KernelOp::Sub,
                                         KernelOp::Mul, KernelOp::Div,   KernelOp::Mod,
                                         KernelOp::Min, KernelOp::Max,   KernelOp::Abs,
                                         KernelOp::Neg, KernelOp::Select};
        const KernelOp op = kOps[random_() % kOps.size()];
        const bool divides = op == KernelOp::Div || op == KernelOp::Mod;
        const Value &x = any(values), &z = any(values);
        const Value& y =
            divides && random_() % 4 ? numbers_[random_() % numbers_.size()] : any(values);
        Value out;
        std::vector<NodeId> args{x.node, y.node};
        if (op == KernelOp::Abs || op == KernelOp::Neg) args = {x.node};
        if (op == KernelOp::Select)
            args = {b_.make(KernelOp::Less, boolean, {x.node, y.node}), y.node, z.node};
        out.text = std::string(info(op).name) + "(" + x.text + ", " + y.text + ", " + z.text + ")";
        for (size_t k = 0; k < points_.size(); ++k) {
            const int64_t a = x.at[k], b = y.at[k];
            int64_t r = 0;
            switch (op) {
                case KernelOp::Add: r = a + b; break;
                case KernelOp::Sub: r = a - b; break;
                case KernelOp::Mul: r = a * b; break;
                case KernelOp::Div: r = b == 0 ? 0 : a / b; break;
                case KernelOp::Mod: r = b == 0 ? 0 : a % b; break;
                case KernelOp::Min: r = std::min(a, b); break;
                case KernelOp::Max: r = std::max(a, b); break;
                case KernelOp::Abs: r = std::abs(a); break;
                case KernelOp::Neg: r = -a; break;
                default: r = a < b ? b : z.at[k]; break;
            }
            if (std::abs(r) > (1 << 28)) return {};
            out.at.push_back(r);
        }
        out.node = b_.make(op, i32, std::move(args));
        less_ = {b_.make(KernelOp::Less, boolean, {out.node, y.node}), y.at};
        return out;
    }

    void expect_right(const Value& made) {
        const Interval& known = b_.node(made.node).interval;
        const Congruence& modulo = b_.node(made.node).congruence;
        for (size_t k = 0; k < points_.size(); ++k) {
            Known& memo = known_[k];
            const int64_t is = value_of(code_, made.node, points_[k], memo).i, should = made.at[k];
            const bool inside = contains(known, should), congruent = contains(modulo, should);
            const bool less = value_of(code_, less_.first, points_[k], memo).i != 0;
            ASSERT_TRUE(is == should && inside && congruent && less == (should < less_.second[k]))
                << made.text << " at n " << points_[k].env.at("n") << " m "
                << points_[k].env.at("m") << ": is " << is << ", should be " << should
                << ", known to lie in [" << known.lo << ", " << known.hi << "] and to be "
                << modulo.rem << " modulo " << modulo.mod << ", less " << less;
        }
    }

    /// The part that is no multiple of a range is congruent to that of the form, and does not
    /// change with ranges that the form does not name.
    void expect_form(const Value& made) {
        const IndexForm& form = forms_.of(made.node);
        std::map<std::vector<int64_t>, int64_t> seen;
        for (size_t k = 0; k < points_.size(); ++k) {
            const Point& p = points_[k];
            int64_t rest = made.at[k] - form.sum.offset.evaluate(p.env);
            for (const auto& [range, step] : form.sum.terms)
                rest -= step.evaluate(p.env) * p.indices[range];
            std::vector<int64_t> named{p.env.at("n"), p.env.at("m")};
            for (RangeId range : form.others) named.push_back(p.indices[range]);
            const bool same = seen.emplace(named, rest).first->second == rest;
            ASSERT_TRUE(contains(form.rest, rest) && same)
                << made.text << " leaves " << rest << ", said to be " << form.rest.rem << " modulo "
                << form.rest.mod << (same ? "" : ", and moves");
        }
    }

    std::mt19937 random_;
    KernelCode code_;
    KernelBuilder b_;
    IndexForms forms_{code_};
    ByRange<NodeId> ranges_;  // their indices
    std::vector<Point> points_;
    std::vector<Known> known_;                      // by point
    std::vector<Value> numbers_;                    // that divide
    std::pair<NodeId, std::vector<int64_t>> less_;  // the last value < one of its operands
};

TEST(BuilderAlgebra, PutsASplitIndexTogether) {
    KernelCode code;
    KernelBuilder b(code, {});
    const auto index = [&] {
        Range range;
        range.name = "r", range.extent = Size(100);
        return b.range(b.add_range(range));
    };
    const NodeId i = index(), j = index(), three = b.integer(3), four = b.integer(4);
    const NodeId x = b.add(b.mul(i, b.integer(5)), b.integer(2));
    const NodeId rest = b.make(KernelOp::Mod, i32, {x, four}),
                 quotient = b.make(KernelOp::Div, i32, {x, four});
    const NodeId parts = b.add(b.mul(rest, three), b.mul(quotient, b.integer(12)));
    EXPECT_EQ(b.add(parts, j), b.add(b.mul(x, three), j));
}

TEST(BuilderAlgebra, WholeStepsLeaveAQuotientAndARemainder) {
    KernelCode code;
    KernelBuilder b(code, {});
    Range range;
    range.name = "r", range.extent = Size(1000);
    const NodeId i = b.range(b.add_range(range)), seven = b.integer(7);
    const auto made = [&](KernelOp op, NodeId x) { return b.make(op, i32, {x, seven}); };
    const NodeId behind = b.add(i, b.integer(21)), beside = b.add(i, b.integer(23));
    EXPECT_EQ(made(KernelOp::Div, behind), b.add(made(KernelOp::Div, i), b.integer(3)));
    EXPECT_EQ(made(KernelOp::Mod, behind), made(KernelOp::Mod, i));
    EXPECT_EQ(made(KernelOp::Mod, beside), made(KernelOp::Mod, b.add(i, b.integer(2))));
    // In a block of its own, an index that is put together again is the index.
    const NodeId block = b.make(KernelOp::Mod, i32, {made(KernelOp::Div, behind), b.integer(500)});
    EXPECT_EQ(b.add(b.mul(block, seven), made(KernelOp::Mod, behind)), behind);
    // A term that was below 0 has its own quotients.
    const NodeId down = b.add(b.mul(i, b.integer(-1)), b.integer(1000));
    EXPECT_NE(made(KernelOp::Mod, down), made(KernelOp::Mod, b.add(down, b.integer(-994))));
}

TEST(BuilderAlgebra, WhatLiesBetweenStepsIsInOneBlock) {
    KernelCode code;
    KernelBuilder b(code, {});
    Range range;
    range.name = "r", range.extent = Size(100);
    const NodeId i = b.range(b.add_range(range)), eight = b.integer(8);
    const auto at = [&](int k) { return b.add(b.mul(i, b.integer(4)), b.integer(k)); };
    const auto made = [&](KernelOp op, NodeId x) { return b.make(op, i32, {x, eight}); };
    const NodeId half = b.make(KernelOp::Mod, i32, {i, b.integer(2)});
    for (int k : {1, 2, 3}) {
        EXPECT_EQ(made(KernelOp::Div, at(k)), made(KernelOp::Div, at(0)));
        EXPECT_EQ(made(KernelOp::Mod, at(k)), b.add(b.mul(half, b.integer(4)), b.integer(k)));
    }
    EXPECT_NE(made(KernelOp::Div, at(4)), made(KernelOp::Div, at(0)));
    const NodeId j = b.range(b.add_range(range));
    b.assume(j, Size(1), Size(99));
    const auto below = [&](int k) { return b.add(b.mul(j, b.integer(4)), b.integer(-k)); };
    EXPECT_EQ(made(KernelOp::Div, below(3)), made(KernelOp::Div, below(4)));
    EXPECT_NE(made(KernelOp::Div, below(3)), made(KernelOp::Div, below(0)));
}

TEST(BuilderAlgebra, AClampIsDividedWithWhatItClamps) {
    KernelCode code;
    KernelBuilder b(code, {});
    Range range;
    range.name = "r", range.extent = Size(100);
    const NodeId i = b.range(b.add_range(range)), four = b.integer(4);
    const auto quotient = [&](KernelOp clamp, NodeId x, int limit) {
        return b.make(KernelOp::Div, i32, {b.make(clamp, i32, {x, b.integer(limit)}), four});
    };
    const NodeId steps = b.mul(i, b.integer(2));
    for (KernelOp clamp : {KernelOp::Min, KernelOp::Max})
        for (int k : {0, 1, 2, 3}) {
            const NodeId x = b.add(b.mul(i, b.integer(8)), b.integer(k));
            EXPECT_EQ(quotient(clamp, x, 397), b.make(clamp, i32, {steps, b.integer(99)}));
        }
    // There is no gain if the clamped value is divided all the same.
    EXPECT_EQ(code[quotient(KernelOp::Min, i, 50)].op, KernelOp::Div);
}

TEST(BuilderAlgebra, IsExactWhateverTheSizesAre) {
    for (uint32_t seed = 0; seed < 250 && !testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE(seed);
        Algebra(seed, seed % 2).check(24);
    }
}

}  // namespace
}  // namespace firn
