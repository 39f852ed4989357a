// Reads at places that chance moves.
#include "compiler/learning/augment.h"

#include "compiler/frontend/create.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"
#include "compiler/frontend/movement.h"
#include "compiler/frontend/random.h"
#include "compiler/frontend/reader.h"

namespace firn {

Tensor random_move(const Operand& operand, const RandomMoveOptions& options, SourceLine line) {
    LineScope at(line);
    const Tensor given = operand.tensor();
    if ((given.rank() != 3 && given.rank() != 4) || given.dtype() != f32)
        refuse(std::string("random_move: x is ") + given.dtype().name() + text(given.shape()) +
               "; pictures are f32 [batch, n, m] or [batch, channels, n, m]");
    const Tensor x = given.rank() == 4 ? given : unsqueeze(given, 1);
    const Size batch = x.size(0), n = x.size(2), m = x.size(3);
    // Random numbers from -1 to 1: turn, shift down, shift across, stretch, flip.
    const Tensor chance =
        rand({batch, 5}, {.seed = options.seed, .stream = options.stream}) * 2.0f - 1.0f;
    auto [b, c, i, j] = indices<4>(x.shape());
    const Tensor middle_i = (Tensor(n).as(f32) - 1.0f) * 0.5f,
                 middle_j = (Tensor(m).as(f32) - 1.0f) * 0.5f;
    Tensor y = i.as(f32) - middle_i, z = j.as(f32) - middle_j;
    if (options.flip) z = select(chance(b, 4) < 0.0f, -z, z);
    if (options.stretch) {
        const Tensor scale = 1.0f / (1.0f + *options.stretch * chance(b, 3));
        y = y * scale, z = z * scale;
    }
    if (options.turn) {
        const Tensor angle = *options.turn * chance(b, 0), down = y;
        y = cos(angle) * down - sin(angle) * z;
        z = sin(angle) * down + cos(angle) * z;
    }
    if (options.shift) y = y + *options.shift * chance(b, 1), z = z + *options.shift * chance(b, 2);
    const Tensor row = middle_i + y, column = middle_j + z;
    const Tensor top = floor(row), left = floor(column), s = row - top, t = column - left;
    const Tensor k = top.as(i32), l = left.as(i32);
    const Reader read = zero(x);
    const Tensor out = mix(mix(read(b, c, k, l), read(b, c, k, l + 1), t),
                           mix(read(b, c, k + 1, l), read(b, c, k + 1, l + 1), t), s);
    return given.rank() == 4 ? out : squeeze(out, {.axis = 1});
}

}  // namespace firn
