// Random numbers by counter: element k of a stream is a function of seed, stream and k alone, the
// same on every device and in every order of execution.
#pragma once
#include <optional>

#include "compiler/frontend/tensor.h"

namespace firn {

/// Chooses the random numbers. With a seed or a stream (the other is 0 then) every call gives the
/// same numbers. With neither, a call takes the next stream of its session, in the order of the
/// calls: two calls differ, and a program that runs again gets the same.
///
/// A call counts once, when it is recorded. So a compiled function without seeds gives the same
/// numbers in every call: give it a seed or a stream as an argument. In `loop` and `while_` every
/// iteration has numbers of its own if neither is given; otherwise make the stream depend on the
/// loop's index, `{.seed = 1, .stream = step}`.
///
/// Both are integers, or rank-0 integer tensors, and change from call to call without a new
/// program: as arguments of a compiled function, or as C++ numbers in lazy evaluation. 64-bit seeds
/// keep all their bits.
///
/// Examples: `all(rand({4}, {.seed = 7}) == rand({4}, {.seed = 7}))` is `true`,
/// `any(rand({4}, {.seed = 7}) == rand({4}, {.seed = 7, .stream = 1}))` is `false`,
/// `any(rand({4}) == rand({4}))` is `false`.
struct RandomOptions {
    std::optional<Tensor> seed = std::nullopt;
    /// The numbers of two streams with one seed are independent.
    std::optional<Tensor> stream = std::nullopt;
};

/// Philox4x32-10: four random u32 for every element of a 128-bit counter under a 64-bit key; words
/// are u32 and broadcast. J. Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", 2011.
///
/// Example: `philox({0u, 0u, 0u, 0u}, {0u, 0u})[0]` is `1713891541`.
std::array<Tensor, 4> philox(const std::array<Tensor, 4>& counter, const std::array<Tensor, 2>& key,
                             SourceLine line = here());

/// 32 random bits an element, u32. A tensor of more than 2^32 elements repeats itself.
///
/// Examples: `random_bits({2, 3}).shape()` is `[2, 3]`, `random_bits({2, 3}).dtype().name()` is
/// `"u32"`.
Tensor random_bits(const Shape& shape, const RandomOptions& options = {}, SourceLine line = here());
/// Uniform in [0, 1), multiples of 2^-24, f32.
///
/// Examples: `rand({2, 3}).shape()` is `[2, 3]`; after `Tensor x = rand({1000}, {.seed = 1});`
/// `all((x >= 0) & (x < 1))` is `true`, `abs(mean(x) - 0.5f) < 0.05f` is `true`.
Tensor rand(const Shape& shape, const RandomOptions& options = {}, SourceLine line = here());
/// Normal with mean 0 and deviation 1, f32, by Box and Muller; at most 5.8 from 0.
///
/// Examples: `randn({2, 3}).shape()` is `[2, 3]`; after `Tensor x = randn({1000}, {.seed = 1});`
/// `abs(mean(x)) < 0.2f` is `true`, `abs(stddev(x) - 1) < 0.2f` is `true`.
Tensor randn(const Shape& shape, const RandomOptions& options = {}, SourceLine line = here());
/// Uniform integers low, .., high - 1, i32; low and high may be tensors. The relative error of each
/// one's probability is at most (high - low) / 2^32. If high <= low the result is low.
///
/// Examples: after `Tensor dice = randint(1, 7, {1000}, {.seed = 1});` `min(dice)` is `1`,
/// `max(dice)` is `6`; and `randint(3, 3, {2})` is `{3, 3}`.
Tensor randint(const Arg& low, const Arg& high, const Shape& shape,
               const RandomOptions& options = {}, SourceLine line = here());

/// A hash of u32 to u32 in one multiplication and some shifts: PCG-RXS-M-XS, as in M. Jarzynski and
/// M. Olano, "Hash Functions for GPU Rendering", 2020. Integers of 32 bits are taken by their bits.
///
/// Example: `pcg(tensor({0}))` is `{129708002}`.
Tensor pcg(const Operand& x);
/// The same as an f32 in [0, 1).
///
/// Example: `pcgf(tensor({0}))` is `{0.0302}`.
Tensor pcgf(const Operand& x);

/// A generator for shader-like code: every element counts its draws, and loops and branches carry
/// the count like any tensor. `Generator random{pixel, frame}; .. random.uniform() ..`
///
/// Number n is a function of key, stream and n alone: no generator continues another's sequence,
/// and runs of two of them are equal only by chance. The first 2^32 numbers of one are a
/// permutation of all u32. Keys may be plain indices; if there are two of them, such as pixel and
/// frame, use one as the stream. SmallCrush of TestU01 finds nothing in successive draws of one
/// key, in the same draw of successive keys, and in runs of 500.
///
/// Examples: after `Generator random{arange(100)}; Tensor x = random.uniform();`
/// `all((x >= 0) & (x < 1))` is `true`, `any(random.uniform() == x)` is `false`,
/// `random.normal().shape()` is `[100]`.
struct Generator {
    Tensor key;          ///< of each element: u32 or i32
    Tensor stream = 0u;  ///< a second key, u32 or i32: a seed, or the number of a frame
    Tensor drawn = 0u;   ///< how many numbers were drawn

    /// The next 32 bits, u32.
    Tensor bits(SourceLine line = here());
    /// The next f32 in [0, 1).
    Tensor uniform(SourceLine line = here());
    /// The next normally distributed f32.
    Tensor normal(SourceLine line = here());
};

}  // namespace firn
