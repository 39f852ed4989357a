// A user's program as plain data: statements over Tensor handles.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/program/dtype.h"

namespace firn::programs {

/// The size of one axis: a number, or a symbol.
struct Extent {
    int64_t number = 1;
    char symbol = 0;
    friend bool operator==(const Extent&, const Extent&) = default;
};
using Extents = std::vector<Extent>;
using Sizes = std::map<char, int64_t>;

/// Elementwise functions, and after them reductions.
enum class Fn : uint8_t {
    Neg,
    Abs,
    Sign,
    Floor,
    Not,
    BitNot,
    Gate,  // floor(sigmoid(x) + 0.5)
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Min,
    Max,
    And,
    Or,
    Xor,
    ShiftLeft,
    ShiftRight,
    Hypot,
    Less,
    LessEqual,
    Equal,
    NotEqual,
    Select,
    Sum,
    Prod,
    Smallest,
    Largest,
    Any,
    All,
    Argmin,  // along one axis, or of the whole
    Argmax
};

enum class Edge : uint8_t { Clamp, Wrap, Mirror, Reflect, Zero, Fill };

enum class Form : uint8_t {
    Literal,  // a C++ number: `dtype` is i32 (int), f32 (float) or bool
    Handle,   // the tensor `handle`
    Size,     // Tensor(extents[0])
    Index,    // index(extents, axis)
    Full,     // full(extents, number), of `dtype`
    Apply,    // fn(args)
    Cast,     // args[0].as(dtype)
    Read,     // args[0](args[1], ...) with `edge`
    Reduce,   // fn over `axes` (none: all)
    Reshape,  // to `extents`; one may be -1
    Expand,   // to `extents`
    Permute,  // by `axes`
    Flip,     // `axis`
    Slice,    // of `axis`: begin, end, step
    Roll,     // args[0] by args[1], along `axis` (-1: flattened)
    Concat,   // args along `axis`
    Stack,    // args along a new `axis`
    Fresh     // any(rand({8}) != rand({8})): two calls without a seed differ
};

struct Expr {
    Form form = Form::Literal;
    Fn fn = Fn::Add;
    Edge edge = Edge::Clamp;
    DType dtype = i32;
    double number = 0;  // of a Literal, of Full, and outside by Edge::Fill
    int handle = -1, axis = -1;
    bool keep_dims = false;
    std::array<int64_t, 3> range{0, 0, 1};
    std::vector<int> axes;
    Extents extents;
    std::vector<Expr> args;
};

enum class Kind : uint8_t {
    Declare,  // Tensor target = value;
    Assign,   // target = value;
    Swap,     // std::swap(target, other);
    Store,    // target(places...) = value, or a scatter
    If,       // if_(value, body, otherwise)
    Loop,     // for (Tensor target : loop(places...)) body
    While,    // while_(value, body, max_steps)
    Break,
    Continue,
    Kernel,  // kernel(shape of target, {.group = group}, [&](Tensor other, ...) { body;
             // target(other, ...) = value; })
    Realize  // realize(target): where nothing is recorded
};

/// Update is `x(i) += v`: a read, a sum and a store.
enum class Combine : uint8_t { Last, Update, Add, Mul, Min, Max, And, Or, Xor };

struct Statement {
    Kind kind = Kind::Assign;
    int target = -1, other = -1;
    Expr value;
    std::vector<Expr> places;
    Combine combine = Combine::Last;
    std::optional<int64_t> max_steps;
    std::vector<Statement> body, otherwise;
    std::vector<int> group;  // of a Kernel; its `rank` indices are the handles from `other` on
    int rank = 0;
};

/// Element k of an argument is numbers[k % count]; called again, the numbers begin further on.
struct Argument {
    DType dtype = i32;
    Extents extents;
    std::vector<double> numbers;
};

/// The handles 0, 1, .. are the arguments; every Declare and Loop has a number of its own.
struct Program {
    std::vector<Argument> arguments;
    std::vector<Statement> body;
    std::vector<int> outputs;
    Sizes sizes, sizes_again, sizes_third;  // of the calls
    bool endless = false;                   // a while_ in it never ends, which is an error
};

/// The program as C++ that a user could paste.
std::string text(const Program& program);

}  // namespace firn::programs
