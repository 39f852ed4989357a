// compile and jit: C++ functions over tensors as compiled programs.
#pragma once
#include <array>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "compiler/frontend/structs.h"
#include "compiler/frontend/tensor.h"
#include "compiler/frontend/tune.h"
#include "compiler/program/program_stats.h"

namespace firn {

struct FunctionState;
struct Graph;
struct Program;

/// A compiled function over flat lists of tensors; copies share its programs. One program is
/// compiled for each kind of call: what divides the sizes (4, 16, 64), about how large they are
/// (powers of 4) and how far integer arguments let loops run (powers of 16), and which scalars are
/// tensors on the device. The first call compiles the program that fits it. Then one that assumes
/// nothing of the sizes is compiled in the background: it serves calls with other sizes at once,
/// until the program that fits them is compiled there too. Results of two such programs differ as
/// those of two schedules do: in how they round. See Session::compile_in_background.
class Function {
  public:
    /// None yet, for a member that is assigned later; a call of it is a UserError.
    Function() = default;
    std::vector<Tensor> call(const std::vector<Arg>& args) const;

    /// The program of the most recent call; before the first, the one that assumes nothing of its
    /// sizes.
    SharedPtr<const Program> program() const;
    /// What that program does at the sizes of the most recent call.
    ProgramStats stats() const;
    /// Every value's verdict with its reason and the costs that competed, every kernel with what it
    /// does at the sizes of the most recent call and how long it should take.
    std::string explain() const;
    /// The same of a call with these arguments, which is run (twice: drivers compile at the first
    /// run), with the time that each kernel took. Nothing is given away.
    std::string explain(const std::vector<Arg>& args) const;
    /// Kernel code of one kernel of the most recent call's program, by the beginning of its name
    /// (`k0`), as a pass left it: `lower`, `place`, `map` and the others of mapping/pipeline.cpp;
    /// without one, after each. UserError that names what there is where there is no such kernel or
    /// pass.
    std::string explain_kernel(const std::string& kernel, const std::string& pass = "") const;
    /// Searches a faster program for a call with these arguments, by running it: first other cuts
    /// of the whole, then other mappings of each kernel, those that take longest first, as long as
    /// `options.seconds` allow. What gives results that differ by more than rounding is dropped.
    /// The fastest are used from now on by this function, and by every program compiled later in
    /// this session or with the same caches that is equal or has an equal kernel. Nothing is given
    /// away. UserError where the session runs no kernels (the oracle), or while something is
    /// recorded.
    TuneReport tune(const std::vector<Arg>& args, const TuneOptions& options = {}) const;
    /// Whether a call with these arguments finds its program there. Where not, the program is being
    /// compiled in the background from now on. True, too, where it cannot be compiled, which the
    /// call says, and where nothing is compiled in the background (Session). Nothing is given away.
    bool is_ready(const std::vector<Arg>& args) const;
    /// Waits until everything that is being compiled in the background of the session is ready.
    /// Calls with sizes that were seen before then run the programs that fit them.
    void finish_compiling() const;
    /// What was recorded: the declared arguments first, then the captured tensors.
    const Graph& graph() const;
    /// Programs that are kept, 64 at most.
    size_t variant_count() const;

  protected:
    explicit Function(SharedPtr<FunctionState> state) : state_(std::move(state)) {}

  private:
    friend class Trace;
    /// UserError where there is none yet.
    FunctionState& state() const;
    SharedPtr<FunctionState> state_;
};

/// Records one function: its arguments are there from the start, finish takes its results. Without
/// finish, everything recorded is dropped.
class Trace {
  public:
    Trace(const std::vector<ArgSpec>& specs, SourceLine line);
    ~Trace();
    Trace(const Trace&) = delete;
    Trace& operator=(const Trace&) = delete;

    const std::vector<Tensor>& arguments() const { return arguments_; }
    Function finish(const std::vector<Tensor>& results);

  private:
    SharedPtr<FunctionState> state_;
    std::vector<Tensor> arguments_;
    uint64_t scope_ = 0;
};

template <size_t, class T>
using Repeated = T;

template <class Layout, class Parameters>
class CompiledCall;

/// A compiled function with its C++ signature: takes tensors, structs of them, and C++ numbers for
/// rank-0 arguments.
template <class Layout, class... P>
class CompiledCall<Layout, TypeList<P...>> : public Function {
  public:
    CompiledCall() = default;
    explicit CompiledCall(Function function) : Function(std::move(function)) {}

    typename Results<Layout>::Type operator()(const ArgumentOf<P>&... args) const {
        std::vector<Arg> flat;
        (add_arguments(args, flat), ...);
        std::vector<Tensor> all = call(flat);
        size_t next = 0;
        return Results<Layout>::give(all, next);
    }
    /// See Function::is_ready.
    bool ready(const ArgumentOf<P>&... args) const {
        std::vector<Arg> flat;
        (add_arguments(args, flat), ...);
        return is_ready(flat);
    }
    // clang-format off
    template <class... A>
    requires(sizeof...(A) != sizeof...(P)) void operator()(const A&...) const = delete;  // give as many arguments as the function takes
    // clang-format on
};

template <size_t... K>
TypeList<Repeated<K, Tensor>...> repeated_tensors(std::index_sequence<K...>);
/// So many of them.
template <size_t Count>
using TensorParameters = decltype(repeated_tensors(std::make_index_sequence<Count>()));
template <class Signature, size_t... Arity>
struct CompiledType;
template <class Layout, size_t Arity>
struct CompiledType<Layout, Arity> {
    using Type = CompiledCall<Layout, TensorParameters<Arity>>;
};
template <class R, class... P>
struct CompiledType<R(P...)> {
    using Type = CompiledCall<R, TypeList<std::remove_cvref_t<P>...>>;
};
/// The type of what compile gives, for members: `Compiled<State(State, Tensor)> step;` by the
/// function's signature, or `Compiled<Tensor, 3>` by its result and its number of tensors.
template <class Signature, size_t... Arity>
using Compiled = typename CompiledType<Signature, Arity...>::Type;

template <class Fn, size_t... K>
auto call_with(Fn& fn, const std::vector<Tensor>& args, std::index_sequence<K...>) {
    return fn(Tensor(args[K])...);
}
template <class Fn, class... P>
auto call_with_structs(Fn& fn, const std::vector<Tensor>& args, TypeList<P...>) {
    size_t next = 0;
    std::tuple<P...> made{Results<P>::give(args, next)...};  // braces: in order
    return std::apply([&](P&... each) { return fn(std::move(each)...); }, made);
}
/// `Fn` can be called with so many Tensors.
template <class Fn, size_t Arity>
constexpr bool takes_tensors() {
    return []<size_t... K>(std::index_sequence<K...>) {
        return std::invocable<Fn&, Repeated<K, Tensor>...>;
    }
    (std::make_index_sequence<Arity>());
}

/// Records `fn` once with arguments of the given types and shapes, and compiles it when it is
/// called. Sizes may be symbols: `f32("n", "m")`; one that appears twice must be equal at the call.
/// Rank-0 arguments take C++ numbers without compiling again. Tensors captured by `fn` keep the
/// value they have now. A tensor that is moved in is given away, `u = step(std::move(u))`: where
/// nobody else holds it and the kernels allow it, a result is written over it, else its memory is
/// free after the call; its handle has no value until it is assigned. A function that asserts
/// leaves it as it is. Called while something else is recorded, the function becomes part of that.
///
/// `fn` may take and give structs of tensors: aggregates, nested ones, vectors (vec3) and arrays.
/// Each takes as many specs as it has tensors, in order, and is given as one value:
///
///     struct State { Tensor u, v; vec3 wind; };
///     auto step = compile([](State s, Tensor dt) { return State{..}; },
///                         {f32(64, 64), f32(64, 64), f32(), f32(), f32(), f32()});
///     state = step(std::move(state), 0.1f);
template <size_t Arity, class Fn>
auto compile_arity(Fn fn, const std::vector<ArgSpec>& specs, SourceLine line) {
    Trace trace(specs, line);
    auto result = [&] {
        if constexpr (takes_tensors<Fn, Arity>())
            return call_with(fn, trace.arguments(), std::make_index_sequence<Arity>());
        else
            return call_with_structs(fn, trace.arguments(), ParametersOf<Fn>());
    }();
    std::vector<Tensor> flat;
    Results<decltype(result)>::take(result, flat);
    if constexpr (takes_tensors<Fn, Arity>()) {
        return Compiled<decltype(result), Arity>(trace.finish(flat));
    } else {
        static_assert(
            tensors_of(ParametersOf<Fn>()) == Arity,
            "the function's parameters hold another number of tensors than there are specs");
        return CompiledCall<decltype(result), ParametersOf<Fn>>(trace.finish(flat));
    }
}
template <class Fn, size_t Arity>
requires(!TakesAList<Fn>) auto compile(Fn fn, const ArgSpec (&specs)[Arity],
                                       SourceLine line = here()) {
    return compile_arity<Arity>(std::move(fn), {std::begin(specs), std::end(specs)}, line);
}
template <class Fn>
requires std::invocable<Fn&>
auto compile(Fn fn, SourceLine line = here()) { return compile_arity<0>(std::move(fn), {}, line); }

/// A compiled function over a list of tensors, for models whose number of parameters the program
/// decides.
template <class Layout>
class CompiledList : public Function {
  public:
    CompiledList() = default;
    explicit CompiledList(Function function) : Function(std::move(function)) {}

    typename Results<Layout>::Type operator()(const std::vector<Tensor>& args,
                                              SourceLine line = here()) const {
        std::vector<Arg> operands;
        for (const Tensor& arg : args) operands.emplace_back(arg, line);
        return give(operands);
    }
    /// Gives all of them away.
    typename Results<Layout>::Type operator()(std::vector<Tensor>&& args,
                                              SourceLine line = here()) const {
        std::vector<Arg> operands;
        for (Tensor& arg : args) operands.emplace_back(std::move(arg), line);
        return give(operands);
    }

  private:
    typename Results<Layout>::Type give(const std::vector<Arg>& operands) const {
        std::vector<Tensor> all = call(operands);
        size_t next = 0;
        return Results<Layout>::give(all, next);
    }
};
/// The same for a function that takes `const std::vector<Tensor>&`.
template <class Fn>
requires std::invocable < Fn&, const std::vector<Tensor>
& > auto compile(Fn fn, const std::vector<ArgSpec>& specs, SourceLine line = here()) {
    Trace trace(specs, line);
    auto result = fn(trace.arguments());
    std::vector<Tensor> flat;
    Results<decltype(result)>::take(result, flat);
    return CompiledList<decltype(result)>(trace.finish(flat));
}

/// The number of tensors that `Fn` takes.
template <class Fn, size_t Arity = 0>
constexpr size_t tensor_arity() {
    static_assert(Arity <= 64, "the function cannot be called with up to 64 Tensors");
    if constexpr ([]<size_t... K>(std::index_sequence<K...>) {
                      return std::invocable<Fn&, Repeated<K, Tensor>...>;
                  }(std::make_index_sequence<Arity>()))
        return Arity;
    else
        return tensor_arity<Fn, Arity + 1>();
}

/// The specs of arguments as they are given: type and shape. Sizes that only the device knows
/// become symbols.
std::vector<ArgSpec> specs_of(const std::vector<Arg>& args);
/// A jit's functions by the specs that they were compiled for: the kMostShapes used last.
class JitPrograms {
  public:
    static constexpr size_t kMostShapes = 64;
    JitPrograms();
    /// The function for these specs; made where there is none.
    SharedPtr<Function> get(const std::vector<ArgSpec>& specs, const Callback<Function()>& make);
    size_t size() const;

  private:
    struct State;
    SharedPtr<State> state_;
};
/// True while something is being recorded in the current session.
bool recording_now();

template <class Fn, class Parameters>
class JitCall;

/// See jit.
template <class Fn, class... P>
class JitCall<Fn, TypeList<P...>> {
  public:
    explicit JitCall(Fn fn) : fn_(std::move(fn)) {}

    auto operator()(const ArgumentOf<P>&... args) {
        using Layout = std::invoke_result_t<Fn&, P...>;
        std::vector<Arg> all;
        (add_arguments(args, all), ...);
        std::vector<Tensor> results;
        if (recording_now()) {
            std::vector<Tensor> given;
            for (const Arg& arg : all) given.push_back(Tensor::from_node(arg.node()));
            Results<Layout>::take(call_with_structs(fn_, given, TypeList<P...>()), results);
        } else {
            const std::vector<ArgSpec> specs = specs_of(all);
            const SourceLine line = all.empty() ? SourceLine{} : all[0].line();
            last_ = programs_.get(specs, [&] {
                return compile_arity<tensors_of(TypeList<P...>())>(fn_, specs, line);
            });
            results = last_->call(all);
        }
        size_t next = 0;
        return Results<Layout>::give(results, next);
    }
    // clang-format off
    template <class... A>
    requires(sizeof...(A) != sizeof...(P)) void operator()(const A&...) = delete;  // give as many arguments as the function takes
    // clang-format on

    /// The function compiled for the shapes of the most recent call; null before the first.
    const SharedPtr<Function>& last() const { return last_; }
    size_t shape_count() const { return programs_.size(); }

  private:
    Fn fn_;
    JitPrograms programs_;
    SharedPtr<Function> last_;
};

/// Compiles `fn` for the types and shapes that it is first called with, and again for new ones;
/// keeps the 64 that were used last.
template <class Fn>
auto jit(Fn fn) {
    if constexpr (TakesNumbers<Fn>)
        static_assert(tensors_of(ParametersOf<Fn>()) == 0);  // says which
    else if constexpr (TakesStructs<Fn>)
        return JitCall<Fn, ParametersOf<Fn>>(std::move(fn));
    else
        return JitCall<Fn, TensorParameters<tensor_arity<Fn>()>>(std::move(fn));
}

}  // namespace firn
