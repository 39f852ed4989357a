// A pixel of a shape of a drawing; its rim is as opaque as it covers the pixel.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "draw_layer.glsl"

layout(location = 0) in vec4 tint;
layout(location = 1) in vec4 mark;
layout(location = 2) in vec4 extra;
layout(location = 0) out vec4 result;

// The same as in draw.vert.
vec2 at = mark.xy, span = mark.zw;

// Pixels from the edge, negative inside.
float disc() { return length(at) - span.y; }
float line() { return length(vec2(at.x - clamp(at.x, 0.0, span.x), at.y)) - span.y; }
// The head is 8 radii long and nearly as wide, and at most 0.6 of the arrow.
float arrow() {
    const float kSlope = 0.45;
    float head = min(8.0 * span.y, 0.6 * span.x), neck = span.x - head;
    float shaft = max(abs(at.y) - span.y, max(-at.x, at.x - neck));
    float tip = max((abs(at.y) - (span.x - at.x) * kSlope) * inversesqrt(1.0 + kSlope * kSlope), neck - at.x);
    return min(shaft, tip);
}

void main() {
    result = tint;
    if (shape == kTriangles) {
        if (lit == 1) {
            vec3 seen = extra.xyz, normal = normalize(cross(dFdx(seen), dFdy(seen)));
            result.rgb = shaded(tint.rgb, dot(normal, seen) > 0.0 ? -normal : normal);
        }
    } else {
        if (shape == kLines || shape == kPath) result = mix(tint, extra, clamp(at.x / max(span.x, 1e-6), 0.0, 1.0));
        float edge = shape == kPoints ? disc() : shape == kArrows ? arrow() : line();
        result.a *= clamp(0.5 - edge, 0.0, 1.0);
    }
    if (result.a <= 0.0) discard;  // it would hide what is behind it
}
