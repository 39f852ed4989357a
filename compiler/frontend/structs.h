// Structs of tensors as lists of tensors: what compiled functions take and give; internal.
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

/// How a value is laid out as tensors: a Tensor; a tuple, pair, array or vector of them; a struct
/// of what may be laid out. `take` adds its tensors, `give` makes it of the next ones.
template <class T>
struct Results {
    static_assert(!std::is_same_v<T, T>,
                  "a function that is compiled takes and gives tensors: Tensor, vec, mat, and "
                  "structs, tuples and arrays of them. Write a number as a Tensor of rank 0, whose "
                  "spec is f32() or i32(); what is fixed while recording is captured by [=]");
};

template <>
struct Results<Tensor> {
    using Type = Tensor;
    static constexpr size_t count = 1;
    static void take(const Tensor& from, std::vector<Tensor>& to) { to.push_back(from); }
    static Tensor give(const std::vector<Tensor>& all, size_t& next) { return all[next++]; }
};
template <>
struct Results<Access> : Results<Tensor> {};

template <class... T>
struct Results<std::tuple<T...>> {
    using Type = std::tuple<typename Results<T>::Type...>;
    static void take(const std::tuple<T...>& from, std::vector<Tensor>& to) {
        std::apply(
            [&](const auto&... each) {
                (Results<std::remove_cvref_t<decltype(each)>>::take(each, to), ...);
            },
            from);
    }
    static Type give(const std::vector<Tensor>& all, size_t& next) {
        return Type{Results<T>::give(all, next)...};  // braces: in order
    }
};
template <class A, class B>
struct Results<std::pair<A, B>> {
    using Type = std::pair<typename Results<A>::Type, typename Results<B>::Type>;
    static void take(const std::pair<A, B>& from, std::vector<Tensor>& to) {
        Results<A>::take(from.first, to);
        Results<B>::take(from.second, to);
    }
    static Type give(const std::vector<Tensor>& all, size_t& next) {
        return Type{Results<A>::give(all, next), Results<B>::give(all, next)};
    }
};
template <class T, size_t N>
struct Results<std::array<T, N>> {
    using Type = std::array<typename Results<T>::Type, N>;
    static constexpr size_t count = N * Results<T>::count;
    static void take(const std::array<T, N>& from, std::vector<Tensor>& to) {
        for (const T& each : from) Results<T>::take(each, to);
    }
    static Type give(const std::vector<Tensor>& all, size_t& next) {
        Type out;
        for (auto& each : out) each = Results<T>::give(all, next);
        return out;
    }
};
/// A vector takes every result that is left: it stands alone, or last.
template <>
struct Results<std::vector<Tensor>> {
    using Type = std::vector<Tensor>;
    static void take(const Type& from, std::vector<Tensor>& to) {
        to.insert(to.end(), from.begin(), from.end());
    }
    static Type give(const std::vector<Tensor>& all, size_t& next) {
        Type out(all.begin() + static_cast<long>(next), all.end());
        next = all.size();
        return out;
    }
};

template <Aggregate T>
struct Results<T> {
    using Type = T;
    static void take(const T& from, std::vector<Tensor>& to) {
        std::apply(
            [&](const auto&... each) {
                (Results<std::remove_cvref_t<decltype(each)>>::take(each, to), ...);
            },
            tie_members(from));
    }
    static T give(const std::vector<Tensor>& all, size_t& next) {
        T out{};
        std::apply(
            [&](auto&... each) {
                ((each = Results<std::remove_cvref_t<decltype(each)>>::give(all, next)), ...);
            },
            tie_members(out));
        return out;
    }
};

// --- parameters

/// The tensors that a value of type T has, by its members where it is a struct.
template <class T>
constexpr size_t tensor_count() {
    if constexpr (requires { Results<T>::count; })
        return Results<T>::count;
    else
        return []<class... M>(const std::tuple<M&...>*) {
            return (tensor_count<std::remove_cvref_t<M>>() + ...);
        }(static_cast<MembersOf<T>*>(nullptr));
}

template <class... T>
struct TypeList {};
template <class... P>
constexpr size_t tensors_of(TypeList<P...>) {
    return (tensor_count<P>() + ... + 0);
}

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

template <class... P>
constexpr bool has_struct(TypeList<P...>) {
    return (Aggregate<P> || ...);
}
/// Some parameter is a struct.
template <class Fn>
concept TakesStructs = requires {
    typename ParametersOf<Fn>;
}
&&has_struct(ParametersOf<Fn>());

/// Some parameter is a C++ number, which cannot be.
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

/// A struct as an argument: moved in, its tensors are given away.
template <class T>
class StructArgument {
  public:
    StructArgument(const T& x, SourceLine line = here()) {
        std::vector<Tensor> all;
        Results<T>::take(x, all);
        for (const Tensor& each : all) args_.emplace_back(each, line);
    }
    StructArgument(T&& x, SourceLine line = here()) { add(x, line); }

    const std::vector<Arg>& args() const { return args_; }

  private:
    template <class M>
    void add(M& member, SourceLine line) {
        if constexpr (std::is_same_v<M, Tensor>) {
            args_.emplace_back(std::move(member), line);
        } else if constexpr (Aggregate<M> && !requires { Results<M>::count; }) {
            std::apply([&](auto&... each) { (add(each, line), ...); }, tie_members(member));
        } else {
            std::vector<Tensor> all;
            Results<M>::take(member, all);
            for (const Tensor& each : all) args_.emplace_back(each, line);
        }
    }

    std::vector<Arg> args_;
};
template <class P>
using ArgumentOf = std::conditional_t<std::is_same_v<P, Tensor>, Arg, StructArgument<P>>;
inline void add_arguments(const Arg& arg, std::vector<Arg>& to) { to.push_back(arg); }
template <class T>
void add_arguments(const StructArgument<T>& arg, std::vector<Arg>& to) {
    to.insert(to.end(), arg.args().begin(), arg.args().end());
}

}  // namespace firn
