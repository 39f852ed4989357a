// Philox, PCG and a keyed generator in 32-bit integer arithmetic, which every device does alike.
#include "compiler/frontend/random.h"

#include <numbers>

#include "compiler/frontend/create.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"
#include "compiler/frontend/movement.h"
#include "compiler/frontend/record.h"

namespace firn {
namespace {

constexpr int kRounds = 10;
constexpr uint32_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
constexpr uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;

/// The upper half of the 64-bit product, from products of 16-bit halves: not every device has
/// 64-bit integers.
Tensor high_product(const Tensor& x, const Tensor& y) {
    Tensor x0 = x & 0xFFFFu, x1 = x >> 16, y0 = y & 0xFFFFu, y1 = y >> 16;
    Tensor low = x0 * y0, middle = x1 * y0 + (low >> 16);
    Tensor other = x0 * y1 + (middle & 0xFFFFu);
    return x1 * y1 + (middle >> 16) + (other >> 16);
}

Tensor as_word(const char* what, const Tensor& x) {
    DType type = x.dtype();
    if (!type.is_integer() || type.bytes() != 4)
        refuse(std::string(what) + " is " + type.name() + "; it must be u32 or i32: cast it");
    return bitcast(x, u32);
}

/// A number of the host that differs from call to call, as two words, the lower first.
std::array<Tensor, 2> parameters(uint64_t bits) {
    SessionState& session = *current_state();
    const Builder b = builder(session, {});
    const auto word = [&](uint64_t value) {
        return Tensor::from_node(
            parameter(b, scalar_int(static_cast<uint32_t>(value), u32), ++session.last_id));
    };
    return {word(bits), word(bits >> 32)};
}

/// An integer of up to 64 bits as two words, the lower first.
std::array<Tensor, 2> words(const char* what, const Tensor& x) {
    const Ref node = x.node(current_state()->caller);
    if (!x.dtype().is_integer() || x.rank() != 0)
        refuse(std::string(what) + " is " + x.dtype().name() + text(x.shape()) +
               "; it must be one integer");
    const bool wide = x.dtype().bytes() == 8;
    if (node->op == Op::Constant) {
        const auto bits = static_cast<uint64_t>(node->as<ConstantAttr>().value.i);
        return parameters(wide ? bits : static_cast<uint32_t>(bits));
    }
    if (wide) return {x.as(u32), (x >> 32).as(u32)};
    return {x.as(u32), Tensor(0u)};
}

/// The element's number in row-major order as two words, the lower first.
std::array<Tensor, 2> flat_index(const Shape& shape) {
    const bool wide = element_count(shape).upper_bound() > int64_t{UINT32_MAX} + 1;
    Tensor low = 0u, high = 0u;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
        Tensor size = Tensor(shape[axis]).as(u32), i = index(shape, static_cast<int>(axis)).as(u32);
        if (wide && axis > 0) high = high * size + high_product(low, size);
        low = low * size + i;
        if (wide && axis > 0) high = high + (low < i).as(u32);  // the carry of the sum
    }
    return {low, high};
}

/// The key of calls that are given neither seed nor stream.
constexpr uint32_t kOwnKey[] = {0x2074616b, 0x65656473};

/// A number for each iteration of the recorded loops around. The multiples of the golden ratio lie
/// apart modulo 2^32: one loop inside another repeats none in 2^30 iterations, of which the outer
/// one has 65,536 at most.
Tensor iteration() {
    const SessionState& session = *current_state();
    size_t depth = session.scopes.size();
    while (depth > 1 && session.scopes[depth - 1].kind != ScopeKind::Function) --depth;
    Tensor at = 0u;
    for (; depth < session.scopes.size(); ++depth)
        if (session.scopes[depth].kind == ScopeKind::Loop)
            at = at * kWeyl0 + bitcast(Tensor::from_node(session.scopes[depth].induction), u32);
    return at;
}

std::array<Tensor, 4> block(const Shape& shape, const RandomOptions& options) {
    const std::array<Tensor, 2> at = flat_index(shape);
    if (!options.seed && !options.stream) {
        // Iterations take the second word of the counter; the bits of an element's number beyond 32
        // go to the key.
        const auto [low, high] = parameters(current_state()->next_stream++);
        return philox({at[0], iteration(), low, high},
                      {Tensor(kOwnKey[0]) + at[1], Tensor(kOwnKey[1])});
    }
    const auto [low, high] = words("random: the stream", options.stream.value_or(0));
    return philox({at[0], at[1], low, high}, words("random: the seed", options.seed.value_or(0)));
}

/// Returns the upper 24 bits as a multiple of 2^-24 in [0, 1). Drivers convert signed integers in
/// one instruction.
Tensor fraction(const Tensor& bits) { return bitcast(bits >> 8, i32).as(f32) * 0x1p-24f; }

/// Box and Muller: the first bits give the radius, from numbers in (0, 1].
Tensor normal_from(const Tensor& first, const Tensor& second) {
    Tensor radius = sqrt(-2.0f * log(1.0f - fraction(first)));
    return radius * cos(2 * std::numbers::pi_v<float> * fraction(second));
}

}  // namespace

std::array<Tensor, 4> philox(const std::array<Tensor, 4>& counter, const std::array<Tensor, 2>& key,
                             SourceLine line) {
    LineScope at(line);
    std::array<Tensor, 4> c;
    for (size_t k = 0; k < 4; ++k) c[k] = as_word("philox: a word of the counter", counter[k]);
    Tensor k0 = as_word("philox: a word of the key", key[0]);
    Tensor k1 = as_word("philox: a word of the key", key[1]);
    Tensor m0 = kMultiplier0, m1 = kMultiplier1;
    for (int round = 0; round < kRounds; ++round) {
        Tensor high0 = high_product(m0, c[0]), high1 = high_product(m1, c[2]);
        c = {high1 ^ c[1] ^ k0, m1 * c[2], high0 ^ c[3] ^ k1, m0 * c[0]};
        k0 += kWeyl0;
        k1 += kWeyl1;
    }
    return c;
}

Tensor random_bits(const Shape& shape, const RandomOptions& options, SourceLine line) {
    LineScope at(line);
    return expand(block(shape, options)[0], shape);
}

Tensor rand(const Shape& shape, const RandomOptions& options, SourceLine line) {
    LineScope at(line);
    return fraction(random_bits(shape, options));
}

Tensor randn(const Shape& shape, const RandomOptions& options, SourceLine line) {
    LineScope at(line);
    std::array<Tensor, 4> bits = block(shape, options);
    return expand(normal_from(bits[0], bits[1]), shape);
}

Tensor randint(const Arg& low, const Arg& high, const Shape& shape, const RandomOptions& options,
               SourceLine line) {
    LineScope at(line);
    Tensor from = low.tensor(), to = high.tensor();
    for (const Tensor& bound : {from, to})
        if (!bound.dtype().is_integer() || bound.dtype().bytes() > 4)
            refuse(std::string("randint: a bound is ") + bound.dtype().name() +
                   "; give integers of at most 32 bits");
    from = from.as(i32);
    Tensor span = select(to.as(i32) > from, bitcast(to.as(i32) - from, u32), 0u);
    return from + bitcast(high_product(random_bits(shape, options), span), i32);
}

namespace {

constexpr uint32_t kCongruential = 747796405;

/// The permutation of 32-bit words that ends PCG: every bit depends on the higher ones, and then on
/// all.
Tensor permuted(const Tensor& x) {
    Tensor word = ((x >> ((x >> 28) + 4u)) ^ x) * 277803737u;
    return (word >> 22) ^ word;
}

}  // namespace

Tensor pcg(const Operand& x) {
    LineScope at(x.line());
    return permuted(as_word("pcg: x", x.tensor()) * kCongruential + 2891336453u);
}

Tensor pcgf(const Operand& x) {
    LineScope at(x.line());
    return fraction(pcg(x));
}

// Each key and stream has a permutation of 32-bit words of its own, which is applied to the
// counter: two of them are no parts of one sequence. Keys differ in their additive constant and in
// their factor.
Tensor Generator::bits(SourceLine line) {
    LineScope at(line);
    const Tensor own = as_word("Generator: the key", key),
                 other = as_word("Generator: the stream", stream);
    const Tensor factor = pcg(own ^ pcg(other)) | 1u;
    const Tensor counter = as_word("Generator: the counter", drawn) * kCongruential;
    drawn = drawn + 1;
    return permuted(((counter ^ (counter >> 15)) + own) * factor);
}

Tensor Generator::uniform(SourceLine line) {
    LineScope at(line);
    return fraction(bits());
}

Tensor Generator::normal(SourceLine line) {
    LineScope at(line);
    Tensor first = bits();
    return normal_from(first, bits());
}

}  // namespace firn
