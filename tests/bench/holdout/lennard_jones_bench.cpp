// A step of molecular dynamics: forces of Lennard and Jones between listed neighbours.
#include <firn/firn.h>

#include <bit>
#include <cmath>

#include "tests/bench/holdout/holdout.h"

namespace firn::bench {
namespace {

constexpr int kJonesSide = 32, kJonesMost = 56;  // atoms along an edge; listed neighbours at most
constexpr int64_t kJonesAtoms = int64_t(kJonesSide) * kJonesSide * kJonesSide;
constexpr float kJonesBox = 40.0f, kJonesReach = 2.5f, kJonesSkin = 0.15f, kJonesStep = 0.004f;

struct JonesAtoms {
    Tensor place, speed, force;
};

/// The sum of the forces on each atom, and the potential energy of all. Each pair is listed twice.
std::pair<Tensor, Tensor> jones_forces(const Tensor& place, const Tensor& neighbours,
                                       const Tensor& counts, const Tensor& box) {
    Tensor apart = place(neighbours) - place(all, newaxis);  // [atom, neighbour, 3]
    apart -= box * round(apart / box);
    Tensor squared = sum(square(apart), {2});
    Tensor listed = arange(neighbours.size(1)) < counts(all, newaxis);
    Tensor near = listed & (squared < kJonesReach * kJonesReach);
    Tensor inverse = where(near, 1.0f / squared, 0.0f), sixth = pow(inverse, 3);
    Tensor push = 24.0f * inverse * sixth * (2.0f * sixth - 1.0f);
    return {-sum(push(all, all, newaxis) * apart, {1}), 0.5f * sum(4.0f * sixth * (sixth - 1.0f))};
}

/// L. Verlet, "Computer Experiments on Classical Fluids. I.", 1967, in the form with velocities of
/// W. Swope et al., 1982: half a kick, a drift, new forces, and the other half.
std::pair<JonesAtoms, Tensor> jones_step(JonesAtoms atoms, Tensor neighbours, Tensor counts,
                                         Tensor box, Tensor dt) {
    Tensor speed = atoms.speed + 0.5f * dt * atoms.force;
    Tensor place = (atoms.place + dt * speed) % box;
    auto [force, energy] = jones_forces(place, neighbours, counts, box);
    return {JonesAtoms{place, speed + 0.5f * dt * force, force}, energy};
}

struct JonesStart {
    std::vector<float> place, speed, force;
    std::vector<int> neighbours, counts;
};

/// A perturbed lattice, and its lists of neighbours.
JonesStart jones_start() {
    const std::vector<float> moved = numbers(3 * kJonesAtoms, -0.15f, 0.15f, 21);
    constexpr float kJonesApart = kJonesBox / kJonesSide;
    JonesStart out{moved,
                   numbers(3 * kJonesAtoms, -1.5f, 1.5f, 22),
                   numbers(3 * kJonesAtoms, -5, 5, 23),
                   {},
                   {}};
    const auto number = [](int i, int j, int k) {
        constexpr int kJonesMask = kJonesSide - 1;
        return ((i & kJonesMask) * kJonesSide + (j & kJonesMask)) * kJonesSide + (k & kJonesMask);
    };
    const auto each = [](auto&& body) {
        for (int i = 0; i < kJonesSide; ++i)
            for (int j = 0; j < kJonesSide; ++j)
                for (int k = 0; k < kJonesSide; ++k) body(i, j, k);
    };
    each([&](int i, int j, int k) {
        const size_t at = 3 * size_t(number(i, j, k));
        const int of[3] = {i, j, k};
        for (size_t c = 0; c < 3; ++c) {
            float& place = out.place[at + c];
            place += kJonesApart * float(of[c]);
            if (place < 0) place += kJonesBox;
        }
    });
    constexpr float kJonesFar = kJonesReach + kJonesSkin;
    each([&](int i, int j, int k) {
        const int own = number(i, j, k);
        int count = 0;
        for (int way = 0; way < 343; ++way) {
            const int other = number(i + way / 49 - 3, j + way / 7 % 7 - 3, k + way % 7 - 3);
            float squared = 0;
            for (size_t c = 0; c < 3; ++c) {
                const float apart =
                    out.place[3 * size_t(other) + c] - out.place[3 * size_t(own) + c];
                squared += std::pow(std::remainder(apart, kJonesBox), 2.0f);
            }
            if (other == own || squared > kJonesFar * kJonesFar || count == kJonesMost) continue;
            out.neighbours.push_back(other);
            ++count;
        }
        out.counts.push_back(count);
        out.neighbours.resize(size_t(own + 1) * kJonesMost, own);
    });
    return out;
}

/// The next places, and how many pairs, of those that are listed, are near.
std::pair<std::vector<std::vector<float>>, double> jones_on_host(const JonesStart& from) {
    std::vector<float> place = from.place, speed = from.speed, force(place.size());
    for (size_t c = 0; c < place.size(); ++c) {
        speed[c] += 0.5f * kJonesStep * from.force[c];
        place[c] += kJonesStep * speed[c];
        place[c] -= kJonesBox * std::floor(place[c] / kJonesBox);
    }
    double energy = 0, near = 0;
    for (size_t p = 0; p < size_t(kJonesAtoms); ++p) {
        double sums[3] = {0, 0, 0};
        for (size_t n = 0; n < size_t(from.counts[p]); ++n) {
            const size_t other = size_t(from.neighbours[p * kJonesMost + n]);
            double apart[3], squared = 0;
            for (size_t c = 0; c < 3; ++c) {
                apart[c] = std::remainder(double(place[3 * other + c]) - double(place[3 * p + c]),
                                          double(kJonesBox));
                squared += apart[c] * apart[c];
            }
            if (squared >= double(kJonesReach) * double(kJonesReach)) continue;
            const double sixth = std::pow(squared, -3);
            energy += 2 * sixth * (sixth - 1);
            ++near;
            for (size_t c = 0; c < 3; ++c)
                sums[c] -= 24 / squared * sixth * (2 * sixth - 1) * apart[c];
        }
        for (size_t c = 0; c < 3; ++c) {
            force[3 * p + c] = float(sums[c]);
            speed[3 * p + c] += 0.5f * kJonesStep * force[3 * p + c];
        }
    }
    return {{place, speed, force, {float(energy)}}, near};
}

constexpr const char* kJonesDrift = R"(
void main() {
    int k = int(gl_GlobalInvocationID.x);
    float speed = v_at(k) + 0.5 * 0.004 * f_at(k), place = x_at(k) + 0.004 * speed;
    new_v[k] = speed;
    new_x[k] = place - 40.0 * floor(place / 40.0);
}
)";
constexpr const char* kJonesPlain = R"(
void main() {
    int p = int(gl_GlobalInvocationID.x);
    vec3 own = vec3(new_x[3 * p], new_x[3 * p + 1], new_x[3 * p + 2]), force = vec3(0.0);
    float energy = 0.0;
    int count = counts[p];
    for (int k = 0; k < count; ++k) {
        int other = neighbours[p * MOST + k];
        vec3 apart = vec3(new_x[3 * other], new_x[3 * other + 1], new_x[3 * other + 2]) - own;
        apart -= 40.0 * round(apart / 40.0);
        float squared = dot(apart, apart);
        if (squared < 6.25) {
            float inverse = 1.0 / squared, sixth = inverse * inverse * inverse;
            force -= 24.0 * inverse * sixth * (2.0 * sixth - 1.0) * apart;
            energy += 2.0 * sixth * (sixth - 1.0);
        }
    }
    for (int c = 0; c < 3; ++c) {
        new_f[3 * p + c] = force[c];
        new_v[3 * p + c] += 0.5 * 0.004 * force[c];
    }
    energies[p] = energy;
}
)";
constexpr const char* kJonesSum = R"(
shared float part[256];
void main() {
    int k = int(gl_LocalInvocationID.x);
    part[k] = 0.0;
    for (int p = k; p < ATOMS; p += 256) part[k] += energies[p];
    for (int half_ = 128; half_ > 0; half_ /= 2) {
        barrier();
        if (k < half_) part[k] += part[k + half_];
    }
    if (k == 0) energy[0] = part[0];
}
)";

constexpr int kJonesX = 0, kJonesV = 1, kJonesF = 2, kJonesList = 3, kJonesCounts = 4,
              kJonesNewX = 5, kJonesNewV = 6, kJonesNewF = 7, kJonesEnergy = 8, kJonesOwn = 9;

HandProgram jones_plain() {
    return {{{"lennard_jones_drift",
              kJonesDrift,
              {64, 1, 1},
              {int(3 * kJonesAtoms / 64), 1, 1},
              {{"x", As::Floats, kJonesX},
               {"v", As::Floats, kJonesV},
               {"f", As::Floats, kJonesF},
               {"new_x", As::Floats, kJonesNewX, true},
               {"new_v", As::Floats, kJonesNewV, true}},
              {}},
             {"lennard_jones_forces",
              kJonesPlain,
              {64, 1, 1},
              {int(kJonesAtoms / 64), 1, 1},
              {{"new_x", As::Floats, kJonesNewX},
               {"neighbours", As::Ints, kJonesList},
               {"counts", As::Ints, kJonesCounts},
               {"new_v", As::Floats, kJonesNewV, true},
               {"new_f", As::Floats, kJonesNewF, true},
               {"energies", As::Floats, kJonesOwn, true}},
              {{"MOST", kJonesMost}}},
             {"lennard_jones_energy",
              kJonesSum,
              {256, 1, 1},
              {1, 1, 1},
              {{"energies", As::Floats, kJonesOwn}, {"energy", As::Floats, kJonesEnergy, true}},
              {{"ATOMS", int(kJonesAtoms)}}}},
            {kJonesAtoms},
            {}};
}

// Four atoms in an invocation. Places are packed too, as integers of which 2^32 are the box: their
// differences are those to the nearest image by themselves.
constexpr const char* kJonesBestDrift = R"(
void main() {
    int k = int(gl_GlobalInvocationID.x);
    float along[12];
    [[unroll]] for (int q = 0; q < 3; ++q) {
        vec4 speed = v_at(3 * k + q) + 0.5 * 0.004 * f_at(3 * k + q);
        vec4 place = x_at(3 * k + q) + 0.004 * speed;
        place -= 40.0 * floor(place / 40.0);
        new_x[3 * k + q] = place;
        [[unroll]] for (int c = 0; c < 4; ++c) along[4 * q + c] = place[c];
    }
    [[unroll]] for (int a = 0; a < 4; ++a) {
        vec3 place = vec3(along[3 * a], along[3 * a + 1], along[3 * a + 2]) - 20.0;
        spots[4 * k + a] = intBitsToFloat(ivec4(ivec3(place * (4294967296.0 / 40.0)), 0));
    }
}
)";
// Four neighbours in an iteration, each read as one texel. With floats and their nearest images
// instead of integers a step takes 1.05 to 1.1 times as long, with a storage buffer of vec4s 1.5
// times (2.7 times where the neighbours' numbers are read from one as well); eight neighbours in an
// iteration, and groups of 32 or 128, are as fast.
constexpr const char* kJonesBest = R"(
void main() {
    int p = int(gl_GlobalInvocationID.x), count = counts_at(p);
    const float unit = 40.0 / 4294967296.0;
    ivec3 own = floatBitsToInt(spots_at(p).xyz);
    vec3 force = vec3(0.0);
    float energy = 0.0;
    for (int k = 0; k < count; k += 4) {
        ivec4 four = floatBitsToInt(neighbours_at((p * MOST + k) / 4));
        [[unroll]] for (int q = 0; q < 4; ++q) {
            vec3 apart = vec3(floatBitsToInt(spots_at(four[q]).xyz) - own);
            float squared = dot(apart, apart) * (unit * unit);
            float inverse = k + q < count && squared < 6.25 ? 1.0 / squared : 0.0;
            float sixth = inverse * inverse * inverse, twelfth = sixth * sixth;
            force += (twelfth + twelfth - sixth) * inverse * apart;
            energy += twelfth - sixth;
        }
    }
    force *= -24.0 * unit;
    [[unroll]] for (int c = 0; c < 3; ++c) {
        int at = 3 * p + c;
        new_f[at] = force[c];
        new_v[at] = v_at(at) + 0.5 * 0.004 * f_at(at) + 0.5 * 0.004 * force[c];
    }
    energy = eight_sum(energy);
    if ((gl_LocalInvocationID.x & 7u) == 0u) energies[p / 8] = energy;
}
)";
constexpr const char* kJonesBestSum = R"(
void main() {
    int lane = int(gl_LocalInvocationID.x);
    vec4 sum = vec4(0.0);
    for (int k = 0; k < PARTS / 4; k += 32)
        [[unroll]] for (int q = 0; q < 4; ++q) sum += energies_at(k + 8 * q + lane);
    float all_of_them = eight_sum(sum.x + sum.y + sum.z + sum.w);
    if (lane == 0) energy[0] = 2.0 * all_of_them;
}
)";

HandProgram jones_best() {
    constexpr int kJonesSpots = kJonesOwn, kJonesSums = kJonesOwn + 1;
    return {{{"lennard_jones_drift",
              kJonesBestDrift,
              {64, 1, 1},
              {int(kJonesAtoms / 256), 1, 1},
              {{"x", As::Texels4, kJonesX},
               {"v", As::Texels4, kJonesV},
               {"f", As::Texels4, kJonesF},
               {"new_x", As::Vec4s, kJonesNewX, true},
               {"spots", As::Vec4s, kJonesSpots, true}},
              {}},
             {"lennard_jones_forces",
              kJonesBest,
              {64, 1, 1},
              {int(kJonesAtoms / 64), 1, 1},
              {{"spots", As::Texels4, kJonesSpots},
               {"neighbours", As::Texels4, kJonesList},
               {"counts", As::IntTexels, kJonesCounts},
               {"v", As::Texels, kJonesV},
               {"f", As::Texels, kJonesF},
               {"new_v", As::Floats, kJonesNewV, true},
               {"new_f", As::Floats, kJonesNewF, true},
               {"energies", As::Floats, kJonesSums, true}},
              {{"MOST", kJonesMost}}},
             {"lennard_jones_energy",
              kJonesBestSum,
              {8, 1, 1},
              {1, 1, 1},
              {{"energies", As::Texels4, kJonesSums}, {"energy", As::Floats, kJonesEnergy, true}},
              {{"PARTS", int(kJonesAtoms / 8)}}}},
            {4 * kJonesAtoms, kJonesAtoms / 8},
            {}};
}

std::vector<float> jones_bits(const std::vector<int>& values) {
    std::vector<float> out;
    for (int value : values) out.push_back(std::bit_cast<float>(value));
    return out;
}

Contest lennard_jones() {
    auto step = compile(
        jones_step, {f32("n", 3), f32("n", 3), f32("n", 3), i32("n", "k"), i32("n"), f32(), f32()});
    const JonesStart start = jones_start();
    const auto [results, near] = jones_on_host(start);
    const auto atoms = double(kJonesAtoms);
    double listed = 0;
    for (int count : start.counts) listed += count;
    const JonesAtoms first{tensor(start.place, {kJonesAtoms, 3}),
                           tensor(start.speed, {kJonesAtoms, 3}),
                           tensor(start.force, {kJonesAtoms, 3})};
    Tensor neighbours = tensor(start.neighbours, {kJonesAtoms, kJonesMost}),
           counts = tensor(start.counts);
    // Operations per pair: differences 3, their nearest images 3, the distance squared 5, the test.
    // Per near pair: the quotient, its third power 2, the push 4, its share of the force 6 and of
    // the energy 3. Per atom: three times 2 for each half of the kick, 2 for the drift, 4 to stay
    // in the box, and the force's factor.
    return {.least = {40 * atoms + 4 * listed, 36 * atoms, 12 * listed + 16 * near + 33 * atoms,
                      3 * listed},
            .arguments = {start.place, start.speed, start.force, jones_bits(start.neighbours),
                          jones_bits(start.counts)},
            .results = {3 * kJonesAtoms, 3 * kJonesAtoms, 3 * kJonesAtoms, 1},
            .firn =
                [=] {
                    auto [atoms, energy] = step(first, neighbours, counts, kJonesBox, kJonesStep);
                    return std::vector<Tensor>{atoms.place, atoms.speed, atoms.force, energy};
                },
            .best = jones_best(),
            .plain = jones_plain(),
            // A rounding may decide whether a pair is near, which is 7e-4 of the largest force.
            .tolerance = 2e-3,
            .expected = [results] { return results; }};
}

}  // namespace

void add_lennard_jones(std::vector<Case>& cases) {
    cases.push_back({"lennard_jones", lennard_jones, Section::Training,
                     "a neighbour's place is three numbers that lie anywhere"});
}

}  // namespace firn::bench
