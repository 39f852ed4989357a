// compile and jit: C++ functions over tensors as compiled programs.
#pragma once
#include <array>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "compiler/frontend/save_options.h"
#include "compiler/frontend/structs.h"
#include "compiler/frontend/tensor.h"
#include "compiler/frontend/tune.h"
#include "compiler/program/program_stats.h"

namespace firn {

struct DeviceProfile;
struct FunctionState;
struct Graph;
struct Program;
struct SavedProgram;

/// A compiled function over flat lists of tensors; copies share its programs. One program is
/// compiled for each kind of call, by the divisors of the sizes (4, 16, 64), their magnitudes
/// (powers of 4), the trip counts that integer arguments allow (powers of 16), and the scalars that
/// are tensors on the device. The first call compiles the program that fits it. Then one that
/// assumes nothing of the sizes is compiled in the background: it serves calls with other sizes at
/// once, until the program that fits them is compiled there too. Results of two such programs may
/// differ by rounding, as those of two schedules. See Session::compile_in_background.
class Function {
  public:
    /// An empty function, for a member that is assigned later; calling it is a UserError.
    Function() = default;
    /// Runs it with one operand for each declared argument, and gives all results; while something
    /// is recorded it becomes part of that. UserError where a type, rank or size does not fit,
    /// where a number is one that the declared type cannot hold, and in another session.
    std::vector<Tensor> call(const std::vector<Arg>& args) const;

    /// The program of the most recent call; before the first, the one that assumes nothing of its
    /// sizes.
    SharedPtr<const Program> program() const;
    /// Returns the work of that program at the sizes of the most recent call.
    ProgramStats stats() const;
    /// Returns every value's verdict with its reason and the costs that competed, and every kernel
    /// with its work and predicted time at the sizes of the most recent call.
    std::string explain() const;
    /// Does the same for a call with these arguments, which is run (twice: drivers compile at the
    /// first run), with the time of each kernel. No argument is donated.
    std::string explain(const std::vector<Arg>& args) const;
    /// Kernel code of one kernel of the most recent call's program, by the beginning of its name
    /// (`k0`), as a pass left it: `lower`, `place`, `map` and the others of mapping/pipeline.cpp;
    /// without one, after each. UserError that lists the kernels or passes if there is no such one.
    std::string explain_kernel(const std::string& kernel, const std::string& pass = "") const;
    /// Searches a faster program for a call with these arguments, by running it: first other cuts
    /// of the whole program, then other mappings of each kernel, slowest first, as long as
    /// `options.seconds` allow. Drops variants whose results differ by more than rounding error.
    /// The fastest are used from now on by this function, and by every program compiled later in
    /// this session or with the same caches that is equal or has an equal kernel. No argument is
    /// donated. UserError if the session runs no kernels (the oracle), or while a function is
    /// recorded.
    TuneReport tune(const std::vector<Arg>& args, const TuneOptions& options = {}) const;
    /// Returns whether the program for a call with these arguments is compiled. If not, its
    /// compilation starts in the background. Also true if it cannot be compiled, in which case the
    /// call throws, and if nothing is compiled in the background (Session). No argument is donated.
    bool is_ready(const std::vector<Arg>& args) const;
    /// Waits until everything that is being compiled in the background of the session is ready.
    /// Calls with sizes that were seen before then run the programs that fit them.
    void finish_compiling() const;
    /// Returns the program that save_program (firn/saved_programs.h) writes for a call with these
    /// arguments, without parameters, and its variants for the devices and sizes of the options.
    /// Captured tensors are constants with their values. Runs nothing.
    /// UserError if the function prints or asserts, if only the device knows a size of an argument,
    /// and if the options name an unknown device, or a symbol that the function does not declare.
    SavedProgram saved(const std::vector<Arg>& args, const SaveOptions& options = {}) const;
    /// Returns the same program for the device of this profile, with its kernels as texts alone:
    /// what save_native (firn/saved_programs.h) makes an object file of.
    SavedProgram saved_as_texts(const std::vector<Arg>& args, const DeviceProfile& profile) const;
    /// Returns the lengths of the vectors among the results.
    const std::vector<size_t>& result_lengths() const;
    /// Returns the recorded graph: the declared arguments first, then the captured tensors.
    const Graph& graph() const;
    /// Programs that are kept, 64 at most.
    size_t variant_count() const;

  protected:
    /// @cond

    explicit Function(SharedPtr<FunctionState> state) : state_(std::move(state)) {}

    /// @endcond

  private:
    friend class Trace;
    /// UserError where there is none yet.
    FunctionState& state() const;
    SharedPtr<FunctionState> state_;
};

/// @cond

/// Records one function: its arguments are there from the start, finish takes its results. Without
/// finish, everything recorded is dropped.
class Trace {
  public:
    Trace(const std::vector<ArgSpec>& specs, SourceLine line);
    ~Trace();
    Trace(const Trace&) = delete;
    Trace& operator=(const Trace&) = delete;

    const std::vector<Tensor>& arguments() const { return arguments_; }
    Function finish(const FlatValue& results);

  private:
    SharedPtr<FunctionState> state_;
    std::vector<Tensor> arguments_;
    uint64_t scope_ = 0;
};

template <size_t, class T>
using Repeated = T;

/// @endcond

template <class Layout, class Parameters>
class CompiledCall;

/// A compiled function with its C++ signature: takes tensors, structs of them, and C++ numbers for
/// rank-0 arguments.
template <class Layout, class... P>
class CompiledCall<Layout, TypeList<P...>> : public Function {
  public:
    /// An empty function, for a member that is assigned later.
    CompiledCall() = default;
    /// A function whose arguments and results are those of the signature.
    explicit CompiledCall(Function function) : Function(std::move(function)) {}

    /// Runs it, see Function::call; returns the C++ function's result type, with its tensors
    /// computed.
    typename Results<Layout>::Type operator()(const ArgumentOf<P>&... args) const {
        FlatArguments all;
        (add_arguments(args, all), ...);
        return from_flat<Layout>(call(all.args), result_lengths());
    }
    /// See Function::is_ready.
    bool ready(const ArgumentOf<P>&... args) const {
        FlatArguments all;
        (add_arguments(args, all), ...);
        return is_ready(all.args);
    }
    // clang-format off
    template <class... A>
    requires(sizeof...(A) != sizeof...(P)) void operator()(const A&...) const = delete;  // give as many arguments as the function takes
    // clang-format on
};

/// @cond

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

/// @endcond

/// The result type of compile, for members: `Compiled<State(State, Tensor)> step;` by the
/// function's signature, or `Compiled<Tensor, 3>` by its result and its number of tensors.
///
/// Example: after `Compiled<Tensor(Tensor, Tensor)> add;`
/// `add = compile([](Tensor a, Tensor b) { return a + b; }, {f32("n"), f32("n")});`
/// `add(ones({2}), ones({2}))` is `{2, 2}`.
template <class Signature, size_t... Arity>
using Compiled = typename CompiledType<Signature, Arity...>::Type;

/// @cond

template <class Fn, class... P>
auto call_with_values(Fn& fn, const std::vector<Tensor>& args, const std::vector<size_t>& lengths,
                      TypeList<P...>) {
    [[maybe_unused]] FlatReader reader{args, lengths};
    std::tuple<P...> made{Results<P>::give(reader)...};  // braces: in order
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

template <class Parameters, class Fn>
auto compile_parameters(Fn fn, const std::vector<ArgSpec>& specs,
                        const std::vector<size_t>& lengths, SourceLine line) {
    Trace trace(specs, line);
    auto result = call_with_values(fn, trace.arguments(), lengths, Parameters());
    return CompiledCall<decltype(result), Parameters>(trace.finish(flat_value(result)));
}
/// The parameters, of all that `Fn` has the first ones, that hold so many tensors.
template <class Fn, size_t Arity, size_t Count>
constexpr auto parameters_for() {
    using All = ParametersOf<Fn>;
    static_assert(Count <= type_count(All()),
                  "the function's parameters hold another number of tensors than there are specs");
    if constexpr (Count > type_count(All()))
        return TypeList<>();
    else if constexpr (holds<FirstTypes<All, Count>>(Arity))
        return FirstTypes<All, Count>();
    else
        return parameters_for<Fn, Arity, Count + 1>();
}
/// So many tensors where `Fn` takes them, else its own first parameters that hold so many.
template <class Fn, size_t Arity>
constexpr auto parameters_of_call() {
    if constexpr (takes_tensors<Fn, Arity>())
        return TensorParameters<Arity>();
    else if constexpr (check_parameters<Fn>(ParametersOf<Fn>()))
        return parameters_for<Fn, Arity, least_arguments<Fn, ParametersOf<Fn>>()>();
    else
        return TypeList<>();
}
template <class Fn, size_t Arity>
using ParametersOfSpecs = decltype(parameters_of_call<Fn, Arity>());
/// Compiles a function of so many specs.
template <size_t Arity, class Fn>
auto compile_arity(Fn fn, const std::vector<ArgSpec>& specs, SourceLine line) {
    using Parameters = ParametersOfSpecs<Fn, Arity>;
    return compile_parameters<Parameters>(std::move(fn), specs, lengths_for<Parameters>(Arity),
                                          line);
}

/// @endcond

/// Records `fn` once with arguments of the given types and shapes, and compiles it when it is
/// called. Sizes may be symbols: `f32("n", "m")`; one that appears twice must be equal at the call.
/// Rank-0 arguments take C++ numbers without compiling again. Tensors captured by `fn` keep the
/// value they have now. A tensor that is moved in is donated, `u = step(std::move(u))`: if no other
/// handle shares it and the kernels allow it, a result is written over it, else its memory is freed
/// after the call; its handle has no value until it is assigned. A function that asserts leaves
/// that memory unchanged. A call while another function is recorded becomes part of that function.
///
/// `fn` may take and return values made of tensors: vec and mat, arrays, std::vector, and structs
/// of such, nested ones too. Each takes as many specs as it has tensors, in order, and is passed as
/// one value; the number of specs gives the length of one std::vector, several need jit().
/// Parameters with defaults may be left out together with their specs:
///
///     struct State { Tensor u, v; vec3 wind; };
///     auto step = compile([](State s, Tensor dt) { return State{..}; },
///                         {f32(64, 64), f32(64, 64), f32(), f32(), f32(), f32()});
///     state = step(std::move(state), 0.1f);
///
/// Examples: after
/// `auto step = compile([](Tensor x, Tensor dt) { return x + dt * x; }, {f32("n"), f32()});`
/// `step(tensor({1.0f, 2.0f}), 0.5f)` is `{1.5, 3}`, and with another size `step(ones({3}), 1)` is
/// `{2, 2, 2}`; a struct, after `struct Body { Tensor place, speed; };`
/// `auto moved = [](Body b) { return Body{b.place + b.speed, b.speed}; };`
/// `auto move = compile(moved, {f32("n"), f32("n")});`
/// `Body b{zeros({2}), ones({2})}; b = move(b);` `b.place` is `{1, 1}`.
template <class Fn, size_t Arity>
requires(!TakesAList<Fn>) auto compile(Fn fn, const ArgSpec (&specs)[Arity],
                                       SourceLine line = here()) {
    return compile_arity<Arity>(std::move(fn), {std::begin(specs), std::end(specs)}, line);
}
/// The same for a function without arguments, which computes anew in every call.
///
/// Example: `compile([] { return arange(3) * 2; })()` is `{0, 2, 4}`.
template <class Fn>
requires std::invocable<Fn&>
auto compile(Fn fn, SourceLine line = here()) { return compile_arity<0>(std::move(fn), {}, line); }

/// A compiled function over a list of tensors, for models whose number of parameters is known at
/// run time.
template <class Layout>
class CompiledList : public Function {
  public:
    /// An empty function, for a member that is assigned later.
    CompiledList() = default;
    /// A function whose results are those of the layout.
    explicit CompiledList(Function function) : Function(std::move(function)) {}

    /// Runs it, see Function::call, with a tensor for each declared argument.
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
        return from_flat<Layout>(call(operands), result_lengths());
    }
};
/// The same for a function that takes `const std::vector<Tensor>&`.
///
/// Example: after `auto sum = [](const std::vector<Tensor>& x) { return x[0] + x[1]; };`
/// `auto add = compile(sum, std::vector<ArgSpec>(2, f32("n")));` `add({ones({2}), ones({2})})` is
/// `{2, 2}`.
template <class Fn>
requires std::invocable < Fn&, const std::vector<Tensor>
& > auto compile(Fn fn, const std::vector<ArgSpec>& specs, SourceLine line = here()) {
    Trace trace(specs, line);
    auto result = fn(trace.arguments());
    return CompiledList<decltype(result)>(trace.finish(flat_value(result)));
}

/// @cond

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
    /// The function for these specs and lengths of vectors; made where there is none.
    SharedPtr<Function> get(const std::vector<ArgSpec>& specs, const std::vector<size_t>& lengths,
                            const Callback<Function()>& make);
    size_t size() const;

  private:
    struct State;
    SharedPtr<State> state_;
};
/// True while something is being recorded in the current session.
bool recording_now();

/// A call of `Jit` with such arguments.
template <class Jit, class Parameters>
class JitCall;
template <class Jit, class... P>
class JitCall<Jit, TypeList<P...>> {
  public:
    /// Runs it, see Function::call; while something is recorded, the C++ function itself.
    auto operator()(const ArgumentOf<P>&... args) {
        FlatArguments all;
        (add_arguments(args, all), ...);
        return static_cast<Jit*>(this)->template run<P...>(all);
    }
};

/// @endcond

/// A function that is compiled when it is called, as jit() gives it, with any of the lists of
/// parameters; copies share the programs.
template <class Fn, class... Lists>
class Jit : public JitCall<Jit<Fn, Lists...>, Lists>... {
  public:
    /// See jit().
    explicit Jit(Fn fn) : fn_(std::move(fn)) {}
    using JitCall<Jit, Lists>::operator()...;
    // clang-format off
    template <class... A>
    requires((sizeof...(A) != type_count(Lists())) && ...) void operator()(const A&...) = delete;  // give as many arguments as the function takes
    // clang-format on

    /// The function compiled for the shapes of the most recent call; null before the first.
    const SharedPtr<Function>& last() const { return last_; }
    /// Functions that are kept, one for each list of types and shapes.
    size_t shape_count() const { return programs_.size(); }

  private:
    template <class, class>
    friend class JitCall;
    template <class... P>
    auto run(const FlatArguments& all) {
        using Layout = std::invoke_result_t<Fn&, P...>;
        using Given = TypeList<P...>;
        if (recording_now()) {
            std::vector<Tensor> given;
            for (const Arg& arg : all.args) given.push_back(Tensor::from_node(arg.node()));
            const FlatValue out = flat_value(call_with_values(fn_, given, all.lengths, Given()));
            return from_flat<Layout>(out.tensors, out.lengths);
        }
        const std::vector<ArgSpec> specs = specs_of(all.args);
        const SourceLine line = all.args.empty() ? SourceLine{} : all.args[0].line();
        last_ = programs_.get(specs, all.lengths, [&]() -> Function {
            return compile_parameters<Given>(fn_, specs, all.lengths, line);
        });
        return from_flat<Layout>(last_->call(all.args), last_->result_lengths());
    }

    Fn fn_;
    JitPrograms programs_;
    SharedPtr<Function> last_;
};
/// @cond
template <class Fn, class All, size_t Least, size_t... More>
auto jit_with(Fn fn, All, std::index_sequence<More...>) {
    return Jit<Fn, FirstTypes<All, Least + More>...>(std::move(fn));
}
/// @endcond

/// Compiles `fn` for the types and shapes that it is first called with, and again for new ones;
/// keeps the 64 that were used last. Parameters with defaults may be left out.
///
/// Example: after `auto twice = jit([](Tensor x) { return x + x; });` `twice(tensor({1, 2}))` is
/// `{2, 4}`, `twice(tensor({0.5f}))` is `{1}`, `twice.shape_count()` is `2`.
template <class Fn>
auto jit(Fn fn) {
    if constexpr (TakesLaidOut<Fn>) {
        using All = ParametersOf<Fn>;
        constexpr size_t least = least_arguments<Fn, All>();
        return jit_with<Fn, All, least>(std::move(fn), All(),
                                        std::make_index_sequence<type_count(All()) - least + 1>());
    } else if constexpr (TakesNumbers<Fn>) {
        check_parameters<Fn>(ParametersOf<Fn>());  // says which
    } else {
        return Jit<Fn, TensorParameters<tensor_arity<Fn>()>>(std::move(fn));
    }
}

}  // namespace firn
