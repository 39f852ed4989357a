// Shows a tensor: one channel through a colour map, three or four as colours, straight from its buffer.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "colour_fits.glsl"  // of compiler/base/colour_fits.h
#include "view_buffer.glsl"

layout(constant_id = 2) const int colormap = 0;   // as Colormap of view.h
layout(constant_id = 3) const int filtering = 1;  // as Filter of view_renderer.cpp

layout(location = 0) in vec2 uv;
layout(location = 1) flat in vec2 range;  // the value of the first colour, colours per value
layout(location = 0) out vec4 result;

// Infinities are very large numbers, so that their neighbours, which are blended with them, are no nan.
float seen(int index) {
    float x = element(index);
    return isinf(x) ? x > 0.0 ? 3e38 : -3e38 : x;
}

vec4 texel(ivec2 at) {
    at = clamp(at, ivec2(0), ivec2(width, height) - 1);
    int index = (at.y * width + at.x) * channels;
    if (channels == 1) return vec4(seen(index), 0.0, 0.0, 1.0);
    float alpha = channels == 4 ? seen(index + 3) : 1.0;
    return vec4(seen(index), seen(index + 1), seen(index + 2), alpha);
}

vec4 bilinear(vec2 position) {
    position -= 0.5;
    ivec2 corner = ivec2(floor(position));
    vec2 part = position - vec2(corner);
    vec4 top = mix(texel(corner), texel(corner + ivec2(1, 0)), part.x);
    vec4 bottom = mix(texel(corner + ivec2(0, 1)), texel(corner + ivec2(1, 1)), part.x);
    return mix(top, bottom, part.y);
}

// The nearest element; a blend of four; or the mean of 2 x 2 to 4 x 4 of those under the pixel.
vec4 sampled() {
    vec2 position = uv * vec2(width, height);
    if (filtering == 0) return bilinear(position);
    if (filtering == 1) return texel(ivec2(floor(position)));
    vec4 sum = vec4(0.0);
    for (int y = 0; y < filtering; ++y)
        for (int x = 0; x < filtering; ++x)
            sum += texel(ivec2(floor(position + ((vec2(x, y) + 0.5) / float(filtering) - 0.5) * shrink)));
    return sum / float(filtering * filtering);
}

vec3 polynomial(float t, vec3 c[7]) {
    return c[0] + t * (c[1] + t * (c[2] + t * (c[3] + t * (c[4] + t * (c[5] + t * c[6])))));
}
vec3 straight(float t, vec3 c[5]) {
    if (t < 0.5) return t < 0.25 ? mix(c[0], c[1], 4.0 * t) : mix(c[1], c[2], 4.0 * t - 1.0);
    return t < 0.75 ? mix(c[2], c[3], 4.0 * t - 2.0) : mix(c[3], c[4], 4.0 * t - 3.0);
}

vec3 mapped(float t) {
    switch (colormap) {
        case 1: return polynomial(t, kViridisFit);
        case 2: return polynomial(t, kMagmaFit);
        case 3: return polynomial(t, kInfernoFit);
        case 4: return polynomial(t, kTurboFit);
        case 5: return straight(t, kCoolwarmLine);
        case 6: return straight(t, kIcefireLine);
        case 7: return polynomial(t, kPlasmaFit);
        default: return vec3(t);
    }
}

void main() {
    vec4 value = (sampled() - range.x) * range.y;
    // nan is shown as magenta, so that it cannot hide.
    bool undefined = channels == 1 ? isnan(value.r) : any(isnan(value.rgb));
    result = vec4(0.9, 0.0, 0.9, opacity);
    if (undefined) return;
    if (channels == 1) {
        result.rgb = clamp(mapped(clamp(value.r, 0.0, 1.0)), 0.0, 1.0);
    } else {
        value = clamp(value, 0.0, 1.0);
        result = vec4(value.rgb, value.a * opacity);  // alpha is 1 without a fourth channel
    }
}
