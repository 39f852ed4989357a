// A vertex of a shape of a drawing: it finds its own numbers in the tensors.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "draw_layer.glsl"
#include "draw_tensors.glsl"

layout(set = 0, binding = 1, std430) readonly buffer Vectors { float vectors[]; };
layout(set = 0, binding = 3, std430) readonly buffer Sizes { float sizes[]; };

layout(location = 0) out vec4 tint;
// Pixels from a point's middle, or along and across a line; a line's length in pixels, the radius of its stroke.
layout(location = 1) out vec4 mark;
// A line's colour where it ends; a point's distance and radius in units; a triangle's place before the camera.
layout(location = 2) out vec4 extra;

vec3 vector(uint index) {
    uint k = first(1u) + index * uint(dimensions);
    return vec3(vectors[k], vectors[k + 1u], dimensions == 3 ? vectors[k + 2u] : 0.0);
}
float size_of(uint index) {
    if (sized == 0) return size;
    return max(sizes[first(3u) + index], 0.0);
}

// Pixels of radius at a distance; below `least`, which is still seen, a shape gets fainter instead: by its area,
// or by its width alone.
float radius_of(uint index, float distance, float least, float power) {
    float radius = size_of(index) * unit;
    if (in_units == 1 && in_space == 1) radius /= distance;
    float faint = min(pow(radius / least, power), 1.0);
    tint.a *= faint;
    if (shape == kLines || shape == kPath) extra.a *= faint;
    return max(radius, least);
}

void point(uint index, uint vertex) {
    vec3 p = place(index);
    vec4 middle = to_clip * vec4(p, 1.0);
    tint = colour_of(index);
    if (!is_finite(p) || (in_space == 1 && middle.w <= to_clip[3][2])) {
        leave_out();
        return;
    }
    float radius = radius_of(index, middle.w, 0.75, 2.0);
    extra = vec4(middle.w, size_of(index), 0.0, 0.0);
    // The triangle around the disc and the pixels of its rim.
    vec2 corner = vertex == 0u ? vec2(0.0, 2.0) : vec2(vertex == 1u ? -1.7320508 : 1.7320508, -1.0);
    vec2 at = corner * (radius + 1.0);
    mark = vec4(at, 0.0, radius);
    put(middle.xy / middle.w * 0.5 * viewport + at, middle.z / middle.w);
}

// Covers the line from a to b, in clip space, with whole pixels around it.
void stroke(vec4 a, vec4 b, uint index, uint vertex) {
    float near = to_clip[3][2];
    if (in_space == 1) {
        if (a.w <= near && b.w <= near) {
            leave_out();
            return;
        }
        if (a.w < near) a = mix(b, a, (b.w - near) / (b.w - a.w));
        if (b.w < near) b = mix(a, b, (a.w - near) / (a.w - b.w));
    }
    bool ends = vertex == 1u || vertex >= 4u;
    vec4 end = ends ? b : a;
    vec2 from = a.xy / a.w * 0.5 * viewport, along = b.xy / b.w * 0.5 * viewport - from;
    float length_ = length(along);
    vec2 direction = length_ > 1e-6 ? along / length_ : vec2(1.0, 0.0);
    float radius = radius_of(index, end.w, 0.5, 1.0);
    float across = radius + 1.0;
    if (shape == kArrows) across += 8.0 * radius;  // room for the head, see draw.frag
    // Two triangles: above at both ends and below at the first, then the other way round.
    bool above = vertex < 2u || vertex == 4u;
    vec2 at = vec2(ends ? length_ + radius + 1.0 : -radius - 1.0, above ? across : -across);
    mark = vec4(at, length_, radius);
    put(from + direction * at.x + vec2(-direction.y, direction.x) * at.y, end.z / end.w);
}

void segment(uint index, uint vertex) {
    uint begin = shape == kLines ? 2u * index : index;
    vec3 p = place(begin), q = shape == kArrows ? p + stretch * vector(index) : place(begin + 1u);
    bool each = shape == kPath || corners == 1;
    tint = colour_of(each ? begin : index);
    extra = each ? colour_of(begin + 1u) : tint;
    if (is_finite(p) && is_finite(q))
        stroke(to_clip * vec4(p, 1.0), to_clip * vec4(q, 1.0), index, vertex);
    else
        leave_out();
}

void triangle(uint index, uint vertex) {
    vec4 corner = to_clip * vec4(place(3u * index + vertex), 1.0);
    tint = colour_of(corners == 1 ? 3u * index + vertex : index);
    extra = vec4(corner.xy / focal, -corner.w, 0.0);
    gl_Position = corner;
    for (uint k = 0u; k < 3u; ++k)
        if (!is_finite(place(3u * index + k))) leave_out();
}

void main() {
    tint = mark = extra = vec4(0.0);
    uint id = uint(gl_VertexIndex);
    if (shape == kPoints) point(id / 3u, id % 3u);
    else if (shape == kTriangles) triangle(id / 3u, id % 3u);
    else segment(id / 6u, id % 6u);
}
