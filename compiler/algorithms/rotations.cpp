// The tournament of pairs, and the angle of one.
#include "compiler/algorithms/rotations.h"

#include "compiler/frontend/create.h"
#include "compiler/frontend/math.h"
#include "compiler/frontend/reduce.h"

namespace firn {

Size rotation_rounds(const Size& n) { return max(Size(1), n + mod(n, Size(2)) - Size(1)); }

Tensor rotation_partner(const Tensor& of, const Tensor& round, const Size& n) {
    // All indices but `rounds`, which an even n has, sit in a ring: two with the round as their sum
    // modulo the ring are partners. An index that would be its own partner gets index `rounds`:
    // twice that index is the round, and half of 1 modulo an odd ring is (ring + 1) / 2.
    const Size rounds = rotation_rounds(n), half = floor_div(rounds + Size(1), Size(2));
    Tensor partner = (round + rounds - of) % rounds;
    partner = select(partner == of, rounds, partner);
    partner = select(of == rounds, (round * half) % rounds, partner);
    return select(partner < n, partner, of);
}

Rotation jacobi_rotation(const RotationPair& pair) {
    // Takes the smaller of both angles: Golub and Van Loan, algorithm 8.5.1. A nan rotates, and so
    // spreads.
    const Tensor still = pair.alone | (abs(pair.between) <= pair.tolerance);
    const Tensor tau = (pair.last - pair.first) / (2 * pair.between);
    const Tensor smaller = select(tau < 0, -1, 1) / (abs(tau) + sqrt(1 + tau * tau));
    const Tensor tangent = select(still, 0, smaller);
    const Tensor cosine = 1 / sqrt(1 + tangent * tangent), sine = tangent * cosine;
    return {cosine, select(pair.is_low, -sine, sine), !still};
}

void jacobi_sweeps(const Shape& indices, const Callback<Tensor(const Tensor&)>& round) {
    Tensor turning = Tensor(true);
    while_([&] { return turning; },
           [&] {
               Tensor turned = zeros(indices, boolean);
               for (Tensor k : loop(rotation_rounds(indices.back()))) turned = turned | round(k);
               turning = any(turned);
           },
           {.max_steps = 60});
}

}  // namespace firn
