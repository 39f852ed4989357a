// Slime mould: agents that follow the trail that they leave.
#include <firn/firn.h>

#include <cmath>

#include "tests/bench/holdout/holdout.h"

namespace firn::bench {
namespace {

constexpr int kPhysarumSide = 512, kPhysarumAgents = 1 << 17, kPhysarumSteps = 8;
constexpr int64_t kPhysarumCells = int64_t(kPhysarumSide) * kPhysarumSide;
constexpr float kPhysarumSense = 0.3926991f, kPhysarumReach = 9.0f, kPhysarumTurn = 0.7853982f,
                kPhysarumSpeed = 1.0f, kPhysarumDeposit = 5.0f, kPhysarumDecay = 0.9f;

/// The trail, and the agents: where they are and where they look.
struct Physarum {
    Tensor trail, x, y, heading;
};
/// The angle between two feelers and their length, an agent's turn and distance in a step, its
/// deposit, and the share of the trail that stays.
struct PhysarumRules {
    Tensor sense, reach, turn, speed, deposit, decay;
};

/// J. Jones, "Characteristics of Pattern Formation and Evolution in Approximations of Physarum
/// Transport Networks", 2010, around the edges: sense, turn, go, leave a deposit; then the trail is
/// blurred and fades.
Physarum physarum_steps(Physarum mould, PhysarumRules rules) {
    auto [trail, x, y, heading] = mould;
    Size rows = trail.size(0), columns = trail.size(1), agents = x.size(0);
    for (Tensor step : loop(kPhysarumSteps)) {
        auto smell = [&](const Tensor& angle) {
            Tensor i = floor(y + rules.reach * sin(angle)).as(i32);
            Tensor j = floor(x + rules.reach * cos(angle)).as(i32);
            return wrap(trail)(i, j);
        };
        Tensor ahead = smell(heading), left = smell(heading - rules.sense),
               right = smell(heading + rules.sense);
        Tensor coin = pcgf(index(x, 0) + step * Tensor(agents)) < 0.5f;
        Tensor side = select(left < right, 1.0f, select(right < left, -1.0f, 0.0f));
        side = select((ahead < left) & (ahead < right), select(coin, 1.0f, -1.0f), side);
        side = select((ahead > left) & (ahead > right), 0.0f, side);
        heading = heading + side * rules.turn;
        x = (x + rules.speed * cos(heading)) % Tensor(columns).as(f32);
        y = (y + rules.speed * sin(heading)) % Tensor(rows).as(f32);

        Tensor visits = zeros({rows, columns}, i32);
        scatter_add(visits(y.as(i32) % Tensor(rows), x.as(i32) % Tensor(columns)), 1);
        trail = trail + rules.deposit * visits.as(f32);
        Tensor around = zeros({rows, columns});
        for (int di = -1; di <= 1; ++di)
            for (int dj = -1; dj <= 1; ++dj)
                around += roll(roll(trail, di, {.axis = 0}), dj, {.axis = 1});
        trail = rules.decay / 9.0f * around;
    }
    return {trail, x, y, heading};
}
Physarum physarum_steps_kernel(Physarum mould, PhysarumRules rules) {
    auto [trail, x, y, heading] = mould;
    Size rows = trail.size(0), columns = trail.size(1), agents = x.size(0);
    for (Tensor step : loop(kPhysarumSteps)) {
        Tensor visits = zeros({rows, columns}, i32);
        kernel({agents}, [&](Tensor a) {
            Tensor px = x(a), py = y(a), angle = heading(a);
            auto smell = [&](const Tensor& direction) {
                Tensor i = floor(py + rules.reach * sin(direction)).as(i32);
                Tensor j = floor(px + rules.reach * cos(direction)).as(i32);
                return wrap(trail)(i, j);
            };
            Tensor ahead = smell(angle), left = smell(angle - rules.sense),
                   right = smell(angle + rules.sense);
            if_((ahead < left) & (ahead < right),
                [&] {
                    Tensor coin = pcgf(a + step * Tensor(agents)) < 0.5f;
                    angle += select(coin, rules.turn, -rules.turn);
                },
                [&] {
                    if_((ahead <= left) | (ahead <= right), [&] {
                        if_(left < right, [&] { angle += rules.turn; });
                        if_(right < left, [&] { angle -= rules.turn; });
                    });
                });
            px = (px + rules.speed * cos(angle)) % Tensor(columns).as(f32);
            py = (py + rules.speed * sin(angle)) % Tensor(rows).as(f32);
            x(a) = px, y(a) = py, heading(a) = angle;
            atomic_add(visits(py.as(i32) % Tensor(rows), px.as(i32) % Tensor(columns)), 1);
        });
        Tensor next = zeros({rows, columns});
        kernel({rows, columns}, [&](Tensor i, Tensor j) {
            Tensor around = 0.0f;
            for (int di = -1; di <= 1; ++di)
                for (int dj = -1; dj <= 1; ++dj)
                    around += wrap(trail)(i + di, j + dj) +
                              rules.deposit * wrap(visits)(i + di, j + dj).as(f32);
            next(i, j) = rules.decay / 9.0f * around;
        });
        trail = next;
    }
    return {trail, x, y, heading};
}

struct PhysarumOnHost {
    Plane trail;
    std::vector<float> x, y, heading;
};

std::vector<std::vector<float>> host_physarum(PhysarumOnHost mould) {
    constexpr int kSide = kPhysarumSide, kMask = kSide - 1;
    auto& [trail, x, y, heading] = mould;
    const auto around_edge = [](float p) {
        return p - float(kSide) * std::floor(p / float(kSide));
    };
    for (int step = 0; step < kPhysarumSteps; ++step) {
        std::vector<int> visits(kPhysarumCells);
        for (size_t a = 0; a < x.size(); ++a) {
            const auto smell = [&](float angle) {
                const int i = int(std::floor(y[a] + kPhysarumReach * std::sin(angle)));
                const int j = int(std::floor(x[a] + kPhysarumReach * std::cos(angle)));
                return trail(i & kMask, j & kMask);
            };
            const float ahead = smell(heading[a]), left = smell(heading[a] - kPhysarumSense),
                        right = smell(heading[a] + kPhysarumSense);
            float side = left < right ? 1.0f : right < left ? -1.0f : 0.0f;
            if (ahead < left && ahead < right)
                side = host_pcgf(uint32_t(a) + uint32_t(step) * uint32_t(kPhysarumAgents)) < 0.5f
                           ? 1.0f
                           : -1.0f;
            if (ahead > left && ahead > right) side = 0;
            heading[a] += side * kPhysarumTurn;
            x[a] = around_edge(x[a] + kPhysarumSpeed * std::cos(heading[a]));
            y[a] = around_edge(y[a] + kPhysarumSpeed * std::sin(heading[a]));
            ++visits[trail.place(int(y[a]) & kMask, int(x[a]) & kMask)];
        }
        for (size_t k = 0; k < visits.size(); ++k)
            trail.values[k] += kPhysarumDeposit * float(visits[k]);
        const Plane old = trail;
        for (int i = 0; i < kSide; ++i)
            for (int j = 0; j < kSide; ++j) {
                float sum = 0;
                for (int di = -1; di <= 1; ++di)
                    for (int dj = -1; dj <= 1; ++dj) sum += old((i + di) & kMask, (j + dj) & kMask);
                trail(i, j) = kPhysarumDecay / 9.0f * sum;
            }
    }
    return {trail.values, x, y, heading};
}

constexpr const char* kPlainPhysarumClear = R"(
void main() { visits[gl_GlobalInvocationID.x] = 0; }
)";
// The step is a buffer of one number, which the blur counts up.
constexpr const char* kPlainPhysarumAgents = R"(
const float sense = 0.3926991, reach = 9.0, turn = 0.7853982, speed = 1.0;
uint pcg(uint v) {
    uint state = v * 747796405u + 2891336453u;
    uint word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
    return (word >> 22u) ^ word;
}
float smell(vec2 place, float angle) {
    ivec2 cell = ivec2(floor(place + reach * vec2(cos(angle), sin(angle)))) & 511;
    return trail_at(cell.y * 512 + cell.x);
}
void main() {
    int a = int(gl_GlobalInvocationID.x);
    vec2 place = vec2(x_at(a), y_at(a));
    float angle = heading_at(a);
    float ahead = smell(place, angle), left = smell(place, angle - sense);
    float right = smell(place, angle + sense);
    if (ahead > left && ahead > right) {
    } else if (ahead < left && ahead < right) {
        angle += pcg(uint(a + step_at(0) * AGENTS)) < 0x80000000u ? turn : -turn;
    } else if (left < right) {
        angle += turn;
    } else if (right < left) {
        angle -= turn;
    }
    place = mod(place + speed * vec2(cos(angle), sin(angle)), 512.0);
    new_x[a] = place.x;
    new_y[a] = place.y;
    new_heading[a] = angle;
    ivec2 cell = ivec2(place) & 511;
    atomicAdd(visits[cell.y * 512 + cell.x], 1);
}
)";
constexpr const char* kPlainPhysarumBlur = R"(
void main() {
    int x = int(gl_GlobalInvocationID.x), y = int(gl_GlobalInvocationID.y);
    float sum = 0.0;
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) {
            int at = ((y + dy) & 511) * 512 + ((x + dx) & 511);
            sum += trail_at(at) + 5.0 * float(visits_at(at));
        }
    new_trail[y * 512 + x] = 0.9 / 9.0 * sum;
    if (x == 0 && y == 0) ++step[0];
}
)";
constexpr const char* kPlainPhysarumStart = R"(
void main() { step[0] = 0; }
)";

// Buffers: 0 to 3 are arguments and 4 to 7 results (trail, x, y, heading); 8 is another trail, 9
// the visits, 10 the number of the step.
HandProgram plain_physarum() {
    HandProgram out;
    out.kernels = {
        {"start", kPlainPhysarumStart, {1, 1, 1}, {1, 1, 1}, {{"step", As::Ints, 10, true}}, {}},
        {"clear",
         kPlainPhysarumClear,
         {256, 1, 1},
         {int(kPhysarumCells) / 256, 1, 1},
         {{"visits", As::Ints, 9, true}},
         {}},
        {"agents",
         kPlainPhysarumAgents,
         {256, 1, 1},
         {kPhysarumAgents / 256, 1, 1},
         {{"trail", As::Floats, 0},
          {"x", As::Floats, 1},
          {"y", As::Floats, 2},
          {"heading", As::Floats, 3},
          {"new_x", As::Floats, 5, true},
          {"new_y", As::Floats, 6, true},
          {"new_heading", As::Floats, 7, true},
          {"visits", As::Ints, 9, true},
          {"step", As::Ints, 10}},
         {{"AGENTS", kPhysarumAgents}}},
        {"blur",
         kPlainPhysarumBlur,
         {64, 4, 1},
         {kPhysarumSide / 64, kPhysarumSide / 4, 1},
         {{"trail", As::Floats, 0},
          {"visits", As::Ints, 9},
          {"new_trail", As::Floats, 4, true},
          {"step", As::Ints, 10, true}},
         {}}};
    out.temporaries = {kPhysarumCells, kPhysarumCells, 1};
    out.steps = {{0, {}}};
    for (int k = 0; k < kPhysarumSteps; ++k) {
        const int from = k == 0 ? 0 : k % 2 == 0 ? 4 : 8, to = k % 2 == 0 ? 8 : 4;
        out.steps.push_back({1, {}});
        if (k == 0)
            out.steps.push_back({2, {0, 1, 2, 3, 5, 6, 7, 9, 10}});
        else
            out.steps.push_back({2, {from, 5, 6, 7, 5, 6, 7, 9, 10}});
        out.steps.push_back({3, {from, 9, to, 10}});
    }
    return out;
}

// The directions of an agent's feelers are its own direction rotated by a fixed angle, and so is
// its next direction: one sine and one cosine a step.
constexpr const char* kBestPhysarumAgents = R"(
const float SENSE_C = 0.92387953, SENSE_S = 0.38268343, TURN = 0.7853982, TURN_C = 0.70710678;
const float REACH = 9.0;
uint pcg(uint v) {
    uint state = v * 747796405u + 2891336453u;
    uint word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
    return (word >> 22u) ^ word;
}
float smell(float x, float y, float c, float s) {
    int i = int(floor(y + REACH * s)) & 511, j = int(floor(x + REACH * c)) & 511;
    return trail_at(i * 512 + j);
}
void main() {
    int lane = int(gl_LocalInvocationID.x), first = int(gl_WorkGroupID.x) * (256 * MANY) + lane * 4;
    [[unroll]] for (int k = 0; k < MANY; ++k) {
        int a = first + k * 256;
        vec4 xs = x_at(a >> 2), ys = y_at(a >> 2), angles = heading_at(a >> 2);
        [[unroll]] for (int q = 0; q < 4; ++q) {
            float x = xs[q], y = ys[q], c = cos(angles[q]), s = sin(angles[q]);
            float cc = c * SENSE_C, cs = c * SENSE_S, sc = s * SENSE_C, ss = s * SENSE_S;
            float ahead = smell(x, y, c, s);
            float left = smell(x, y, cc + ss, sc - cs), right = smell(x, y, cc - ss, sc + cs);
            float side = left < right ? 1.0 : right < left ? -1.0 : 0.0;
            float coin = pcg(uint(a + q + STEP * AGENTS)) < 0x80000000u ? 1.0 : -1.0;
            side = ahead < min(left, right) ? coin : side;
            side = ahead > max(left, right) ? 0.0 : side;
            angles[q] += side * TURN;
            float tc = side == 0.0 ? 1.0 : TURN_C, ts = side * TURN_C;
            x += c * tc - s * ts;
            y += s * tc + c * ts;
            xs[q] = x - 512.0 * floor(x * (1.0 / 512.0));
            ys[q] = y - 512.0 * floor(y * (1.0 / 512.0));
        }
        new_x[a >> 2] = xs;
        new_y[a >> 2] = ys;
        new_heading[a >> 2] = angles;
    }
}
)";
// Four columns down ROWS rows, with the sums of three beside one another of the last two rows.
constexpr const char* kBestPhysarumBlur = R"(
vec4 across(int row, int column) {
    int begin = (row & 511) * 512;
    int left = begin + ((column - 1) & 511), right = begin + ((column + 4) & 511);
    vec4 own = trail4_at((begin + column) >> 2);
    float before = trail_at(left);
    float after = trail_at(right);
    float inner = own.y + own.z;
    return vec4(before + own.x + own.y, own.x + inner, inner + own.w, own.z + own.w + after);
}
void main() {
    int column = int(gl_GlobalInvocationID.x) * 4, begin = int(gl_WorkGroupID.y) * ROWS;
    vec4 up = across(begin - 1, column), middle = across(begin, column);
    [[unroll]] for (int k = 0; k < ROWS; ++k) {
        int row = begin + k, at = (row * 512 + column) >> 2;
        vec4 low = across(row + 1, column);
        new_trail[at] = 0.1 * (up + middle + low);
        up = middle;
        middle = low;
    }
}
)";
// Onto the trail itself, after all have smelled it: nothing is counted or made zeros.
constexpr const char* kBestPhysarumDeposit = R"(
void main() {
    int lane = int(gl_LocalInvocationID.x), first = int(gl_WorkGroupID.x) * 4096 + lane * 4;
    [[unroll]] for (int k = 0; k < 16; ++k) {
        int a = first + k * 256;
        ivec4 at = (ivec4(y_at(a >> 2)) & 511) * 512 + (ivec4(x_at(a >> 2)) & 511);
        [[unroll]] for (int q = 0; q < 4; ++q) atomicAdd(trail[at[q]], 5.0);
    }
}
)";
constexpr const char* kBestPhysarumCopy = R"(
void main() {
    [[unroll]] for (int k = 0; k < 8; ++k) {
        uint at = gl_WorkGroupID.x * 512 + k * 64 + gl_LocalInvocationID.x;
        copy[at] = trail_at(int(at));
    }
}
)";
// Buffers as above; there are no visits.
HandProgram best_physarum() {
    constexpr int kMany = 4, kRows = 16;
    HandProgram out;
    out.kernels = {
        {"copy",
         kBestPhysarumCopy,
         {64, 1, 1},
         {int(kPhysarumCells) / 2048, 1, 1},
         {{"trail", As::Texels4, 0}, {"copy", As::Vec4s, 4, true}},
         {}},
        {"blur",
         kBestPhysarumBlur,
         {kPhysarumSide / 4, 1, 1},
         {1, kPhysarumSide / kRows, 1},
         {{"trail", As::Texels, 0}, {"trail4", As::Texels4, 0}, {"new_trail", As::Vec4s, 4, true}},
         {{"ROWS", kRows}}},
        {"deposit",
         kBestPhysarumDeposit,
         {64, 1, 1},
         {kPhysarumAgents / 4096, 1, 1},
         {{"x", As::Texels4, 5}, {"y", As::Texels4, 6}, {"trail", As::Floats, 4, true}},
         {}}};
    out.temporaries = {kPhysarumCells};
    out.steps = {{0, {}}};
    for (int k = 0; k < kPhysarumSteps; ++k) {
        out.kernels.push_back({"agents",
                               kBestPhysarumAgents,
                               {64, 1, 1},
                               {kPhysarumAgents / 256 / kMany, 1, 1},
                               {{"trail", As::Texels, 0},
                                {"x", As::Texels4, 1},
                                {"y", As::Texels4, 2},
                                {"heading", As::Texels4, 3},
                                {"new_x", As::Vec4s, 5, true},
                                {"new_y", As::Vec4s, 6, true},
                                {"new_heading", As::Vec4s, 7, true}},
                               {{"AGENTS", kPhysarumAgents}, {"STEP", k}, {"MANY", kMany}}});
        const int from = k % 2 == 0 ? 4 : 8, to = k % 2 == 0 ? 8 : 4;
        const int agents = k + 3;
        if (k == 0)
            out.steps.push_back({agents, {from, 1, 2, 3, 5, 6, 7}});
        else
            out.steps.push_back({agents, {from, 5, 6, 7, 5, 6, 7}});
        out.steps.push_back({2, {5, 6, from}});
        out.steps.push_back({1, {from, from, to}});
    }
    return out;
}

Contest physarum(Physarum (*program)(Physarum, PhysarumRules)) {
    const auto agents = f32("agents");
    auto f = compile(
        program, {f32("h", "w"), agents, agents, agents, f32(), f32(), f32(), f32(), f32(), f32()});
    PhysarumOnHost mould{
        hills(kPhysarumSide, kPhysarumSide, 9), numbers(kPhysarumAgents, 0, kPhysarumSide, 1),
        numbers(kPhysarumAgents, 0, kPhysarumSide, 2), numbers(kPhysarumAgents, 0, 6.2831853f, 3)};
    for (float& value : mould.trail.values) value = 4.0f + 3.0f * value;
    // Operations per agent and step: its direction rotated to both sides and by its turn takes 8
    // products and 6 sums, three places 6 products, 6 sums and 6 roundings, the comparisons 4, and
    // the step 2 sums and 6 to come back around the edge; it reads three cells and adds to one. Per
    // cell and step 4 sums of neighbours and one product. Between the steps all may stay in caches.
    const double turns = double(kPhysarumSteps) * kPhysarumAgents;
    const double bytes = 4.0 * double(kPhysarumCells) + 12.0 * kPhysarumAgents;
    return {
        .least = {bytes, bytes, 44.0 * turns + 5.0 * kPhysarumSteps * double(kPhysarumCells),
                  4.0 * turns},
        .arguments = {mould.trail.values, mould.x, mould.y, mould.heading},
        .results = {kPhysarumCells, kPhysarumAgents, kPhysarumAgents, kPhysarumAgents},
        .firn =
            [f, trail = tensor(mould.trail.values, {kPhysarumSide, kPhysarumSide}),
             x = tensor(mould.x), y = tensor(mould.y), heading = tensor(mould.heading)] {
                auto [a, b, c, d] =
                    f(Physarum{trail, x, y, heading},
                      PhysarumRules{kPhysarumSense, kPhysarumReach, kPhysarumTurn, kPhysarumSpeed,
                                    kPhysarumDeposit, kPhysarumDecay});
                return std::vector<Tensor>{a, b, c, d};
            },
        .best = best_physarum(),
        .plain = plain_physarum(),
        // A rounding may put a feeler into another cell; then the agent goes elsewhere, and so do
        // those that would have met its trail: three in 131,072 after two steps, 180 after eight.
        .tolerance = 0.05,
        .difference = share_that_differs,
        .expected = [=] { return host_physarum(mould); }};
}

constexpr const char* kPhysarumFar =
    "deposits meet by atomics, and agents and trail wait for one another in every step";

}  // namespace

void add_physarum(std::vector<Case>& cases) {
    cases.push_back(
        {"physarum", [] { return physarum(physarum_steps); }, Section::Holdout, kPhysarumFar});
    cases.push_back({"physarum_kernel", [] { return physarum(physarum_steps_kernel); },
                     Section::Holdout, kPhysarumFar});
}

}  // namespace firn::bench
