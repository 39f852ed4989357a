// Writes the programs that the hosts run: waves on a membrane, the edges of a picture, and ink in
// water with its picture.
#include <firn/firn.h>
#include <firn/saved_programs.h>

#include <filesystem>
#include <iostream>
#include <tuple>

#include "apps/fluid/simulation.h"
#include "apps/fluid/views.h"

using namespace firn;
using namespace firn::fluid;

namespace {

/// All devices: those like the session's, and those on which a host enabled no feature.
const std::vector<std::string> kDevices{"vulkan", "vulkan-least"};

/// wave(u, v, dt): a step of waves on a membrane of any size, f32[n, m].
void save_wave(const std::string& path) {
    auto wave = compile(
        [](Tensor u, Tensor v, Tensor dt) {
            auto [i, j] = indices<2>(u.shape());
            Tensor laplacian = u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1) - 4.0f * u;
            Tensor v_next = v + dt * laplacian;
            return std::tuple{u + dt * v_next, v_next};
        },
        {f32("n", "m"), f32("n", "m"), f32()});
    Gui panel;
    Param<float> dt{panel, "dt", 0.4f, {.min = 0, .max = 0.5, .help = "time step"}};
    const Tensor still = zeros({64, 64});
    save_program(path, wave, {.devices = kDevices}, still, still, dt);
}

/// edges(picture, strength): what differs between neighbours of a picture of any size, f32[h, w,
/// 4].
void save_edges(const std::string& path) {
    auto edges = compile(
        [](Tensor picture, Tensor strength) {
            auto [i, j, channel] = indices<3>(picture.shape());
            Tensor here = picture(i, j, channel);
            Tensor edge =
                abs(picture(i + 1, j, channel) - here) + abs(picture(i, j + 1, channel) - here);
            return select(channel == 3, here, min(strength * edge, 1.0f));
        },
        {f32("h", "w", 4), f32()});
    Gui panel;
    Param<float> strength{panel, "strength", 2.0f, {.min = 0, .max = 8, .help = "of the edges"}};
    save_program(path, edges, {.devices = kDevices}, zeros({240, 320, 4}), strength);
}

/// The results of the fluid: its next state, and what is seen of it.
struct Shown {
    Flow flow;
    Tensor picture;  // f32[n, m, 4], from 0 to 1
};

/// A brush that moves by itself: two loops of different speed and changing colour.
Brush brush_at(const Tensor& time, const Tensor& dt, const Tensor& ink, int n, int m) {
    const auto y = [&](const Tensor& t) {
        return float(n) * (0.5f + 0.30f * sin(2.3f * t + 0.6f));
    };
    const auto x = [&](const Tensor& t) {
        return float(m) * (0.5f + 0.38f * sin(1.6f * t - 0.9f));
    };
    const auto colour = [&](float phase) { return 0.55f + 0.4f * sin(0.8f * time + phase); };
    const Tensor next = time + dt, second = max(dt, 1e-6f);
    return {.from_y = y(time),
            .from_x = x(time),
            .to_y = y(next),
            .to_x = x(next),
            .radius = 0.04f * float(std::min(n, m)),
            .u = (x(next) - x(time)) / second,
            .v = (y(next) - y(time)) / second,
            .strength = 0.5f,
            .ink = ink,
            .colour = {colour(0), colour(2.1f), colour(4.2f)}};
}

/// fluid(u, v, pressure, red, green, blue, ...): a step of the fluid and its picture. Fluid at rest
/// is zeros; a host sets the parameter `time`, and gives each result but the picture back.
void save_fluid(const std::string& path, int n, int m) {
    const Tensor open = default_obstacles(n, m);
    const ArgSpec field = f32(n, m), number = f32();
    auto fluid = compile(
        [open, levels = pyramid(open), n, m](Flow flow, Tensor time, Tensor dt, Tensor confinement,
                                             Tensor velocity_loss, Tensor dye_loss, Tensor ink,
                                             Tensor cycles, Tensor sweeps) {
            const Constants constants{
                dt,     confinement, pow(1.0f - velocity_loss, dt), pow(1.0f - dye_loss, dt),
                cycles, sweeps};
            const FlowStep next =
                step(flow, open, levels, brush_at(time, dt, ink, n, m), constants);
            const Tensor seen = dye_picture(next.flow, open);
            auto [i, j] = indices<2>(Shape{n, m});
            std::vector<Tensor> channels;
            for (const float water : {0.04f, 0.09f, 0.15f})
                channels.push_back(seen(i, j, int(channels.size())) + water);
            channels.push_back(ones({n, m}));
            return Shown{next.flow, stack(channels, {.axis = 2})};
        },
        {field, field, field, field, field, field,  // the flow
         number, number, number, number, number, number, i32(), i32()});
    Gui panel;
    Param<float> time{panel, "time", 0.0f, {.min = 0, .unit = "s", .help = "time of the frame"}};
    Param<float> dt{
        panel, "dt", 1.0f / 60, {.min = 0, .max = 0.05, .unit = "s", .help = "time step"}};
    Param<float> confinement{
        panel,
        "confinement",
        2.0f,
        {.min = 0, .max = 30, .help = "vorticity confinement: keeps vortices alive"}};
    Param<float> velocity_loss{
        panel,
        "velocity_loss",
        0.05f,
        {.min = 0, .max = 0.9, .help = "share of the velocity that is lost per second"}};
    Param<float> dye_loss{
        panel,
        "dye_loss",
        0.1f,
        {.min = 0, .max = 0.9, .help = "share of the dye that is lost per second"}};
    Param<float> ink{
        panel, "ink", 0.4f, {.min = 0, .max = 1, .help = "amount of dye that the brush adds"}};
    Param<int> cycles{
        panel, "cycles", 1, {.min = 0, .max = 8, .help = "multigrid cycles of the pressure solve"}};
    Param<int> sweeps{
        panel, "sweeps", 3, {.min = 1, .max = 8, .help = "smoothing sweeps of the finest level"}};
    const Tensor still = zeros({n, m});
    save_program(path, fluid, {.devices = kDevices},
                 Flow{still, still, still, {still, still, still}}, time, dt, confinement,
                 velocity_loss, dye_loss, ink, cycles, sweeps);
}

}  // namespace

int main(int argc, char** argv) {
    // No driver is needed to build the hosts.
    SessionScope scope(Session::interpreter());
    if (argc != 2) {
        std::cerr << "usage: save_programs FOLDER\n"
                     "Writes wave.firn, edges.firn and fluid.firn into the folder.\n";
        return 2;
    }
    try {
        const std::filesystem::path folder = argv[1];
        save_wave((folder / "wave.firn").string());
        save_edges((folder / "edges.firn").string());
        save_fluid((folder / "fluid.firn").string(), 128, 128);
        return 0;
    } catch (const std::exception& error) {
        std::cerr << "save_programs: " << error.what() << "\n";
        return 1;
    }
}
