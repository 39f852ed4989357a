// The scene: distances to surfaces, and their materials.
#pragma once
#include <firn/firn.h>

#include <functional>
#include <string>
#include <vector>

namespace firn::path_tracer {

/// The direction has length 1.
struct Ray {
    vec3 origin, direction;
    vec3 at(const Tensor& t) const { return origin + direction * t; }
};

/// The nearest surface along a ray; nothing was met where the distance is kFar.
struct Hit {
    Tensor distance;  // f32
    Tensor object;    // i32, of the scene's own numbering; 0 is the ground
};
constexpr float kFar = 1e4f;

/// A surface at a point: diffuse below a rough reflecting coat, or metal.
struct Surface {
    vec3 normal, colour;
    Tensor roughness;  // from 0, a mirror, to 1
    Tensor metal;      // 0 or 1, or between
    Tensor coat;       // strength of the reflection of what is no metal; 1 is glass
};

/// The properties of the object in the middle that sliders change, and the ground's brightness.
struct Material {
    vec3 colour;
    Tensor roughness, metal, coat, ground;
};

struct Scene {
    std::function<Hit(const Ray&)> nearest;
    std::function<Surface(const vec3& point, const Tensor& object)> surface;
};

enum class SceneName : int { Sponge, Bulb, Spheres, Furnace };
std::vector<std::string> scene_names();
/// The furnace is a single ball without ground: what is around it is all there is to see.
Scene make_scene(SceneName name, const Material& material);

/// The distance along the ray to the sphere, kFar where it is missed; from inside, the way out.
Tensor sphere_distance(const Ray& ray, const vec3& centre, const Tensor& radius);
/// Distances to a Menger sponge in [-1, 1]^3, never too long. I. Quilez, "Menger fractal", 2011.
Tensor sponge_distance(const vec3& p);
/// The same for the Mandelbulb of power 8, by polynomials. I. Quilez, "Mandelbulb", 2009.
Tensor bulb_distance(const vec3& p);

}  // namespace firn::path_tracer
