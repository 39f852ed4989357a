// Random sound Graphs with every kind of node, and arguments for them: the same ones for the same
// seed.
#pragma once
#include <algorithm>
#include <limits>
#include <random>

#include "compiler/base/error.h"
#include "compiler/ir/builder.h"
#include "compiler/ir/interpret.h"

namespace firn {

struct RandomGraphOptions {
    int nodes = 30;
    bool symbols = true;  // dimensions n and m among the numbers
    bool regions = true;  // loops and branches
    bool kernels = true;  // kernels by hand, with shared arrays and barriers
    bool floats16 = true;
    bool nonfinite = true;  // inf and nan among the arguments
    /// The shares, of a thousand graphs, that have few nodes along an axis longer than a group, and
    /// than a row of groups.
    int longer_than_a_group = 20, longer_than_all = 3;
    /// Functions with last bits that a device chooses, and bits of floats as integers, which show
    /// them.
    bool any_function = true;
};

struct RandomProgram {
    Graph graph;
    SizeEnv env;
    std::vector<HostTensor> args;
};

class RandomGraphs {
  public:
    RandomGraphs(NodeTable& table, uint64_t seed, RandomGraphOptions options = {})
        : builder_{table, {"random.cpp", 1}}, random_(seed), options_(options) {}

    RandomProgram make() {
        RandomProgram out;
        env_ = {{"n", pick({4, 4, 0, 1, 2, 7, 13, 16})}, {"m", pick({3, 3, 1, 4, 5, 8})}};
        const int length = below(1000);
        long_axis_ =
            options_.symbols && length < options_.longer_than_a_group + options_.longer_than_all;
        if (long_axis_)
            env_["n"] = length < options_.longer_than_all ? pick({65537, 65600, 70001})
                                                          : pick({257, 1024, 1025, 4099});
        out.env = env_;
        for (int k = 0; k < 5; ++k) {
            bool scalar = k == 4;
            DType dtype = scalar ? i32 : any_dtype();
            Ref arg = input(builder_, k, dtype, scalar ? Shape{} : any_shape(), scalar);
            out.graph.args.push_back(arg);
            out.args.push_back(argument(*arg, out.env));
            pool_.push_back(arg);
        }
        grow(long_axis_ ? std::min(options_.nodes, 8) : options_.nodes, 0);
        // The newest values, and one older, so that much of the graph is needed.
        for (int k = 0; k < 3; ++k)
            out.graph.results.push_back(pool_[pool_.size() - 1 - static_cast<size_t>(k)]);
        out.graph.results.push_back(any());
        return out;
    }

  private:
    int below(int n) { return static_cast<int>(random_() % static_cast<uint64_t>(n)); }
    bool chance(int percent) { return below(100) < percent; }
    template <class T>
    T pick(std::initializer_list<T> list) {
        return *(list.begin() + below(static_cast<int>(list.size())));
    }
    const Ref& any() { return pool_[static_cast<size_t>(below(static_cast<int>(pool_.size())))]; }

    DType any_dtype() {
        DType dtype = pick({f32, f32, f32, i32, i32, u32, boolean, f16});
        return dtype == f16 && !options_.floats16 ? f32 : dtype;
    }
    Size any_size() {
        if (options_.symbols && chance(40)) return Size::symbol(pick({"n", "m"}));
        if (chance(10)) return pick({Size(7), Size(17), Size(32)});
        return pick({Size(1), Size(2), Size(3), Size(4), Size(5)});
    }
    Shape any_shape() {
        Shape out;
        for (int rank = below(4); rank > 0; --rank) {
            const Size size = any_size();
            const bool squared = long_axis_ && !size.is_constant() &&
                                 std::find(out.begin(), out.end(), size) != out.end();
            out.push_back(squared ? Size(2) : size);
        }
        return out;
    }

    HostTensor argument(const Node& arg, const SizeEnv& env) {
        std::vector<int64_t> shape;
        for (const Size& size : arg.shape) shape.push_back(size.evaluate(env));
        HostTensor out = HostTensor::make(arg.dtype, shape);
        constexpr double kInf = std::numeric_limits<double>::infinity();
        for (int64_t k = 0; k < out.elements(); ++k) {
            double value = (below(41) - 20) * 0.25;
            if (options_.nonfinite && chance(5))
                value = pick({kInf, -kInf, std::numeric_limits<double>::quiet_NaN(), -0.0});
            bool is_float = arg.dtype.is_float();
            out.set(
                k, is_float ? scalar_float(value, arg.dtype) : scalar_int(below(9) - 3, arg.dtype));
        }
        return out;
    }

    /// The interpreters are slow: neither the node nor those made for it may be large.
    bool is_large(const Node& node, uint64_t oldest) const {
        if (element_count(node.shape).evaluate(env_) > (long_axis_ ? 100'000 : 1500)) return true;
        return std::any_of(node.inputs.begin(), node.inputs.end(), [&](const Ref& input) {
            return input->serial > oldest && is_large(*input, oldest);
        });
    }

    /// Adds about `count` nodes to the pool.
    void grow(int count, int depth) {
        for (int k = 0; k < count; ++k) {
            size_t before = pool_.size();
            const uint64_t oldest = constant_int(builder_, ++marks_)->serial;
            try {
                add(depth);
            } catch (const UserError&) {
                // Shapes or types that do not meet: another try.
                pool_.resize(before);
            }
            pool_.erase(std::remove_if(pool_.begin() + static_cast<long>(before), pool_.end(),
                                       [&](const Ref& node) { return is_large(*node, oldest); }),
                        pool_.end());
        }
    }

    void add(int depth) {
        int kind = below(100);
        if (kind < 45) return add_elementwise();
        if (kind < 68) return add_movement();
        if (kind < 76) return chance(30) ? add_stencil() : add_gather();
        if (kind < 80) return chance(40) ? add_contraction() : add_reduce();
        if (kind < 84) return add_scatter();
        if (kind < 86 && options_.kernels && depth == 0) return add_kernel();
        if (kind < 92 && options_.regions && depth < 2)
            return chance(60) ? add_loop(depth) : add_if(depth);
        if (kind < 96) return pool_.push_back(add_leaf());
        const Ref x = any();
        const bool wide = x->dtype == f32 || x->dtype == i32 || x->dtype == u32;
        if (wide && options_.any_function && chance(20)) return add_bitcast(x);
        pool_.push_back(cast(builder_, x, any_dtype()));
    }

    void add_bitcast(const Ref& x) {
        if (x->dtype != f32) return pool_.push_back(bitcast(builder_, x, f32));
        // Which nan it is, is not defined.
        const Ref number = elementwise(builder_, Op::Equal, {x, x});
        const Ref shown =
            elementwise(builder_, Op::Select, {number, x, constant_float(builder_, 0)});
        pool_.push_back(bitcast(builder_, shown, i32));
    }

    Ref add_leaf() {
        if (chance(40)) {
            Shape shape = any_shape();
            if (!shape.empty())
                return index(builder_, shape, below(static_cast<int>(shape.size())));
        }
        if (options_.symbols && chance(20))
            return size_value(builder_, Size::symbol("n") * Size(2));
        return chance(50) ? constant_float(builder_, pick({0.0, -0.0, 1.0, 2.0, -1.0, 0.5}))
                          : constant_int(builder_, below(4) - 1);
    }

    void add_elementwise() {
        static const Op kOps[] = {
            Op::Neg, Op::Abs,   Op::Sign,      Op::Floor,      Op::Sqrt,     Op::Not,
            Op::Sin, Op::IsNan, Op::BitNot,    Op::Add,        Op::Add,      Op::Sub,
            Op::Sub, Op::Mul,   Op::Mul,       Op::Div,        Op::Mod,      Op::Min,
            Op::Max, Op::Less,  Op::LessEqual, Op::Equal,      Op::NotEqual, Op::And,
            Op::Or,  Op::Xor,   Op::ShiftLeft, Op::ShiftRight, Op::Select,   Op::Select};
        Op op = kOps[below(std::size(kOps))];
        if (options_.any_function && chance(25)) {
            const Op other = static_cast<Op>(below(kOpCount));
            if (is_elementwise(other) && other != Op::Cast && other != Op::Bitcast) op = other;
        }
        std::vector<Ref> inputs;
        std::vector<bool> weak;
        for (int k = 0; k < info(op).arity; ++k) {
            bool literal = k > 0 && chance(25);
            inputs.push_back(literal ? add_leaf() : any());
            weak.push_back(literal && inputs.back()->shape.empty());
        }
        pool_.push_back(elementwise(builder_, op, inputs, weak));
    }

    void add_movement() {
        Ref x = any();
        int rank = x->rank();
        switch (below(5)) {
            case 0: {
                std::vector<int> axes;
                for (int k = 0; k < rank; ++k) axes.push_back(k);
                std::shuffle(axes.begin(), axes.end(), random_);
                return pool_.push_back(permute(builder_, x, axes));
            }
            case 1: {
                if (chance(50) || rank < 2) return pool_.push_back(reshape(builder_, x, {-1}));
                Shape shape = x->shape;
                std::rotate(shape.begin(), shape.begin() + 1, shape.end());
                return pool_.push_back(reshape(builder_, x, shape));
            }
            case 2: {
                if (rank >= 3) return;
                Shape shape = x->shape;
                for (Size& size : shape)
                    if (size.is(1)) size = any_size();
                if (chance(50)) shape.insert(shape.begin(), any_size());
                return pool_.push_back(expand(builder_, x, shape));
            }
            case 3: return pool_.push_back(random_slice(x));
            default: {
                std::vector<Size> before, after;
                for (int k = 0; k < rank; ++k) {
                    before.push_back(below(2));
                    after.push_back(below(2));
                }
                return pool_.push_back(pad(builder_, x, before, after, scalar_int(below(3))));
            }
        }
    }

    Ref random_slice(const Ref& x) {
        std::vector<Size> begin, extent;
        std::vector<int64_t> step;
        for (const Size& n : x->shape) {
            if (!n.is_constant()) {  // whole, or flipped
                bool flip = chance(50);
                begin.push_back(flip ? n - Size(1) : Size(0));
                extent.push_back(n);
                step.push_back(flip ? -1 : 1);
                continue;
            }
            int64_t size = n.constant(), first = size ? below(static_cast<int>(size)) : 0;
            int64_t by = pick({int64_t{1}, int64_t{2}, int64_t{-1}});
            int64_t most = by > 0 ? (size - first + by - 1) / by : first + 1;
            begin.push_back(first);
            extent.push_back(most > 0 ? below(static_cast<int>(most)) + 1 : 0);
            step.push_back(by);
        }
        return slice(builder_, x, begin, extent, step);
    }

    std::vector<Ref> random_indices(int count) {
        std::vector<Ref> out;
        for (int k = 0; k < count; ++k) {
            Ref position = any();
            for (int tries = 0; tries < 6 && !position->dtype.is_integer(); ++tries)
                position = any();
            out.push_back(cast(builder_, position, i32));
        }
        return out;
    }

    void add_gather() {
        Ref x = any();
        if (x->rank() == 0) return;
        std::vector<Bounds> modes;
        for (int k = 0; k < x->rank(); ++k)
            modes.push_back(pick(
                {Bounds::Clamp, Bounds::Wrap, Bounds::Mirror, Bounds::Reflect, Bounds::Constant}));
        Ref y = gather(builder_, x, random_indices(x->rank()), modes, scalar_int(below(3)));
        if (y->rank() <= 3) pool_.push_back(y);
    }

    Ref read(const Ref& x, const std::vector<Ref>& at) {
        std::vector<Bounds> modes;
        for (size_t k = 0; k < at.size(); ++k)
            modes.push_back(pick({Bounds::Clamp, Bounds::Clamp, Bounds::Wrap, Bounds::Constant}));
        return gather(builder_, x, at, modes, scalar_int(0));
    }

    /// Neighbours of each element.
    void add_stencil() {
        Ref x = any(), total;
        for (int tap = below(3) + 1; tap >= 0 && x->rank() > 0; --tap) {
            std::vector<Ref> at;
            for (int axis = 0; axis < x->rank(); ++axis)
                at.push_back(elementwise(
                    builder_, Op::Add,
                    {index(builder_, x->shape, axis), constant_int(builder_, below(5) - 2)}));
            const Ref beside = read(x, at);
            total = total ? elementwise(builder_, Op::Add, {total, beside}) : beside;
        }
        if (total) pool_.push_back(total);
    }

    /// A sum over k of x(i, k) y(k, j), or of y(j, k).
    void add_contraction() {
        const Ref x = any(), y = any();
        if (x->rank() != 2 || y->rank() != 2) return;
        const bool turned = chance(30);
        const Shape all{x->shape[0], y->shape[turned ? 0 : 1], x->shape[1]};
        if (long_axis_ && (x->dtype.is_float() || y->dtype.is_float())) return;
        const Ref i = index(builder_, all, 0), j = index(builder_, all, 1),
                  k = index(builder_, all, 2);
        const Ref left = read(x, {i, k}),
                  right = read(y, turned ? std::vector<Ref>{j, k} : std::vector<Ref>{k, j});
        pool_.push_back(reduce(builder_, ReduceOp::Sum,
                               elementwise(builder_, Op::Mul, {left, right}), {2}, false));
    }

    void add_scatter() {
        Ref x = any();
        if (x->rank() == 0) return;
        // Sums of floats depend on their order, which devices choose: integers only.
        bool combines = x->dtype == i32 || x->dtype == u32;
        ScatterOp op = combines ? static_cast<ScatterOp>(below(int(ScatterOp::Xor) + 1))
                       : x->dtype.is_bool()
                           ? pick({ScatterOp::Last, ScatterOp::And, ScatterOp::Or, ScatterOp::Xor})
                           : ScatterOp::Last;
        pool_.push_back(scatter(builder_, x, any(), random_indices(x->rank()), {op}));
    }

    void add_reduce() {
        Ref x = any();
        if (x->rank() == 0) return;
        ReduceOp op = static_cast<ReduceOp>(below(int(ReduceOp::Argmax) + 1));
        // The order of many floats shows in their sum.
        if (long_axis_ && x->dtype.is_float() && (op == ReduceOp::Sum || op == ReduceOp::Prod))
            op = ReduceOp::Max;
        pool_.push_back(reduce(builder_, op, x, {below(x->rank())}, chance(50)));
    }

    /// The newest value in the pool with this type that is not `skip`; `otherwise` where there is
    /// none.
    Ref newest_like(const Ref& otherwise, size_t first) {
        for (size_t k = pool_.size(); k-- > first;)
            if (pool_[k] != otherwise && pool_[k]->dtype == otherwise->dtype &&
                pool_[k]->shape == otherwise->shape)
                return pool_[k];
        return otherwise;
    }

    void add_loop(int depth) {
        size_t outer = pool_.size();
        std::vector<Ref> inits;
        for (int k = below(3) + 1; k > 0; --k) inits.push_back(any());
        int active = -1;
        if (chance(30)) {
            active = static_cast<int>(inits.size());
            Ref mask = cast(builder_, constant_int(builder_, 1), boolean);
            bool shaped = std::all_of(inits.begin(), inits.end(),
                                      [&](const Ref& x) { return x->shape == inits[0]->shape; });
            inits.push_back(shaped ? expand(builder_, mask, inits[0]->shape) : mask);
        }
        Region body{{region_arg(builder_, i32, {})}, {}};
        for (const Ref& init : inits)
            body.args.push_back(region_arg(builder_, init->dtype, init->shape));
        pool_.insert(pool_.end(), body.args.begin(), body.args.end());
        grow(8, depth + 1);
        for (size_t k = 1; k < body.args.size(); ++k)
            body.results.push_back(newest_like(body.args[k], outer));
        for (size_t k = 0; active >= 0 && k < body.results.size(); ++k)
            body.results[k] = elementwise(
                builder_, Op::Select,
                {body.args[static_cast<size_t>(active) + 1], body.results[k], body.args[k + 1]});
        pool_.resize(outer);
        Ref end = chance(30) ? constant_int(builder_, below(4))
                             : size_value(builder_, pick({Size(2), Size(3)}));
        bool down = chance(30);
        Ref zero = constant_int(builder_, 0), step = constant_int(builder_, down ? -1 : 1);
        Ref made = loop(builder_, down ? end : zero, down ? zero : end, step, inits, body, active);
        for (size_t k = 0; k < inits.size(); ++k)
            pool_.push_back(result(builder_, made, static_cast<int>(k)));
    }

    /// A kernel by hand: every invocation puts a value into a shared array and, behind a barrier,
    /// takes another's. It stores to an earlier value of its own element; where the grid is longer,
    /// nothing.
    void add_kernel() {
        Ref target = any();
        for (int tries = 0; tries < 8 && (target->rank() != 1 || target->dtype.bytes() < 4);
             ++tries)
            target = any();
        if (target->rank() != 1 || target->dtype.bytes() < 4) return;
        const Builder& b = builder_;
        const int width = pick({2, 4, 8});
        const Size groups = ceil_div(target->shape[0], width) + Size(below(2));
        const Shape grid{groups * Size(width)};
        const Ref iteration = region_arg(b, i32, {}),
                  entry = region_arg(b, target->dtype, target->shape);
        const Ref i = b.table.intern(Op::Invocation, i32, grid, {iteration}, IndexAttr{0});
        auto op = [&](Op o, const Ref& x, const Ref& y) { return elementwise(b, o, {x, y}); };
        auto outer = [&] {
            Ref x = any();
            std::vector<Ref> at;
            for (int axis = 0; axis < x->rank(); ++axis)
                at.push_back(op(Op::Add, i, constant_int(b, below(3) - 1)));
            return at.empty()
                       ? expand(b, x, grid)
                       : gather(b, x, at,
                                std::vector<Bounds>(at.size(), pick({Bounds::Clamp, Bounds::Wrap})),
                                scalar_int(0));
        };
        const Ref lane = op(Op::Mod, i, constant_int(b, width)),
                  group = op(Op::Div, i, constant_int(b, width));
        const ScatterAttr store{.by_hand = true};
        const Ref own = cast(b, outer(), target->dtype);
        Ref array = b.table.intern(Op::Array, own->dtype, {groups, Size(width)}, {iteration},
                                   ArrayAttr{++arrays_, true});
        array = scatter(b, array, own, {group, lane}, store);
        array =
            b.table.intern(Op::Barrier, array->dtype, array->shape, {array}, BarrierAttr{arrays_});
        const Ref beside =
            op(Op::Mod, op(Op::Add, lane, constant_int(b, below(width))), constant_int(b, width));
        Ref value =
            gather(b, array, {group, beside}, {Bounds::Clamp, Bounds::Clamp}, scalar_int(0));
        value = cast(b, op(pick({Op::Add, Op::Max, Op::Sub}), value, outer()), target->dtype);
        Region body{{iteration, entry}, {scatter(b, entry, value, {i}, store)}};
        pool_.push_back(result(
            b, kernel_by_hand(b, {target}, body, grid, {static_cast<uint32_t>(width)}, true), 0));
    }

    void add_if(int depth) {
        size_t outer = pool_.size();
        Ref condition = any();
        for (int tries = 0; tries < 6 && !condition->dtype.is_bool(); ++tries) condition = any();
        Region sides[2];
        std::vector<Ref> patterns = {any(), any()};
        for (Region& side : sides) {
            grow(5, depth + 1);
            for (const Ref& pattern : patterns) side.results.push_back(newest_like(pattern, 0));
            pool_.resize(outer);
        }
        Ref made = branch(builder_, condition, sides[0], sides[1]);
        for (int k = 0; k < 2; ++k) {
            Ref value = result(builder_, made, k);
            if (value->rank() <= 3) pool_.push_back(value);
        }
    }

    Builder builder_;
    std::mt19937_64 random_;
    RandomGraphOptions options_;
    SizeEnv env_;
    bool long_axis_ = false;  // n is
    uint64_t arrays_ = 0;
    int64_t marks_ = 1000;  // constants that no graph has: nodes made after one are younger
    std::vector<Ref> pool_;
};

}  // namespace firn
