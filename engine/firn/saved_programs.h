// Saves compiled functions as files that run without the compiler, and as object files for programs
// in C; not part of firn/firn.h.
#pragma once
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "compiler/frontend/function.h"
#include "engine/firn/param.h"
#include "engine/firn/structural.h"

namespace firn {

/// @cond
namespace detail {

/// A parameter among the arguments of a call, and the first argument that it feeds.
struct SavedParam {
    Gui panel;
    std::string name;
    size_t first = 0, count = 1;
};

template <class T>
inline constexpr size_t kParamCount = 0;
template <class T>
inline constexpr size_t kParamCount<Param<T>> = static_cast<size_t>(ParamKind<T>::kCount);
/// A parameter that is called with the number of its value.
template <class T>
concept EnumParam = std::is_enum_v<typename T::Value> &&(kParamCount<T> != 0);

/// An argument of a call, which remembers that it is a parameter.
template <class P>
class SavedArgument {
  public:
    template <class A>
    requires(std::is_convertible_v<const A&, ArgumentOf<P>> || EnumParam<A>)
        SavedArgument(const A& x, SourceLine line = here())
        : argument_(argument(x, line)) {
        if constexpr (kParamCount<A> != 0)
            params_.push_back({x.panel(), x.name(), 0, kParamCount<A>});
    }
    void add_to(FlatArguments& all, std::vector<SavedParam>& params) const {
        for (const SavedParam& each : params_)
            params.push_back({each.panel, each.name, all.args.size(), each.count});
        add_arguments(argument_, all);
    }

  private:
    template <class A>
    static ArgumentOf<P> argument(const A& x, SourceLine line) {
        if constexpr (EnumParam<A>)
            return Arg(static_cast<int>(x.value()), line);
        else if constexpr (std::is_same_v<P, Tensor> && requires { Arg(x, line); })
            return Arg(x, line);
        else
            return x;
    }
    ArgumentOf<P> argument_;
    std::vector<SavedParam> params_;
};

void save_program(const std::string& path, const Function& function, const SaveOptions& options,
                  const std::vector<Arg>& args, const std::vector<SavedParam>& params);

}  // namespace detail
/// @endcond

/// The files of save_native, and how they are made.
struct NativeFiles {
    std::string object = {}, header = {};  // paths
    /// The processors that are to run it: x86-64, x86-64-v2, x86-64-v3 or x86-64-v4, or as FIRN_CPU
    /// calls them: sse2, sse4, avx2 or avx512; or aarch64+neon, also called aarch64 or neon: those
    /// of 64-bit ARM. Empty: that of this process.
    std::string processor = {};
    /// The name of the C function, with which all its other names begin; empty: that of the
    /// object's file without its ending.
    std::string name = {};
    /// The names of arguments and results in C, in their order. A name that is empty or missing is
    /// that of the Param, else `argument_0` or `result_0`.
    std::vector<std::string> arguments = {}, results = {};
};

/// @cond
namespace detail {

void save_native(const NativeFiles& files, const Function& function, const std::vector<Arg>& args,
                 const std::vector<SavedParam>& params);

}  // namespace detail
/// @endcond

/// Writes the program that a call of the function with these arguments would run to a file.
/// Programs that link firn_runtime alone can read and run it: see compiler/program/saved_program.h
/// for the file, and engine/parameters/program_parameters.h for its parameters.
///
/// - A Param among the arguments, one of an enum too, is a parameter in the file, with its present
/// value, its limits, unit, label, group and help. Presets know the program by the file's name
/// without its ending.
/// - Any other number is the default of its argument, for hosts that give none.
/// - Only the type and shape of a tensor count. The file has a program that serves all sizes that
///   the function declares as symbols, and one for the sizes of this call, which is faster there;
///   SaveOptions::sizes asks for others. Tensors that the function captured are in the file.
/// - The programs are for the session's device, and for Vulkan devices like a driver for the CPU if
///   that is the processor; SaveOptions::devices asks for others. Another device that has all that
///   the kernels use may run it. The host takes the one that fits by program_for
///   (compiler/program/make_call.h).
///
/// The function is not run. UserError if the function prints or asserts, if only the device knows a
/// size of an argument, and if the file cannot be written; an older file then stays as it was.
///
///     Param<float> dt{app, "dt", 0.1f, {.min = 0, .max = 0.5}};
///     save_program("wave.firn", step, u, v, dt);
///
/// Example: after
/// `auto scale = compile([](Tensor x, Tensor s) { return x * s; }, {f32("n"), f32()});`
/// `Gui panel; Param<float> size{panel, "size", 2.0f, {.min = 0, .max = 4}};`
/// `save_program("scale.firn", scale, ones({8}), size);`
/// `SavedProgram saved = read_program("scale.firn");` `saved.parameters[0].name` is `"size"`,
/// `saved.parameters[0].value[0]` is `2`.
template <class Layout, class... P>
void save_program(const std::string& path, const CompiledCall<Layout, TypeList<P...>>& function,
                  const std::type_identity_t<detail::SavedArgument<P>>&... args) {
    save_program(path, function, SaveOptions(), args...);
}
/// The same for these devices and sizes.
///
///     save_program("wave.firn", step, {.devices = {"vulkan", "x86-64-v3"},
///                                      .sizes = {{{"n", 256}, {"m", 256}}}}, u, v, dt);
template <class Layout, class... P>
void save_program(const std::string& path, const CompiledCall<Layout, TypeList<P...>>& function,
                  const SaveOptions& options,
                  const std::type_identity_t<detail::SavedArgument<P>>&... args) {
    FlatArguments all;
    std::vector<detail::SavedParam> params;
    (args.add_to(all, params), ...);
    detail::save_program(path, function, options, all.args, params);
}
/// The same for the present program of a function with structural parameters.
template <class Make, class Layout, class... P, class... T>
void save_program(const std::string& path,
                  const StructuralCall<Make, CompiledCall<Layout, TypeList<P...>>, T...>& function,
                  const std::type_identity_t<detail::SavedArgument<P>>&... args) {
    save_program(path, function.current(), args...);
}
/// The same for a function over a list, and for one that jit() has compiled (`*f.last()`): by its
/// tensors and numbers, one after the other.
inline void save_program(const std::string& path, const Function& function,
                         const std::vector<Arg>& args, const SaveOptions& options = {}) {
    detail::save_program(path, function, options, args, {});
}

/// Writes the program that a call of the function with these arguments would run as an object file,
/// and a header for it in C99 that C++ takes too. Programs that link the object, libc and libm can
/// call it; they need nothing of Firn, and no runtime of C++.
///
/// - The object serves all sizes that the function declares as symbols: they are members of the
///   struct that the C function takes, beside arrays for tensors and numbers for scalars. The
///   header says what each of them is.
/// - The program that calls gives the memory: arrays for the results, and a workspace.
/// - It may give threads too, by a function that runs parts of a loop; else all is done on the
///   thread that calls.
/// - Tensors that the function captured are in the object.
///
/// The function is not run. UserError if the function prints or asserts, if only the device knows a
/// size of an argument, if no name for C can be made of a name, if the processor is none of those,
/// if there is no LLVM, and if a file cannot be written.
///
///     save_native("wave.o", "wave.h", step, u, v, dt);
///     save_native({.object = "wave.o", .header = "wave.h", .processor = "x86-64-v3",
///                  .arguments = {"u", "v", "dt"}, .results = {"u_next", "v_next"}},
///                 step, u, v, dt);
///
/// Example: after
/// `auto twice = compile([](Tensor x) { return x + x; }, {f32("n")});`
/// `NativeFiles files{.object = "twice.o", .header = "twice.h", .processor = "z80"};`
/// `bool refused = false;`
/// `try { save_native(files, twice, ones({8})); } catch (const UserError&) { refused = true; }`
/// `refused` is `true`.
template <class Layout, class... P>
void save_native(const NativeFiles& files, const CompiledCall<Layout, TypeList<P...>>& function,
                 const std::type_identity_t<detail::SavedArgument<P>>&... args) {
    FlatArguments all;
    std::vector<detail::SavedParam> params;
    (args.add_to(all, params), ...);
    detail::save_native(files, function, all.args, params);
}
/// The same for the processor of this process, with all names by default.
template <class Layout, class... P>
void save_native(const std::string& object, const std::string& header,
                 const CompiledCall<Layout, TypeList<P...>>& function,
                 const std::type_identity_t<detail::SavedArgument<P>>&... args) {
    save_native(NativeFiles{.object = object, .header = header}, function, args...);
}
/// The same for the present program of a function with structural parameters.
template <class Make, class Layout, class... P, class... T>
void save_native(const NativeFiles& files,
                 const StructuralCall<Make, CompiledCall<Layout, TypeList<P...>>, T...>& function,
                 const std::type_identity_t<detail::SavedArgument<P>>&... args) {
    save_native(files, function.current(), args...);
}
/// The same for a function over a list, and for one that jit() has compiled (`*f.last()`): by its
/// tensors and numbers, one after the other.
inline void save_native(const NativeFiles& files, const Function& function,
                        const std::vector<Arg>& args) {
    detail::save_native(files, function, args, {});
}

}  // namespace firn
