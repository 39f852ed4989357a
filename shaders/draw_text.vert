// A corner of a glyph of a drawing's text: of a label that the host has laid out, or of a number, which is formatted here
// from its tensor. With a halo the first instance is all halos, so that none lies on a letter.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "draw_text.glsl"
#include "draw_tensors.glsl"

// A glyph in pixels from the place of its label, and in texels of the atlas. For numbers: the
// glyphs of "0123456789.-+eainf", in pixels from their origin.
struct Glyph {
    uint label;
    float advance;
    float x, y, width, height;
    float u, v, texels_wide, texels_high;
};
layout(set = 0, binding = 1, std430) readonly buffer Values { float values[]; };
layout(set = 0, binding = 3, std430) readonly buffer Glyphs { Glyph glyphs[]; };

layout(location = 0) out vec4 tint;
layout(location = 1) out vec2 at;          // texels
layout(location = 2) flat out vec4 bounds; // texels of the glyph
layout(location = 3) flat out vec2 pixel;  // in texels
layout(location = 4) flat out int is_halo;

const int kMost = 16;  // as kNumberGlyphs of text_renderer.cpp
const int kPoint = 10, kMinus = 11, kPlus = 12, kE = 13, kA = 14, kI = 15, kN = 16, kF = 17;
int letters[kMost];
int count = 0;

void write(int letter) {
    if (count < kMost) letters[count++] = letter;
}
// `all` by 10 to the power of -`behind`.
void write_fixed(uint all, int behind) {
    uint unit = 1u;
    int digits = 1;
    while (digits <= behind || all / unit >= 10u) {
        unit *= 10u;
        ++digits;
    }
    for (; digits > 0; --digits) {
        if (digits == behind) write(kPoint);
        write(int(all / unit % 10u));
        unit /= 10u;
    }
}
float power_of_ten(int exponent) {
    float result = 1.0;
    for (int k = 0; k < abs(exponent); ++k) result *= 10.0;
    return exponent < 0 ? 1.0 / result : result;
}
// Without the zeros at the end, where as few digits as needed are asked for.
void write_rounded(float size, int behind) {
    uint all = uint(round(size * power_of_ten(behind)));
    while (decimals < 0 && behind > 0 && all % 10u == 0u) {
        all /= 10u;
        --behind;
    }
    write_fixed(all, behind);
}
void write_number(float value) {
    uint bits = floatBitsToUint(value) & 0x7fffffffu;
    if (bits > 0x7f800000u) {
        write(kN), write(kA), write(kN);
        return;
    }
    float size = uintBitsToFloat(bits);
    bool is_zero = size * power_of_ten(max(decimals, 0)) < 0.5 && decimals >= 0;
    if (value < 0.0 && !is_zero) write(kMinus);
    if (bits == 0x7f800000u) {
        write(kI), write(kN), write(kF);
        return;
    }
    int exponent = 0;  // of the first of the digits
    float unit = size;
    if (size > 0.0) {
        for (; unit >= 9.999995; ++exponent) unit *= 0.1;
        for (; unit < 0.9999995; --exponent) unit *= 10.0;
    }
    if (decimals >= 0 ? exponent + decimals < 9 && exponent < 7 : exponent >= -5 && exponent < 7) {
        write_rounded(size, decimals >= 0 ? decimals : max(5 - exponent, 0));
        return;
    }
    write_rounded(unit, decimals >= 0 ? min(decimals, 6) : 5);
    write(kE);
    if (exponent < 0) write(kMinus);
    write_fixed(uint(abs(exponent)), 0);
}

// The glyph of a number, in pixels from its place.
Glyph digit(uint label, int which) {
    write_number(values[first(1u) + label]);
    float width = 0.0, before = 0.0;
    for (int k = 0; k < count; ++k) {
        if (k == which) before = width;
        width += glyphs[letters[k]].advance;
    }
    Glyph glyph = glyphs[letters[min(which, count - 1)]];
    glyph.x += before - floor(align.x * width + 0.5);
    if (which >= count) glyph.width = glyph.texels_wide = 0.0;
    return glyph;
}

void main() {
    uint id = uint(gl_VertexIndex), quad = id / 6u, vertex = id % 6u;
    Glyph glyph;
    uint label;
    if (numbers == 1) {
        label = quad / uint(kMost);
        glyph = digit(label, int(quad % uint(kMost)));
    } else {
        glyph = glyphs[quad];
        label = glyph.label;
    }
    tint = colour_of(label);
    at = pixel = vec2(0.0);
    is_halo = halo == 1 && gl_InstanceIndex == 0 ? 1 : 0;
    bounds = vec4(glyph.u, glyph.v, glyph.u + glyph.texels_wide, glyph.v + glyph.texels_high);
    vec3 p = place(label);
    vec4 middle = to_clip * vec4(p, 1.0);
    if (!is_finite(p) || glyph.width <= 0.0 || (in_space == 1 && middle.w <= to_clip[3][2])) {
        leave_out();
        return;
    }
    // Letters lie on whole pixels, and have a margin for their halo.
    vec2 origin = floor(middle.xy / middle.w * 0.5 * viewport + 0.5 * viewport + shift + 0.5) - 0.5 * viewport;
    vec2 margin = vec2(is_halo == 1 ? 2.0 : 1.0);
    vec2 corner = vec2(vertex == 1u || vertex >= 4u ? 1.0 : 0.0, vertex < 2u || vertex == 4u ? 0.0 : 1.0);
    vec2 size = vec2(glyph.width, glyph.height), offset = corner * (size + 2.0 * margin) - margin;
    pixel = vec2(glyph.texels_wide, glyph.texels_high) / size;
    at = bounds.xy + offset * pixel;
    put(origin + vec2(glyph.x, glyph.y) + offset, middle.z / middle.w);
}
