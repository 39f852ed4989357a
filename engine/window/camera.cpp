// The motion and the projection of cameras.
#include "engine/window/camera.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "compiler/base/error.h"

namespace firn {
namespace {

using Vector = std::array<float, 3>;

/// The limit of the pitch, short of straight up and down, where right and left would change places.
constexpr float kSteepest = 1.55f;  // radians
/// The zoom for each step of the wheel, as a share of the distance.
constexpr float kZoomStep = 0.12f;
/// The near plane as a share of the distance. Depths are reversed floats, which are precise enough
/// for it.
constexpr float kNear = 1e-3f;

struct Axes {
    Vector right, up, back;
};

Axes axes_of(const DrawCamera& camera) {
    const float sy = std::sin(camera.yaw), cy = std::cos(camera.yaw);
    const float sp = std::sin(camera.pitch), cp = std::cos(camera.pitch);
    return {{cy, 0, -sy}, {-sp * sy, cp, -sp * cy}, {cp * sy, sp, cp * cy}};
}

void add(Vector& to, const Vector& direction, float factor) {
    for (size_t k = 0; k < 3; ++k) to[k] += factor * direction[k];
}

float dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

}  // namespace

void move_camera(DrawCamera& camera, const CameraMotion& motion) {
    // The field of view is over the shorter side; a height is near enough for both.
    const float height = 2 * camera.distance * std::tan(camera.field_of_view / 2);
    const Axes before = axes_of(camera);
    add(camera.target, before.right, -motion.shift_right * height + motion.right * camera.distance);
    add(camera.target, before.up, motion.shift_down * height + motion.up * camera.distance);
    add(camera.target, before.back, -motion.forward * camera.distance);
    Vector eye = camera.target;
    add(eye, before.back, camera.distance);
    camera.yaw = std::remainder(camera.yaw + motion.turn_right, 2 * 3.14159265f);
    camera.pitch = std::clamp(camera.pitch + motion.turn_up, -kSteepest, kSteepest);
    if (camera.fly) {
        add(eye, axes_of(camera).back, -camera.distance);
        camera.target = eye;
    }
    camera.distance *= std::exp(-kZoomStep * motion.nearer);
}

CameraProjection projection_of(const DrawCamera& camera, float proportion) {
    float sum = camera.yaw + camera.pitch;
    for (float each : camera.target) sum += each;
    if (!std::isfinite(sum) || !(camera.distance > 0) || !std::isfinite(camera.distance))
        throw UserError(
            "draw: a camera needs finite numbers and a distance above 0, and has a distance of " +
            std::to_string(camera.distance));
    if (!(camera.field_of_view > 0 && camera.field_of_view < 3.1f))
        throw UserError("draw: a camera's field of view is between 0 and 3.1 radians, not " +
                        std::to_string(camera.field_of_view));
    const Axes axes = axes_of(camera);
    Vector eye = camera.target;
    add(eye, axes.back, camera.distance);
    const float near = kNear * camera.distance, focal = 1 / std::tan(camera.field_of_view / 2);
    CameraProjection out;
    out.focal = {focal / std::max(proportion, 1.0f), -focal * std::min(proportion, 1.0f)};
    const auto row = [&](size_t index, const Vector& axis, float factor) {
        for (size_t k = 0; k < 3; ++k) out.to_clip[4 * k + index] = factor * axis[k];
        out.to_clip[12 + index] = -factor * dot(axis, eye);
    };
    row(0, axes.right, out.focal[0]);
    row(1, axes.up, out.focal[1]);
    out.to_clip[14] = near;
    row(3, axes.back, -1);
    return out;
}

}  // namespace firn
