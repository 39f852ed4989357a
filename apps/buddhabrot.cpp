// The Buddhabrot: the orbits of points that leave the Mandelbrot set, gathered over many frames.
#include <firn/firn.h>

using namespace firn;

namespace {

constexpr int kOrbits = 8192, kTries = 64, kPart = 16;  // per frame; per orbit; steps at once

struct Orbit {
    Tensor x, y;
    void step(const Tensor& cx, const Tensor& cy) {
        Tensor next = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = next;
    }
    Tensor gone() const { return x * x + y * y > 16.0f; }
};

/// The first random points whose orbits leave before `limit`, and the number of iterations that
/// they take; 0: none.
struct Starts {
    Tensor x, y, iterations;
};
Starts find_starts(const Tensor& seed, const Tensor& limit) {
    Tensor cx = zeros({kOrbits}), cy = cx, iterations = zeros({kOrbits}, i32);
    Generator random{arange(kOrbits), seed};
    for (Tensor attempt : loop(kTries)) {
        cx = 4.0f * random.uniform() - 2.5f, cy = 3.0f * random.uniform() - 1.5f;
        Orbit orbit{cx, cy};
        iterations = zeros({kOrbits}, i32);
        for (Tensor iteration : loop(min(limit, 900))) {
            orbit.step(cx, cy);
            iterations += 1;
            if_(orbit.gone(), [&] { break_(); });
        }
        iterations = select(orbit.gone() & (iterations > 5), iterations, 0);
        if_(iterations > 0, [&] { break_(); });
    }
    return {cx, cy, iterations};
}

}  // namespace

int main(int argc, char** argv) {
    App app({.name = "buddhabrot",
             .help = "The density of orbits that escape from the Mandelbrot set.",
             .size = {1000, 1000},
             .devices = 8});
    Param<int> limit{
        app, "limit", 720, {.min = 50, .max = 900, .help = "iterations of the longest orbits"}};
    Param<float> exposure{app, "exposure", 1.0f, {.min = 0.1, .max = 10, .log = true}};
    // The layers hold short, longer and the longest orbits.
    const auto compile_gather = [] {
        return compile(
            [](Tensor hits, Tensor limit, Tensor parts, Tensor seed) {
                auto [cx, cy, iterations] = find_starts(seed, limit);
                Orbit orbit{cx, cy};
                auto [n, k] = indices<2>({kOrbits, kPart});
                Tensor scale = cast<float>(Tensor(hits.size(0))) / 3.0f;
                for (Tensor part : loop(parts)) {
                    Orbit at{orbit.x(n), orbit.y(n)};
                    for (Tensor t : loop(kPart)) if_(t < k, [&] { at.step(cx(n), cy(n)); });
                    // The picture stands upright: the real axis goes down.
                    Tensor i = cast<int>(floor((at.x + 2.05f) * scale)),
                           j = cast<int>(floor(at.y * scale + 0.5f * hits.size(1)));
                    Tensor last = iterations(n),
                           layer = cast<int>(last > limit / 40) + cast<int>(last > limit / 6);
                    if_(part * kPart + k < last, [&] { scatter_add(hits(i, j, layer), 1.0f); });
                    for (Tensor t : loop(kPart)) orbit.step(cx, cy);
                }
                return hits;
            },
            {f32("h", "w", 3), i32(), i32(), i32()});
    };
    return app.run(argc, argv, [&](Window& window) {
        // Each device gathers orbits of its own; what they hit is added up.
        struct Gathering {
            Session session;
            decltype(compile_gather()) gather;
            Tensor hits;
        };
        std::vector<Gathering> devices;
        for (const Session& session : app.devices()) {
            const SessionScope scope(session);
            devices.push_back({session, compile_gather(), Tensor()});
        }
        auto develop = compile(
            [](Tensor hits, Tensor exposure) {
                auto [i, j] = indices<2>({hits.size(0), hits.size(1)});
                Tensor light = 0.3f * exposure * hits / (mean(hits, {.axis = {0, 1}}) + 1e-6f);
                std::vector<Tensor> channels;
                const float blue[] = {.04f, .10f, .34f}, teal[] = {.03f, .22f, .20f},
                            amber[] = {.60f, .30f, .09f};
                for (size_t c = 0; c < 3; ++c) {
                    Tensor x = blue[c] * light(i, j, 0) + teal[c] * light(i, j, 1) +
                               amber[c] * light(i, j, 2);
                    channels.push_back(sqrt(x * (x + 0.6f) / (x * (x + 0.9f) + 1.0f)));
                }
                return stack(channels, {.axis = 2});
            },
            {f32("h", "w", 3), f32()});
        WindowSize size;
        const int count = int(devices.size());
        for (int frame = 0, shown = 0; window.open(); ++frame) {
            const bool anew = window.reset() || limit != shown || size != window.pixels();
            shown = limit, size = window.pixels();
            for (int k = 0; k < count; ++k) {
                Gathering& on = devices[size_t(k)];
                const SessionScope scope(on.session);
                if (anew) on.hits = zeros({size.height, size.width, 3});
                if (anew || window.playing())
                    on.hits = on.gather(on.hits, limit, limit / kPart + 1,
                                        int(app.seed()) + frame * count + k);
            }
            Tensor hits = devices[0].hits;
            for (int k = 1; k < count; ++k) hits.add_from(devices[size_t(k)].hits);
            window.show(develop(hits, exposure));
        }
    });
}
