// GGX with visible normals: E. Heitz, "Sampling the GGX Distribution of Visible Normals", 2018.
#include "apps/path_tracer/reflection.h"

namespace firn::path_tracer {
namespace {

constexpr float kPi = 3.14159265f;

/// Schlick's share of light reflected at an angle; it rises to 1 at grazing unless there is no
/// coat.
vec3 fresnel(const vec3& head_on, const Tensor& cosine) {
    Tensor away = clamp(1.0f - cosine, 0.0f, 1.0f), squared = away * away;
    Tensor grazing = min(head_on.y * 50.0f, 1.0f);
    return head_on + (max(vec3(grazing), head_on) - head_on) * (squared * squared * away);
}

/// Smith's share of the surface that is seen from a direction with this cosine.
Tensor seen(const Tensor& cosine, const Tensor& alpha) {
    Tensor a2 = alpha * alpha;
    return 2.0f * cosine / (cosine + sqrt(a2 + (1.0f - a2) * cosine * cosine));
}

/// A direction in the surface's own frame, the normal last.
vec3 local(const Shading& at, const vec3& v) {
    return vec3(dot(v, at.tangent), dot(v, at.other), dot(v, at.surface.normal));
}
vec3 world(const Shading& at, const vec3& v) {
    return at.tangent * v.x + at.other * v.y + at.surface.normal * v.z;
}

vec3 visible_normal(const vec3& eye, const Tensor& alpha, const Tensor& first,
                    const Tensor& second) {
    vec3 stretched = normalize(vec3(eye.x * alpha, eye.y * alpha, eye.z));
    Tensor flat = stretched.x * stretched.x + stretched.y * stretched.y;
    vec3 across =
        select(flat > 1e-12f, vec3(-stretched.y, stretched.x, 0.0f) * rsqrt(max(flat, 1e-12f)),
               vec3(1, 0, 0));
    vec3 along = cross(stretched, across);
    Tensor radius = sqrt(first), angle = second * (2.0f * kPi);
    Tensor a = radius * cos(angle), share = 0.5f * (1.0f + stretched.z);
    Tensor b = mix(sqrt(max(1.0f - a * a, 0.0f)), radius * sin(angle), share);
    vec3 h = across * a + along * b + stretched * sqrt(max(1.0f - a * a - b * b, 0.0f));
    return normalize(vec3(h.x * alpha, h.y * alpha, max(h.z, 1e-6f)));
}

Tensor brightness(const vec3& c) { return dot(c, vec3(0.2126f, 0.7152f, 0.0722f)); }

}  // namespace

Shading shading(const Surface& surface, const vec3& eye) {
    Shading at;
    at.surface = surface;
    at.eye = eye;
    // T. Duff et al., "Building an Orthonormal Basis, Revisited", 2017.
    const vec3& n = surface.normal;
    Tensor side = select(n.z < 0.0f, -1.0f, 1.0f), a = -1.0f / (side + n.z), b = n.x * n.y * a;
    at.tangent = vec3(1.0f + side * n.x * n.x * a, side * b, -side * n.x);
    at.other = vec3(b, side + n.y * n.y * a, -n.y);
    at.alpha = max(surface.roughness * surface.roughness, 2e-3f);
    at.head_on = mix(vec3(0.04f * surface.coat), surface.colour, surface.metal);
    Tensor cosine = dot(n, eye);
    // The base receives only the light that the coat does not reflect at this angle, so that
    // nothing is reflected twice.
    vec3 coat = fresnel(at.head_on, cosine);
    at.diffuse = surface.colour * (1.0f - surface.metal) * (1.0f - coat);
    Tensor of_coat = brightness(coat), of_base = brightness(at.diffuse);
    at.coat_share = of_coat / max(of_coat + of_base, 1e-6f);
    return at;
}

Reflected reflected(const Shading& at, const vec3& direction) {
    vec3 eye = local(at, at.eye), out = local(at, direction);
    Tensor eye_cosine = max(eye.z, 1e-4f), cosine = max(out.z, 0.0f);
    vec3 half = normalize(eye + out + vec3(0, 0, 1e-7f));
    Tensor a2 = at.alpha * at.alpha;
    // 1 - h.z^2 (1 - a2), written so that mirrors keep their digits.
    Tensor spread = half.x * half.x + half.y * half.y + half.z * half.z * a2;
    Tensor normals = a2 / (kPi * spread * spread);
    Tensor seen_eye = seen(eye_cosine, at.alpha), seen_out = seen(cosine, at.alpha);
    Tensor common = normals * seen_eye / (4.0f * eye_cosine);
    vec3 coat = fresnel(at.head_on, dot(half, out)) * (common * seen_out);
    Tensor base_chance = cosine * (1.0f / kPi);
    Tensor above = out.z > 0.0f;
    return {select(above, coat + at.diffuse * base_chance, 0.0f),
            select(above, mix(base_chance, common, at.coat_share), 0.0f)};
}

vec3 follow(const Shading& at, const Tensor& which, const Tensor& first, const Tensor& second) {
    vec3 eye = local(at, at.eye);
    eye.z = max(eye.z, 1e-4f);
    vec3 half = visible_normal(eye, at.alpha, first, second);
    vec3 coat = reflect(-eye, half);
    Tensor radius = sqrt(first), angle = second * (2.0f * kPi);
    vec3 base(radius * cos(angle), radius * sin(angle), sqrt(max(1.0f - first, 0.0f)));
    return normalize(world(at, select(which < at.coat_share, coat, base)));
}

}  // namespace firn::path_tracer
