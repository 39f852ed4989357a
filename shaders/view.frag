// Shows a tensor: one channel through a colour map, three or four as colours, straight from its buffer.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "view_buffer.glsl"

layout(constant_id = 2) const int colormap = 0;   // as Colormap of view.h
layout(constant_id = 3) const int filtering = 1;  // as Filter of view_renderer.cpp

layout(location = 0) in vec2 uv;
layout(location = 1) flat in vec2 range;  // the value of the first colour, colours per value
layout(location = 0) out vec4 result;

vec4 texel(ivec2 at) {
    at = clamp(at, ivec2(0), ivec2(width, height) - 1);
    int index = (at.y * width + at.x) * channels;
    if (channels == 1) return vec4(element(index), 0.0, 0.0, 1.0);
    float alpha = channels == 4 ? element(index + 3) : 1.0;
    return vec4(element(index), element(index + 1), element(index + 2), alpha);
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

// Fits of degree 6 to matplotlib's maps (CC0), by Matt Zucker, https://www.shadertoy.com/view/WlfXRN.
vec3 polynomial(float t, vec3 c0, vec3 c1, vec3 c2, vec3 c3, vec3 c4, vec3 c5, vec3 c6) {
    return c0 + t * (c1 + t * (c2 + t * (c3 + t * (c4 + t * (c5 + t * c6)))));
}
vec3 viridis(float t) {
    return polynomial(t, vec3(0.27772733, 0.00540734, 0.33409981), vec3(0.10509304, 1.40461353, 1.38459016),
                      vec3(-0.33086183, 0.21484756, 0.09509516), vec3(-4.63423050, -5.79910097, -19.33244096),
                      vec3(6.22826994, 14.17993337, 56.69055260), vec3(4.77638500, -13.74514538, -65.35303263),
                      vec3(-5.43545586, 4.64585261, 26.31243525));
}
vec3 magma(float t) {
    return polynomial(t, vec3(-0.00213649, -0.00074966, -0.00538613), vec3(0.25166054, 0.67752324, 2.49402660),
                      vec3(8.35371728, -3.57771951, 0.31446790), vec3(-27.66873309, 14.26473078, -13.64921319),
                      vec3(52.17613981, -27.94360607, 12.94416944), vec3(-50.76852536, 29.04658282, 4.23415299),
                      vec3(18.65570507, -11.48977352, -5.60196151));
}
vec3 inferno(float t) {
    return polynomial(t, vec3(0.00021894, 0.00165100, -0.01948090), vec3(0.10651342, 0.56395644, 3.93271239),
                      vec3(11.60249308, -3.97285397, -15.94239411), vec3(-41.70399613, 17.43639888, 44.35414520),
                      vec3(77.16293570, -33.40235894, -81.80730926), vec3(-71.31942824, 32.62606426, 73.20951986),
                      vec3(25.13112622, -12.24266895, -23.07032500));
}
vec3 plasma(float t) {
    return polynomial(t, vec3(0.05873234, 0.02333671, 0.54334018), vec3(2.17651463, 0.23838342, 0.75396046),
                      vec3(-2.68946048, -7.45585114, 3.11079994), vec3(6.13034835, 42.34618815, -28.51885465),
                      vec3(-11.10743619, -82.66631109, 60.13984767), vec3(10.02306558, 71.41361770, -54.07218656),
                      vec3(-3.65871384, -22.93153465, 18.19190779));
}
// A. Mikhailov's turbo (Apache 2.0), as a polynomial.
vec3 turbo(float t) {
    vec4 v4 = vec4(1.0, t, t * t, t * t * t);
    vec2 v2 = v4.zw * v4.z;
    return vec3(dot(v4, vec4(0.13572138, 4.61539260, -42.66032258, 132.13108234)) + dot(v2, vec2(-152.94239396, 59.28637943)),
                dot(v4, vec4(0.09140261, 2.19418839, 4.84296658, -14.18503333)) + dot(v2, vec2(4.27729857, 2.82956604)),
                dot(v4, vec4(0.10667330, 12.64194608, -60.58204836, 110.36276771)) + dot(v2, vec2(-89.90310912, 27.34824973)));
}
// Diverging about a light middle, and about a dark one that lets small values recede.
vec3 coolwarm(float t) {
    float s = 2.0 * t - 1.0;
    vec3 end = s < 0.0 ? vec3(0.085, 0.265, 0.62) : vec3(0.65, 0.06, 0.12);
    vec3 half_way = s < 0.0 ? vec3(0.43, 0.68, 0.90) : vec3(0.96, 0.55, 0.40);
    float a = abs(s);
    return a < 0.5 ? mix(vec3(0.95), half_way, 2.0 * a) : mix(half_way, end, 2.0 * a - 1.0);
}
vec3 icefire(float t) {
    float s = 2.0 * t - 1.0;
    vec3 half_way = s < 0.0 ? vec3(0.10, 0.36, 0.72) : vec3(0.76, 0.22, 0.20);
    vec3 end = s < 0.0 ? vec3(0.70, 0.95, 0.97) : vec3(1.00, 0.88, 0.55);
    float a = abs(s);
    return a < 0.5 ? mix(vec3(0.07, 0.07, 0.09), half_way, 2.0 * a) : mix(half_way, end, 2.0 * a - 1.0);
}

vec3 mapped(float t) {
    switch (colormap) {
        case 1: return viridis(t);
        case 2: return magma(t);
        case 3: return inferno(t);
        case 4: return turbo(t);
        case 5: return coolwarm(t);
        case 6: return icefire(t);
        case 7: return plasma(t);
        default: return vec3(t);
    }
}

void main() {
    vec4 value = (sampled() - range.x) * range.y;
    // nan is shown as magenta, so that it cannot hide.
    bool undefined = isnan(channels == 1 ? value.r : value.r + value.g + value.b);
    result = vec4(0.9, 0.0, 0.9, opacity);
    if (undefined) return;
    if (channels == 1) {
        result.rgb = clamp(mapped(clamp(value.r, 0.0, 1.0)), 0.0, 1.0);
    } else {
        value = clamp(value, 0.0, 1.0);
        result = vec4(value.rgb, value.a * opacity);  // alpha is 1 without a fourth channel
    }
}
