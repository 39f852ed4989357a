// Philox and PCG in 32-bit integer arithmetic, which every device does alike.
#include "compiler/frontend/random.h"

#include <numbers>

#include "compiler/frontend/create.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"
#include "compiler/frontend/movement.h"

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

/// An integer of up to 64 bits as two words, the lower first.
std::array<Tensor, 2> words(const char* what, const Tensor& x) {
    if (!x.dtype().is_integer() || x.rank() != 0)
        refuse(std::string(what) + " is " + x.dtype().name() + text(x.shape()) +
               "; it must be one integer");
    if (x.dtype().bytes() == 8) return {x.as(u32), (x >> 32).as(u32)};
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
        if (wide && axis > 0) high = high + (low < i).as(u32);  // what the sum carried over
    }
    return {low, high};
}

std::array<Tensor, 4> block(const Shape& shape, const RandomOptions& options) {
    std::array<Tensor, 2> stream = words("random: the stream", options.stream);
    std::array<Tensor, 2> at = flat_index(shape);
    return philox({at[0], at[1], stream[0], stream[1]}, words("random: the seed", options.seed));
}

/// The upper 24 bits as a multiple of 2^-24 in [0, 1).
Tensor fraction(const Tensor& bits) { return (bits >> 8).as(f32) * 0x1p-24f; }

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

/// One step of the congruential generator under PCG; it goes through all 2^32 states.
Tensor advanced(const Tensor& state) { return state * 747796405u + 2891336453u; }

}  // namespace

Tensor pcg(const Operand& x) {
    LineScope at(x.line());
    Tensor state = advanced(as_word("pcg: x", x.tensor()));
    Tensor word = ((state >> ((state >> 28) + 4u)) ^ state) * 277803737u;
    return (word >> 22) ^ word;
}

Tensor pcgf(const Operand& x) {
    LineScope at(x.line());
    return fraction(pcg(x));
}

Tensor Generator::bits(SourceLine line) {
    LineScope at(line);
    Tensor out = pcg(state);
    state = advanced(state);
    return out;
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
