// Draws bodies: splats of light that add up, trails, a glow, and tone mapping.
#pragma once
#include "apps/n_body/bodies.h"

namespace firn::n_body {

/// Looks at the origin from `distance`; angles in radians.
struct Camera {
    float turn = 0.5f, tilt = 0.65f, distance = 5.0f;
};
/// Moves the camera by the mouse: dragging turns it, the wheel brings it closer.
void move(Camera& camera, const Mouse& mouse);

enum class Colours : uint8_t { Galaxy, Speed };
std::vector<std::string> colour_names();

struct Look {
    Colours colours = Colours::Galaxy;
    float size = 1.0f;      // of a body, times the default
    float trail = 0.8f;     // share of the light that stays from frame to frame
    float glow = 0.35f;     // share of the light that is spread
    float exposure = 3.0f;  // brightness of the whole
    float shutter = 0.0f;   // time in which bodies move while they are drawn
};

/// Light per pixel, linear; one f32[h, w] for each colour.
struct Light {
    Tensor red, green, blue;
};
/// The camera, rank 0.
struct Shot {
    Tensor turn, tilt, distance, size, by_speed, kept, shutter;
};
using SplatFunction = Compiled<Light(Light, Bodies, Shot)>;
using DevelopFunction = Compiled<Tensor(Light, Tensor, Tensor)>;

struct Painter {
    Light light;
    SplatFunction splat;
    DevelopFunction develop;
};
/// A black picture, and what draws on it; serves every number of bodies.
Painter make_painter(int height, int width);
void clear(Painter& painter, int height, int width);
/// Adds the bodies' light to what is left of the frame before, each over some pixels.
void draw(Painter& painter, const Bodies& bodies, const Camera& camera, const Look& look);
/// The light as colours from 0 to 1, f32[h, w, 3].
Tensor picture(const Painter& painter, const Look& look);

}  // namespace firn::n_body
