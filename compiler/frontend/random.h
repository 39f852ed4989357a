// Random numbers by counter: element k of a stream is a function of seed, stream and k alone, the
// same on every device and in every order of execution.
#pragma once
#include <optional>

#include "compiler/frontend/tensor.h"

namespace firn {

/// Which numbers. With a seed or a stream (the other is 0 then): the same numbers wherever they are
/// asked for. With neither, a call takes the next stream of its session, in the order of the calls:
/// two calls differ, and a program that runs again gets the same.
///
/// A call counts once, when it is recorded. So a compiled function without seeds gives the same
/// numbers in every call: give it a seed or a stream as an argument. In `loop` and `while_` every
/// iteration has numbers of its own, where neither is given; a stream of one's own is chosen by the
/// loop's index, `{.seed = 1, .stream = step}`.
///
/// Both are integers, or rank-0 integer tensors, and change from call to call without a new
/// program: as arguments of a compiled function, or as C++ numbers in lazy evaluation. 64-bit seeds
/// keep all their bits.
struct RandomOptions {
    std::optional<Tensor> seed = std::nullopt;
    std::optional<Tensor> stream =
        std::nullopt;  // numbers of two streams with one seed are independent
};

/// Philox4x32-10: four random u32 for every element of a 128-bit counter under a 64-bit key; words
/// are u32 and broadcast. J. Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", 2011.
std::array<Tensor, 4> philox(const std::array<Tensor, 4>& counter, const std::array<Tensor, 2>& key,
                             SourceLine line = here());

/// 32 random bits an element, u32. A tensor of more than 2^32 elements repeats itself.
Tensor random_bits(const Shape& shape, const RandomOptions& options = {}, SourceLine line = here());
/// Uniform in [0, 1), multiples of 2^-24, f32.
Tensor rand(const Shape& shape, const RandomOptions& options = {}, SourceLine line = here());
/// Normal with mean 0 and deviation 1, f32, by Box and Muller; at most 5.8 from 0.
Tensor randn(const Shape& shape, const RandomOptions& options = {}, SourceLine line = here());
/// Uniform integers low, .., high - 1, i32; low and high may be tensors. Each is met with a
/// probability that is off by at most (high - low) / 2^32 of itself. Where high <= low: low.
Tensor randint(const Arg& low, const Arg& high, const Shape& shape,
               const RandomOptions& options = {}, SourceLine line = here());

/// A hash of u32 to u32 in one multiplication and some shifts: PCG-RXS-M-XS, as in M. Jarzynski and
/// M. Olano, "Hash Functions for GPU Rendering", 2020. Integers of 32 bits are taken by their bits.
Tensor pcg(const Operand& x);
/// The same as an f32 in [0, 1).
Tensor pcgf(const Operand& x);

/// A generator for shader-like code: every element has a state of its own, which loops and branches
/// carry like any tensor. `Generator random{pcg(index + pcg(frame))}; .. random.uniform() ..`
struct Generator {
    Tensor state;  // u32

    /// The next 32 bits, u32.
    Tensor bits(SourceLine line = here());
    /// The next f32 in [0, 1).
    Tensor uniform(SourceLine line = here());
    /// The next normally distributed f32.
    Tensor normal(SourceLine line = here());
};

}  // namespace firn
