// The names of enumerators in the file of a saved program, in their order; internal.
#pragma once
#include <cstddef>
#include <iterator>

#include "compiler/program/saved_fields.h"

namespace firn::saved {

template <class E>
struct EnumNames;
template <>
struct EnumNames<DeviceClass> {
    static constexpr auto& kAll = kDeviceClassNames;
};
template <>
struct EnumNames<BindingForm> {
    static constexpr const char* kAll[] = {"storage", "view", "address"};
};
template <>
struct EnumNames<BufferRole> {
    static constexpr const char* kAll[] = {"argument", "result", "temporary", "constant"};
};
template <>
struct EnumNames<HostOp> {
    static constexpr const char* kAll[] = {"constant", "argument", "size", "neg", "abs",  "floor",
                                           "sqrt",     "rsqrt",    "rcp",  "exp", "exp2", "log",
                                           "log2",     "sin",      "cos",  "tan", "tanh", "add",
                                           "sub",      "mul",      "div",  "min", "max",  "pow"};
    static_assert(std::size(kAll) == static_cast<size_t>(HostOp::Pow) + 1);
};
template <>
struct EnumNames<ProgramParameter::Kind> {
    static constexpr const char* kAll[] = {"float",  "int",    "bool", "choice",
                                           "vector", "colour", "angle"};
    static_assert(std::size(kAll) == static_cast<size_t>(ProgramParameter::Kind::Angle) + 1);
};
template <class E>
concept NamedEnum = requires {
    EnumNames<E>::kAll;
};

// In the order of Step::step; a file has no calls.
constexpr const char* kStepNames[] = {"dispatch", "copy", "repeat", "call"};

template <class T, class Visitor>
concept SavedStruct = requires(T& x, Visitor& v) {
    fields(v, x);
};

}  // namespace firn::saved
