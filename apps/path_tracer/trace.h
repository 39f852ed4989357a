// Traces one sample of every pixel: a path from the eye, lit by the sky at each of its bounces.
#pragma once
#include <array>
#include <compare>

#include "apps/path_tracer/scene.h"
#include "apps/path_tracer/sky.h"

namespace firn::path_tracer {

/// An eye that looks at a point from around it. Angles in radians, lengths in the scene's.
struct Camera {
    float around = 0.62f, above = 0.17f, distance = 4.8f;
    std::array<float, 3> at{0, -0.05f, 0};
    float view = 0.66f;     // the picture's height as an angle
    float aperture = 0.0f;  // diameter of the lens; sharp where it looks at
    friend bool operator==(const Camera&, const Camera&) = default;
};

/// The place of a camera; right and up reach from the middle to the edges of the picture, at the
/// distance of `forward`, which is 1.
struct View {
    std::array<float, 3> eye, forward, right, up;
};
View view_of(const Camera& camera, float aspect);

/// All that a sample depends on beside its number: where it changes, the sum starts again.
struct Settings {
    int scene = 0;
    Camera camera;
    std::array<float, 3> colour{0.86f, 0.62f, 0.36f};
    float roughness = 0.3f, metal = 0.0f, coat = 1.0f, ground = 0.45f;
    float sky_turn = 0.22f, sky_strength = 1.0f;
    int bounces = 5;
    friend bool operator==(const Settings&, const Settings&) = default;
};

/// Sums of what the samples so far have seen, f32[h, w] for each of red, green and blue.
struct Film {
    std::array<Tensor, 3> sum;
    int samples = 0;
};
Film make_film(int height, int width);

/// A compiled scene under a sky.
class Tracer {
  public:
    Tracer(SceneName scene, const Sky& sky);
    /// Adds one sample to every pixel. Same settings, seed and number: the same light.
    void add_sample(Film& film, const Settings& settings, uint32_t seed) const;
    const Function& function() const { return function_; }

  private:
    Function function_;
};

/// Film as a picture f32[h, w, 3] from 0 to 1: exposed (in stops), and mapped to the range of a
/// screen. K. Narkowicz, "ACES Filmic Tone Mapping Curve", 2016.
Tensor developed(const Film& film, float exposure);
/// The mean of the samples, f32[h, w, 3], linear.
Tensor linear_picture(const Film& film);

}  // namespace firn::path_tracer
