// Direct volume rendering: rays through a grid of densities, coloured by a table and lit by the
// density's gradient.
#include <firn/firn.h>
#include <firn/shading.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tests/bench/holdout/holdout.h"

namespace firn::bench {
namespace {

constexpr int kVolumeSide = 96, kVolumeLevels = 256, kVolumeRows = 128, kVolumeColumns = 128;
constexpr int64_t kVolumeVoxels = int64_t(kVolumeSide) * kVolumeSide * kVolumeSide;
constexpr int64_t kVolumePixels = int64_t(kVolumeRows) * kVolumeColumns;
constexpr float kVolumeAngle = 0.7f, kVolumeRise = 0.4f, kVolumeAway = 160.0f, kVolumeWide = 0.65f;
// A ray ends where less than this of the light behind comes through.
constexpr float kVolumeDark = 1.0f / 255.0f;
// Counted by the host's code: samples with some opacity, and voxels that lie around samples.
constexpr double kVolumeSeen = 219603, kVolumeTouched = 731965;

/// A ray in voxels; x goes along the volume's last axis.
struct VolumeRay {
    vec3 origin, direction;
    Tensor enter, leave;
};

/// Returns the ray through the pixel in row i and column j, from a camera that looks at the
/// volume's middle.
VolumeRay volume_ray(const Tensor& i, const Tensor& j, const Tensor& volume, const Tensor& angle) {
    vec3 last(volume.size(2) - 1, volume.size(1) - 1, volume.size(0) - 1), centre = 0.5f * last;
    vec3 away(std::cos(kVolumeRise) * sin(angle), std::sin(kVolumeRise),
              std::cos(kVolumeRise) * cos(angle));
    vec3 right = normalize(cross(vec3(0.0f, 1.0f, 0.0f), away)), up = cross(away, right);
    Tensor x = (j + 0.5f - 0.5f * kVolumeColumns) * (kVolumeWide / kVolumeRows);
    Tensor y = (0.5f * kVolumeRows - i - 0.5f) * (kVolumeWide / kVolumeRows);
    vec3 origin = centre + kVolumeAway * away;
    vec3 direction = normalize(x * right + y * up - away);
    RayHit box = ray_box(origin, direction, vec3(0.0f), last);
    return {origin, direction, box.enter, box.leave};
}

Tensor volume_sample(const Tensor& volume, const vec3& p) {
    vec3 low = floor(p), f = p - low;
    ivec3 c(low);
    auto row = [&](int y, int z) {
        return mix(volume(c.z + z, c.y + y, c.x), volume(c.z + z, c.y + y, c.x + 1), f.x);
    };
    return mix(mix(row(0, 0), row(1, 0), f.y), mix(row(0, 1), row(1, 1), f.y), f.z);
}

vec4 volume_colour(const Tensor& transfer, const Tensor& density) {
    Tensor at = clamp(density, 0.0f, 1.0f) * (transfer.size(0) - 1), low = floor(at);
    Tensor k = low.as(i32), f = at - low;
    auto channel = [&](int c) { return mix(transfer(k, c), transfer(k + 1, c), f); };
    return {channel(0), channel(1), channel(2), channel(3)};
}

/// J. Blinn, "Models of Light Reflection for Computer Synthesized Pictures", 1977.
vec3 volume_light(const vec3& colour, const vec3& gradient, const vec3& direction) {
    vec3 normal = -gradient / max(length(gradient), 1e-6f);
    vec3 light = normalize(vec3(0.5f, 0.8f, 0.6f)), half = normalize(light - direction);
    Tensor diffuse = max(dot(normal, light), 0.0f);
    Tensor specular = pow(max(dot(normal, half), 0.0f), 20.0f);
    return colour * (0.3f + 0.7f * diffuse) + 0.4f * specular;
}

/// M. Levoy, "Display of Surfaces from Volume Data", 1988; front to back, until little comes
/// through: M. Levoy, "Efficient Ray Tracing of Volume Data", 1990.
Tensor volume_render(Tensor volume, Tensor transfer, Tensor angle) {
    auto [i, j] = indices<2>(Shape{kVolumeRows, kVolumeColumns});
    VolumeRay ray = volume_ray(i, j, volume, angle);
    auto [z, y, x] = indices<3>(volume.shape());
    Tensor along_x = 0.5f * (volume(z, y, x + 1) - volume(z, y, x - 1));
    Tensor along_y = 0.5f * (volume(z, y + 1, x) - volume(z, y - 1, x));
    Tensor along_z = 0.5f * (volume(z + 1, y, x) - volume(z - 1, y, x));
    vec3 sum(zeros({kVolumeRows, kVolumeColumns}));
    Tensor through = ones({kVolumeRows, kVolumeColumns});
    for (Tensor step : loop(2 * volume.size(0))) {
        Tensor t = ray.enter + step;
        Tensor goes_on = (t < ray.leave) & (through >= kVolumeDark);
        if_(!goes_on, [&] { break_(); });
        vec3 p = ray.origin + t * ray.direction;
        vec4 colour = volume_colour(transfer, volume_sample(volume, p));
        vec3 gradient(volume_sample(along_x, p), volume_sample(along_y, p),
                      volume_sample(along_z, p));
        sum += through * colour.w * volume_light(colour.rgb(), gradient, ray.direction);
        through *= 1.0f - colour.w;
    }
    return stack({sum.x, sum.y, sum.z}, {.axis = 2});
}
Tensor volume_render_kernel(Tensor volume, Tensor transfer, Tensor angle) {
    Tensor picture = zeros({kVolumeRows, kVolumeColumns, 3});
    kernel({kVolumeRows, kVolumeColumns}, [&](Tensor i, Tensor j) {
        VolumeRay ray = volume_ray(i, j, volume, angle);
        vec3 sum(0.0f);
        Tensor through = 1.0f, t = ray.enter;
        while_(
            [&] { return (t < ray.leave) & (through >= kVolumeDark); },
            [&] {
                vec3 p = ray.origin + t * ray.direction;
                vec4 colour = volume_colour(transfer, volume_sample(volume, p));
                if_(colour.w > 0.0f, [&] {
                    auto across = [&](const vec3& d) {
                        return 0.5f * (volume_sample(volume, p + d) - volume_sample(volume, p - d));
                    };
                    vec3 gradient(across(vec3(1, 0, 0)), across(vec3(0, 1, 0)),
                                  across(vec3(0, 0, 1)));
                    sum += through * colour.w * volume_light(colour.rgb(), gradient, ray.direction);
                    through *= 1.0f - colour.w;
                });
                t += 1.0f;
            });
        picture(i, j, 0) = sum.x, picture(i, j, 1) = sum.y, picture(i, j, 2) = sum.z;
    });
    return picture;
}

using VolumeVector = std::array<double, 3>;

VolumeVector volume_scaled(const VolumeVector& v, double by) {
    return {v[0] * by, v[1] * by, v[2] * by};
}
double volume_dot(const VolumeVector& a, const VolumeVector& b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
VolumeVector volume_normalized(const VolumeVector& v) {
    return volume_scaled(v, 1 / std::sqrt(volume_dot(v, v)));
}

/// Returns the interpolated density.
double host_volume_sample(const std::vector<float>& volume, const VolumeVector& p) {
    int low[3];
    double f[3];
    for (size_t k = 0; k < 3; ++k) {
        low[k] = int(std::floor(p[k]));
        f[k] = p[k] - low[k];
    }
    double sum = 0;
    for (int corner = 0; corner < 8; ++corner) {
        double weight = 1;
        int at[3];
        for (int k = 0; k < 3; ++k) {
            const int up = corner >> k & 1;
            at[k] = std::clamp(low[k] + up, 0, kVolumeSide - 1);
            weight *= up ? f[k] : 1 - f[k];
        }
        sum +=
            weight *
            double(
                volume[static_cast<size_t>((at[2] * kVolumeSide + at[1]) * kVolumeSide + at[0])]);
    }
    return sum;
}

VolumeVector host_volume_ray(const std::vector<float>& volume, const std::vector<float>& transfer,
                             const VolumeVector& origin, const VolumeVector& direction) {
    static const VolumeVector kLight = volume_normalized({0.5, 0.8, 0.6});
    VolumeVector sum{}, half{};
    for (size_t k = 0; k < 3; ++k) half[k] = kLight[k] - direction[k];
    half = volume_normalized(half);
    double enter = 0, leave = 1e9, through = 1;
    for (size_t k = 0; k < 3; ++k) {
        const double a = -origin[k] / direction[k],
                     b = (kVolumeSide - 1 - origin[k]) / direction[k];
        enter = std::max(enter, std::min(a, b));
        leave = std::min(leave, std::max(a, b));
    }
    for (double t = enter; t < leave && through >= double(kVolumeDark); t += 1) {
        VolumeVector p;
        for (size_t k = 0; k < 3; ++k) p[k] = origin[k] + t * direction[k];
        const double at = std::clamp(host_volume_sample(volume, p), 0.0, 1.0) * (kVolumeLevels - 1);
        const int low = int(at), high = std::min(low + 1, kVolumeLevels - 1);
        const auto channel = [&](int c) {
            const double a = double(transfer[static_cast<size_t>(low * 4 + c)]),
                         b = double(transfer[static_cast<size_t>(high * 4 + c)]);
            return a + (b - a) * (at - low);
        };
        const double alpha = channel(3);
        if (alpha <= 0) continue;
        VolumeVector normal;
        for (size_t k = 0; k < 3; ++k) {
            VolumeVector before = p, behind = p;
            before[k] -= 1;
            behind[k] += 1;
            normal[k] =
                0.5 * (host_volume_sample(volume, before) - host_volume_sample(volume, behind));
        }
        normal = volume_scaled(normal, 1 / std::max(std::sqrt(volume_dot(normal, normal)), 1e-6));
        const double diffuse = std::max(volume_dot(normal, kLight), 0.0),
                     specular = std::pow(std::max(volume_dot(normal, half), 0.0), 20);
        for (int c = 0; c < 3; ++c)
            sum[static_cast<size_t>(c)] +=
                through * alpha * (channel(c) * (0.3 + 0.7 * diffuse) + 0.4 * specular);
        through *= 1 - alpha;
    }
    return sum;
}

std::vector<float> host_volume_render(const std::vector<float>& volume,
                                      const std::vector<float>& transfer) {
    const double angle = double(kVolumeAngle), rise = double(kVolumeRise);
    const VolumeVector away{std::cos(rise) * std::sin(angle), std::sin(rise),
                            std::cos(rise) * std::cos(angle)};
    const VolumeVector right{std::cos(angle), 0, -std::sin(angle)};
    const VolumeVector up{away[1] * right[2] - away[2] * right[1],
                          away[2] * right[0] - away[0] * right[2],
                          away[0] * right[1] - away[1] * right[0]};
    VolumeVector origin = volume_scaled(away, double(kVolumeAway));
    for (double& o : origin) o += 0.5 * (kVolumeSide - 1);
    std::vector<float> out;
    out.reserve(size_t(kVolumePixels) * 3);
    for (int i = 0; i < kVolumeRows; ++i)
        for (int j = 0; j < kVolumeColumns; ++j) {
            const double x = (j + 0.5 - 0.5 * kVolumeColumns) * double(kVolumeWide) / kVolumeRows,
                         y = (0.5 * kVolumeRows - i - 0.5) * double(kVolumeWide) / kVolumeRows;
            VolumeVector direction;
            for (size_t k = 0; k < 3; ++k) direction[k] = x * right[k] + y * up[k] - away[k];
            for (double c : host_volume_ray(volume, transfer, origin, volume_normalized(direction)))
                out.push_back(float(c));
        }
    return out;
}

/// The camera's ray, and a density, in both versions.
constexpr const char* kVolumeRayCode = R"(
const float angle = 0.7, rise = 0.4, wide = 0.65, dark = 1.0 / 255.0;
const vec3 light = normalize(vec3(0.5, 0.8, 0.6)), last = vec3(95.0);
const vec3 away = vec3(cos(rise) * sin(angle), sin(rise), cos(rise) * cos(angle));
const vec3 origin = 0.5 * last + 160.0 * away;
vec3 volume_direction(int i, int j) {
    vec3 right = normalize(cross(vec3(0.0, 1.0, 0.0), away)), up = cross(away, right);
    float x = (float(j) + 0.5 - 64.0) * (wide / 128.0);
    float y = (64.0 - float(i) - 0.5) * (wide / 128.0);
    return normalize(x * right + y * up - away);
}
vec2 volume_enter_leave(vec3 direction) {
    vec3 a = -origin / direction, b = (last - origin) / direction;
    vec3 low = min(a, b), high = max(a, b);
    return vec2(max(max(low.x, low.y), low.z), min(min(high.x, high.y), high.z));
}
)";

constexpr const char* kPlainVolumeRender = R"(
float voxel(ivec3 p) {
    p = clamp(p, ivec3(0), ivec3(95));
    return volume_at((p.z * 96 + p.y) * 96 + p.x);
}
float density(vec3 p) {
    vec3 low = floor(p), f = p - low;
    ivec3 c = ivec3(low);
    float a = mix(voxel(c), voxel(c + ivec3(1, 0, 0)), f.x);
    float b = mix(voxel(c + ivec3(0, 1, 0)), voxel(c + ivec3(1, 1, 0)), f.x);
    float d = mix(voxel(c + ivec3(0, 0, 1)), voxel(c + ivec3(1, 0, 1)), f.x);
    float e = mix(voxel(c + ivec3(0, 1, 1)), voxel(c + ivec3(1, 1, 1)), f.x);
    return mix(mix(a, b, f.y), mix(d, e, f.y), f.z);
}
void main() {
    int j = int(gl_GlobalInvocationID.x), i = int(gl_GlobalInvocationID.y);
    vec3 direction = volume_direction(i, j);
    vec2 t = volume_enter_leave(direction);
    vec3 sum = vec3(0.0);
    float through = 1.0;
    for (; t.x < t.y && through >= dark; t.x += 1.0) {
        vec3 p = origin + t.x * direction;
        float at = clamp(density(p), 0.0, 1.0) * 255.0;
        int k = int(at);
        vec4 colour = mix(transfer_at(k), transfer_at(min(k + 1, 255)), at - float(k));
        if (colour.a > 0.0) {
            vec2 d = vec2(1.0, 0.0);
            vec3 gradient = 0.5 * vec3(density(p + d.xyy) - density(p - d.xyy),
                                       density(p + d.yxy) - density(p - d.yxy),
                                       density(p + d.yyx) - density(p - d.yyx));
            vec3 normal = -gradient / max(length(gradient), 1e-6);
            float diffuse = max(dot(normal, light), 0.0);
            float specular = pow(max(dot(normal, normalize(light - direction)), 0.0), 20.0);
            sum += through * colour.a * (colour.rgb * (0.3 + 0.7 * diffuse) + 0.4 * specular);
            through *= 1.0 - colour.a;
        }
    }
    int pixel = (i * 128 + j) * 3;
    picture[pixel] = sum.r;
    picture[pixel + 1] = sum.g;
    picture[pixel + 2] = sum.b;
}
)";

HandProgram plain_volume_render() {
    HandProgram out;
    out.kernels = {
        {"volume_render",
         std::string(kVolumeRayCode) + kPlainVolumeRender,
         {16, 16, 1},
         {kVolumeColumns / 16, kVolumeRows / 16, 1},
         {{"volume", As::Floats, 0}, {"transfer", As::Vec4s, 1}, {"picture", As::Floats, 2, true}},
         {}}};
    return out;
}

// Finds which bricks of 8 x 8 x 8 cells are visible: whether the table has an opacity other than 0
// between the least and the largest density at their corners.
constexpr const char* kVolumeBricks = R"(
void main() {
    int brick = int(gl_GlobalInvocationID.x);
    int x = brick % 12 * 8, y = brick / 12 % 12 * 8, z = brick / 144 * 8;
    float low = 1.0, high = 0.0;
    for (int k = z; k < min(z + 9, 96); ++k)
        for (int j = y; j < min(y + 9, 96); ++j) {
            int row = (k * 96 + j) * 96 + x;
            [[unroll]] for (int i = 0; i < 9; ++i) {
                float v = clamp(volume_at(row + min(i, 95 - x)), 0.0, 1.0);
                low = min(low, v), high = max(high, v);
            }
        }
    // One more on either side, should the mixing round.
    int first = max(int(low * 255.0) - 1, 0), end = min(int(high * 255.0) + 2, 255);
    float most = 0.0;
    for (int k = first; k <= end; ++k) most = max(most, transfer_at(4 * k + 3));
    seen[brick] = most > 0.0 ? 1.0 : 0.0;
}
)";

// Eight lanes are 4 x 2 pixels, and go on through bricks without anything to see. The gradient
// needs 24 densities beside the eight around the sample, since the samples to its sides share them.
// Without the bricks it takes 1.2 times as long; that each lane goes on to its next sample with
// some opacity, where all meet to shade, gains nothing with them.
constexpr const char* kBestVolumeRender = R"(
void main() {
    int lane = int(gl_LocalInvocationID.x), group = int(gl_WorkGroupID.x);
    int tile = (group % (GROUPS / 2)) * 2 + group / (GROUPS / 2);
    int j = tile % 32 * 4 + (lane & 3), i = tile / 32 * 2 + (lane >> 2);
    vec3 direction = volume_direction(i, j);
    vec2 ends = volume_enter_leave(direction);
    float t = ends.x, leave = ends.y, through = 1.0;
    vec3 sum = vec3(0.0), halfway = normalize(light - direction);
    vec3 inverse = 1.0 / direction;
    vec3 ahead = mix(vec3(0.0), vec3(8.0), greaterThan(direction, vec3(0.0)));
    bool open = t < leave;
    while (open) {
        while (t < leave) {
            vec3 q = clamp(origin + t * direction, vec3(0.0), vec3(95.0));
            ivec3 brick = ivec3(q) >> 3;
            if (seen_at((brick.z * 12 + brick.y) * 12 + brick.x) > 0.0) break;
            vec3 out_of = (vec3(brick << 3) + ahead - q) * inverse;
            t += max(ceil(min(min(out_of.x, out_of.y), out_of.z)), 1.0);
        }
        vec3 p = clamp(origin + t * direction, vec3(0.0), vec3(95.0));
        ivec3 c = ivec3(p);
        vec3 f = p - vec3(c);
        int here = (c.z * 96 + c.y) * 96 + c.x;
        float v[8];
        [[unroll]] for (int k = 0; k < 8; ++k)
            v[k] = volume_at(here + (k & 1) + (k >> 1 & 1) * 96 + (k >> 2) * 9216);
        float low = mix(mix(v[0], v[1], f.x), mix(v[2], v[3], f.x), f.y);
        float high = mix(mix(v[4], v[5], f.x), mix(v[6], v[7], f.x), f.y);
        float at = clamp(mix(low, high, f.z), 0.0, 1.0) * 255.0;
        int k = int(at), next = min(k + 1, 255);
        float part = at - float(k);
        float alpha = mix(transfer_at(4 * k + 3), transfer_at(4 * next + 3), part);
        alpha = t < leave ? alpha : 0.0;
        t += 1.0;
        int xb = c.x > 0 ? -1 : 0, yb = c.y > 0 ? -96 : 0, zb = c.z > 0 ? -9216 : 0;
        int xa = min(2, 95 - c.x), ya = min(2, 95 - c.y) * 96, za = min(2, 95 - c.z) * 9216;
        float gx[4], gy[4], gz[4];
        [[unroll]] for (int k = 0; k < 4; ++k) {
            int yz = here + (k & 1) * 96 + (k >> 1) * 9216;
            gx[k] = mix(v[2 * k + 1] - volume_at(yz + xb), volume_at(yz + xa) - v[2 * k], f.x);
            int xz = here + (k & 1) + (k >> 1) * 9216, q = (k & 1) + (k >> 1) * 4;
            gy[k] = mix(v[q + 2] - volume_at(xz + yb), volume_at(xz + ya) - v[q], f.y);
            int xy = here + (k & 1) + (k >> 1) * 96;
            gz[k] = mix(v[k + 4] - volume_at(xy + zb), volume_at(xy + za) - v[k], f.z);
        }
        vec3 gradient = 0.5 * vec3(mix(mix(gx[0], gx[1], f.y), mix(gx[2], gx[3], f.y), f.z),
                                   mix(mix(gy[0], gy[1], f.x), mix(gy[2], gy[3], f.x), f.z),
                                   mix(mix(gz[0], gz[1], f.x), mix(gz[2], gz[3], f.x), f.y));
        float scale = -1.0 / max(sqrt(dot(gradient, gradient)), 1e-6);
        float diffuse = max(dot(gradient, light) * scale, 0.0);
        float specular = max(dot(gradient, halfway) * scale, 0.0);
        float s2 = specular * specular, s4 = s2 * s2, s16 = s4 * s4 * s4 * s4;
        float lit = 0.3 + 0.7 * diffuse, shine = 0.4 * s16 * s4;
        vec3 colour = vec3(mix(transfer_at(4 * k), transfer_at(4 * next), part),
                           mix(transfer_at(4 * k + 1), transfer_at(4 * next + 1), part),
                           mix(transfer_at(4 * k + 2), transfer_at(4 * next + 2), part));
        sum += through * alpha * (colour * lit + shine);
        through *= 1.0 - alpha;
        open = t < leave && through >= dark;
    }
    int pixel = (i * 128 + j) * 3;
    picture[pixel] = sum.r;
    picture[pixel + 1] = sum.g;
    picture[pixel + 2] = sum.b;
}
)";

HandProgram best_volume_render() {
    constexpr int kGroups = int(kVolumePixels / 8);
    constexpr int kBricks = kVolumeSide / 8 * (kVolumeSide / 8) * (kVolumeSide / 8);
    HandProgram out;
    out.kernels = {
        {"volume_bricks",
         kVolumeBricks,
         {8, 1, 1},
         {kBricks / 8, 1, 1},
         {{"volume", As::Texels, 0}, {"transfer", As::Texels, 1}, {"seen", As::Floats, 3, true}},
         {}},
        {"volume_render",
         std::string(kVolumeRayCode) + kBestVolumeRender,
         {8, 1, 1},
         {kGroups, 1, 1},
         {{"volume", As::Texels, 0},
          {"transfer", As::Texels, 1},
          {"seen", As::Texels, 3},
          {"picture", As::Floats, 2, true}},
         {{"GROUPS", kGroups}}}};
    out.temporaries = {kBricks};
    return out;
}

/// A ball of folded sheets, 0 outside of it.
std::vector<float> volume_densities() {
    std::vector<float> out;
    out.reserve(size_t(kVolumeVoxels));
    const auto place = [](int k) { return (k - 0.5 * (kVolumeSide - 1)) / (0.5 * kVolumeSide); };
    for (int k = 0; k < kVolumeSide; ++k)
        for (int j = 0; j < kVolumeSide; ++j)
            for (int i = 0; i < kVolumeSide; ++i) {
                const double x = place(i), y = place(j), z = place(k);
                const double r = std::sqrt(x * x + y * y + z * z);
                const double folds =
                    std::sin(7 * x + 3 * std::sin(4 * y)) * std::sin(6 * y + 2 * std::sin(5 * z)) +
                    std::sin(8 * z + 2 * std::sin(6 * x));
                out.push_back(float(std::clamp((0.93 - r) * 8, 0.0, 1.0) * (0.5 + 0.24 * folds)));
            }
    return out;
}

/// Nothing up to 0.45, then a thin skin, then ever thicker.
std::vector<float> volume_transfer() {
    std::vector<float> out;
    for (int k = 0; k < kVolumeLevels; ++k) {
        const float s = float(k) / float(kVolumeLevels - 1);
        const float skin = std::clamp(s - 0.45f, 0.0f, 0.05f),
                    bone = std::clamp(s - 0.7f, 0.0f, 0.1f);
        out.insert(out.end(), {0.9f, 0.3f + 0.6f * s, 0.2f + s * s, 0.8f * skin + 4.0f * bone});
    }
    return out;
}

Contest volume_contest(Tensor (*program)(Tensor, Tensor, Tensor)) {
    auto f = compile(program, {f32("d", "h", "w"), f32("levels", 4), f32()});
    const std::vector<float> densities = volume_densities(), transfer = volume_transfer();
    // Counts no operations for samples without opacity. For the others the place (6), the density
    // (21), its gradient (3 x 21) and their four numbers of the table (12) by mixing, the normal's
    // length (9), light (16) and the sum (20). They read eight numbers of the table, and are as far
    // apart as voxels, so that half of those around a sample may be the next one's, too.
    return {.least = {4.0 * kVolumeTouched, 12.0 * kVolumePixels, 147.0 * kVolumeSeen,
                      (8 + 16) * kVolumeSeen},
            .arguments = {densities, transfer},
            .results = {3 * kVolumePixels},
            .firn =
                [f, volume = tensor(densities, {kVolumeSide, kVolumeSide, kVolumeSide}),
                 transfer = tensor(transfer, {kVolumeLevels, 4})] {
                    return std::vector<Tensor>{f(volume, transfer, kVolumeAngle)};
                },
            .best = best_volume_render(),
            .plain = plain_volume_render(),
            .tolerance = 1e-3,
            .difference = share_that_differs,
            .expected =
                [=] {
                    return std::vector<std::vector<float>>{host_volume_render(densities, transfer)};
                }};
}

constexpr const char* kVolumeFar =
    "four of five samples show nothing, which only their densities say; rays find and end at other "
    "steps than their neighbours";

}  // namespace

void add_volume_render(std::vector<Case>& cases) {
    cases.push_back({"volume_render", [] { return volume_contest(volume_render); },
                     Section::Holdout, kVolumeFar});
    cases.push_back({"volume_render_kernel", [] { return volume_contest(volume_render_kernel); },
                     Section::Holdout, kVolumeFar});
}

}  // namespace firn::bench
