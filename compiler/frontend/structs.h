// Structs of tensors as lists of tensors, for arguments and results of compiled functions;
// internal.
#pragma once
#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "compiler/frontend/tensor.h"

namespace firn {

// --- members of an aggregate

/// Stands for a member of any type while members are counted.
struct AnyMember {
    template <class T>
    operator T() const;
};
template <class T, size_t... K>
constexpr bool takes_members(std::index_sequence<K...>) {
    return requires { T{(static_cast<void>(K), AnyMember())...}; };
}
inline constexpr size_t kMostMembers = 16;
template <class T, size_t Count = kMostMembers>
constexpr size_t members() {
    if constexpr (Count == 0 || takes_members<T>(std::make_index_sequence<Count>()))
        return Count;
    else
        return members<T, Count - 1>();
}
template <class T>
inline constexpr size_t kMembers = members<T>();

/// A struct without constructors, bases and private members.
template <class T>
concept Aggregate = std::is_aggregate_v<T> && std::is_class_v<T> && !std::is_empty_v<T>;

/// References to every member, in order.
template <class T>
auto tie_members(T& x) {
    constexpr size_t count = kMembers<std::remove_const_t<T>>;
    static_assert(count >= 1, "a struct of tensors has one to 16 members; nest others in structs");
// clang-format off
#define FIRN_TIE(so_many, ...) \
    if constexpr (count == so_many) { auto& [__VA_ARGS__] = x; return std::tie(__VA_ARGS__); }
    FIRN_TIE(1, m0)
    FIRN_TIE(2, m0, m1)
    FIRN_TIE(3, m0, m1, m2)
    FIRN_TIE(4, m0, m1, m2, m3)
    FIRN_TIE(5, m0, m1, m2, m3, m4)
    FIRN_TIE(6, m0, m1, m2, m3, m4, m5)
    FIRN_TIE(7, m0, m1, m2, m3, m4, m5, m6)
    FIRN_TIE(8, m0, m1, m2, m3, m4, m5, m6, m7)
    FIRN_TIE(9, m0, m1, m2, m3, m4, m5, m6, m7, m8)
    FIRN_TIE(10, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9)
    FIRN_TIE(11, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10)
    FIRN_TIE(12, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11)
    FIRN_TIE(13, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12)
    FIRN_TIE(14, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13)
    FIRN_TIE(15, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14)
    FIRN_TIE(16, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15)
#undef FIRN_TIE
    // clang-format on
}
template <class T>
using MembersOf = decltype(tie_members(std::declval<T&>()));

// --- lists of tensors

/// The tensors of a value in order, and the lengths of its vectors, which its type does not say.
struct FlatValue {
    std::vector<Tensor> tensors;
    std::vector<size_t> lengths;
};
/// Reads them in order while a value is made of them.
struct FlatReader {
    const std::vector<Tensor>& tensors;
    const std::vector<size_t>& lengths;
    size_t next = 0, next_length = 0;

    const Tensor& tensor() { return tensors[next++]; }
    size_t length() { return lengths[next_length++]; }
};

/// The layout of a value as tensors. A value is a Tensor; a vec or mat; a tuple, pair, array or
/// vector of values with a layout; or a struct of such. `take` adds its tensors, `give` makes it of
/// the next ones. Outside of vectors it has `count` tensors; it has `vectors` vectors, and all
/// their elements together would be `each` tensors if they had one element each.
template <class T>
struct Results {
    static constexpr bool unknown = true;
    static constexpr size_t count = 0, vectors = 0, each = 0;
};
template <class T>
concept LaidOut = !requires {
    Results<std::remove_cvref_t<T>>::unknown;
};
/// Fails to compile, with advice, for a type without a layout, once for each function type `For`.
template <class T, class For = void>
constexpr bool check_laid_out() {
    static_assert(LaidOut<T>,
                  "a function that is compiled takes and gives tensors: Tensor, vec, mat, and "
                  "structs, tuples, arrays and vectors of them. Write a number as a Tensor of rank "
                  "0, whose spec is f32() or i32(); what is fixed while recording is captured by "
                  "[=]");
    return LaidOut<T>;
}
/// Adds the tensors of any value.
template <class T>
void take_flat(const T& from, FlatValue& to) {
    if constexpr (check_laid_out<T>()) Results<T>::take(from, to);
}
template <class T>
FlatValue flat_value(const T& from) {
    FlatValue out;
    take_flat(from, out);
    return out;
}
/// A value of type T of these tensors.
template <class T>
typename Results<T>::Type from_flat(const std::vector<Tensor>& tensors,
                                    const std::vector<size_t>& lengths) {
    FlatReader reader{tensors, lengths};
    return Results<T>::give(reader);
}

template <>
struct Results<Tensor> {
    using Type = Tensor;
    static constexpr size_t count = 1, vectors = 0, each = 0;
    static void take(const Tensor& from, FlatValue& to) { to.tensors.push_back(from); }
    static Tensor give(FlatReader& from) { return from.tensor(); }
};
template <>
struct Results<Access> : Results<Tensor> {};

/// Several values, one after the other.
template <class... T>
struct ResultsOfAll {
    static constexpr size_t count = (Results<T>::count + ... + 0);
    static constexpr size_t vectors = (Results<T>::vectors + ... + 0);
    static constexpr size_t each = (Results<T>::each + ... + 0);
    static void take(FlatValue& to, const T&... from) { (take_flat(from, to), ...); }
};
template <class... T>
struct Results<std::tuple<T...>> : ResultsOfAll<T...> {
    using Type = std::tuple<typename Results<T>::Type...>;
    static void take(const std::tuple<T...>& from, FlatValue& to) {
        std::apply([&](const T&... all) { ResultsOfAll<T...>::take(to, all...); }, from);
    }
    static Type give(FlatReader& from) {
        return Type{Results<T>::give(from)...};  // braces: in order
    }
};
template <class A, class B>
struct Results<std::pair<A, B>> : ResultsOfAll<A, B> {
    using Type = std::pair<typename Results<A>::Type, typename Results<B>::Type>;
    static void take(const std::pair<A, B>& from, FlatValue& to) {
        ResultsOfAll<A, B>::take(to, from.first, from.second);
    }
    static Type give(FlatReader& from) {
        return Type{Results<A>::give(from), Results<B>::give(from)};
    }
};
template <class T, size_t N>
struct Results<std::array<T, N>> {
    using Type = std::array<typename Results<T>::Type, N>;
    static constexpr size_t count = N * Results<T>::count, vectors = N * Results<T>::vectors;
    static constexpr size_t each = N * Results<T>::each;
    static void take(const std::array<T, N>& from, FlatValue& to) {
        for (const T& element : from) take_flat(element, to);
    }
    static Type give(FlatReader& from) {
        Type out;
        for (auto& element : out) element = Results<T>::give(from);
        return out;
    }
};
template <class T>
struct Results<std::vector<T>> {
    using Type = std::vector<typename Results<T>::Type>;
    // The number of vectors in its elements is unknown: more than one.
    static constexpr size_t count = 0, vectors = 1 + Results<T>::vectors;
    static constexpr size_t each = Results<T>::count;
    static void take(const std::vector<T>& from, FlatValue& to) {
        to.lengths.push_back(from.size());
        for (const T& element : from) take_flat(element, to);
    }
    static Type give(FlatReader& from) {
        Type out;
        for (size_t left = from.length(); left; --left) out.push_back(Results<T>::give(from));
        return out;
    }
};

template <class Members>
struct ResultsOfMembers;
template <class... M>
struct ResultsOfMembers<std::tuple<M&...>> : ResultsOfAll<std::remove_cvref_t<M>...> {};
template <Aggregate T>
struct Results<T> : ResultsOfMembers<MembersOf<T>> {
    using Type = T;
    static void take(const T& from, FlatValue& to) {
        std::apply([&](const auto&... all) { (take_flat(all, to), ...); }, tie_members(from));
    }
    static T give(FlatReader& from) {
        T out{};
        std::apply(
            [&](auto&... all) {
                ((all = Results<std::remove_cvref_t<decltype(all)>>::give(from)), ...);
            },
            tie_members(out));
        return out;
    }
};

// --- parameters

template <class... T>
struct TypeList {};
template <class List>
struct ResultsOfList;
template <class... P>
struct ResultsOfList<TypeList<P...>> : ResultsOfAll<P...> {};

template <class Call>
struct ParametersOfCall;
template <class R, class... P>
struct ParametersOfCall<R (*)(P...)> {
    using Types = TypeList<std::remove_cvref_t<P>...>;
};
template <class R, class C, class... P>
struct ParametersOfCall<R (C::*)(P...)> : ParametersOfCall<R (*)(P...)> {};
template <class R, class C, class... P>
struct ParametersOfCall<R (C::*)(P...) const> : ParametersOfCall<R (*)(P...)> {};
template <class Fn>
requires requires { &Fn::operator(); }
struct ParametersOfCall<Fn> : ParametersOfCall<decltype(&Fn::operator())> {};
/// The types of a function's parameters, without references; not of a generic lambda.
template <class Fn>
using ParametersOf = typename ParametersOfCall<Fn>::Types;

template <class Fn, class... P>
constexpr bool check_parameters(TypeList<P...>) {
    return (check_laid_out<P, Fn>() && ...);
}
/// All parameters are tensors, or values made of them.
template <class... P>
constexpr bool are_laid_out(TypeList<P...>) {
    return (LaidOut<P> && ...);
}
template <class Fn>
concept TakesLaidOut = requires {
    typename ParametersOf<Fn>;
}
&&are_laid_out(ParametersOf<Fn>());

/// Some parameter is a C++ number, which is not allowed.
template <class Fn>
concept TakesNumbers = requires {
    typename ParametersOf<Fn>;
}
&&[]<class... P>(TypeList<P...>) { return (Arithmetic<P> || ...); }(ParametersOf<Fn>());

/// The only parameter is a list of tensors.
template <class Fn>
concept TakesAList = requires {
    typename ParametersOf<Fn>;
}
&&std::is_same_v<ParametersOf<Fn>, TypeList<std::vector<Tensor>>>;

/// `Fn` can be called with such parameters: with fewer than it has, where the others have defaults.
template <class Fn, class... P>
constexpr bool takes(TypeList<P...>) {
    return std::invocable<Fn&, P...>;
}
template <class... P, size_t... K>
auto first_types(TypeList<P...>, std::index_sequence<K...>)
    -> TypeList<std::tuple_element_t<K, std::tuple<P...>>...>;
template <class List, size_t Count>
using FirstTypes = decltype(first_types(List(), std::make_index_sequence<Count>()));
template <class... P>
constexpr size_t type_count(TypeList<P...>) {
    return sizeof...(P);
}
/// Returns how many of its parameters must be given.
template <class Fn, class List, size_t Count = 0>
constexpr size_t least_arguments() {
    if constexpr (Count == type_count(List()) || takes<Fn>(FirstTypes<List, Count>()))
        return Count;
    else
        return least_arguments<Fn, List, Count + 1>();
}
/// Returns whether such parameters can hold so many tensors. The length of one vector follows from
/// the others.
template <class List>
constexpr bool holds(size_t tensors) {
    using All = ResultsOfList<List>;
    if (All::vectors == 0) return tensors == All::count;
    return All::vectors == 1 && All::each > 0 && tensors >= All::count &&
           (tensors - All::count) % All::each == 0;
}
/// The lengths of the vectors of such parameters that hold so many tensors.
template <class List>
std::vector<size_t> lengths_for(size_t tensors) {
    using All = ResultsOfList<List>;
    if constexpr (All::vectors == 0)
        return {};
    else
        return {(tensors - All::count) / All::each};
}

/// A value as an argument: moved in, its tensors are donated.
template <class T>
class StructArgument {
  public:
    StructArgument(const T& x, SourceLine line = here()) {
        FlatValue all = flat_value(x);
        lengths_ = std::move(all.lengths);
        for (const Tensor& each : all.tensors) args_.emplace_back(each, line);
    }
    StructArgument(T&& x, SourceLine line = here()) { add(x, line); }

    const std::vector<Arg>& args() const { return args_; }
    const std::vector<size_t>& lengths() const { return lengths_; }

  private:
    void add(Tensor& x, SourceLine line) { args_.emplace_back(std::move(x), line); }
    template <class M>
    void add(std::vector<M>& x, SourceLine line) {
        lengths_.push_back(x.size());
        for (M& each : x) add(each, line);
    }
    template <class M, size_t N>
    void add(std::array<M, N>& x, SourceLine line) {
        for (M& each : x) add(each, line);
    }
    template <class M>
    void add(M& x, SourceLine line) {
        if constexpr (Aggregate<M>) {
            std::apply([&](auto&... all) { (add(all, line), ...); }, tie_members(x));
        } else {
            StructArgument<M> copied(std::as_const(x), line);
            args_.insert(args_.end(), copied.args().begin(), copied.args().end());
            lengths_.insert(lengths_.end(), copied.lengths().begin(), copied.lengths().end());
        }
    }

    std::vector<Arg> args_;
    std::vector<size_t> lengths_;
};
template <class P>
using ArgumentOf = std::conditional_t<std::is_same_v<P, Tensor>, Arg, StructArgument<P>>;

/// The tensors of several arguments, and the lengths of their vectors.
struct FlatArguments {
    std::vector<Arg> args;
    std::vector<size_t> lengths;
};
inline void add_arguments(const Arg& arg, FlatArguments& to) { to.args.push_back(arg); }
template <class T>
void add_arguments(const StructArgument<T>& arg, FlatArguments& to) {
    to.args.insert(to.args.end(), arg.args().begin(), arg.args().end());
    to.lengths.insert(to.lengths.end(), arg.lengths().begin(), arg.lengths().end());
}

}  // namespace firn
