// The ticks of a colour bar: round values of the range of a picture, which only the device knows.
#version 450
#extension GL_GOOGLE_include_directive : require
layout(local_size_x = 1) in;

layout(set = 0, binding = 0, std430) readonly buffer Range { uint smallest, largest; };
layout(set = 0, binding = 1, std430) writeonly buffer Ticks {
    float numbers[24];   // kTicks of colour_bar.cpp values,
    float places[48];    // places of their text, and lines
    float lines[96];
};
layout(push_constant) uniform Push {
    float low, high;  // the range where it is given
    int kind;         // as RangeKind of view_renderer.h
    int most;         // ticks that have room
    float line_from, line_to, text;  // across
};
#include "shown_range.glsl"

const int kTicks = 24;

// 1, 2 or 5 by a power of ten, so that at most so many fit.
float round_step(float span) {
    float rough = span / float(max(most, 1)), unit = 1.0;
    for (int k = 0; k < 45 && unit * 10.0 <= rough; ++k) unit *= 10.0;
    for (int k = 0; k < 45 && unit > rough; ++k) unit /= 10.0;
    float times = rough / unit;
    return unit * (times <= 1.0001 ? 1.0 : times <= 2.0001 ? 2.0 : times <= 5.0001 ? 5.0 : 10.0);
}

void main() {
    vec2 ends = shown_range(kind, low, high);
    float span = ends.y - ends.x, step = round_step(abs(span));
    float least = min(ends.x, ends.y), largest_value = max(ends.x, ends.y), nan = uintBitsToFloat(0x7fc00000u);
    float first = ceil(least / step - 1e-4);
    for (int k = 0; k < kTicks; ++k) {
        float value = (first + float(k)) * step;
        bool is_shown = value <= largest_value + 1e-4 * step;
        float y = is_shown ? (value - ends.x) / span : nan;
        numbers[k] = value;
        places[2 * k] = text;
        places[2 * k + 1] = y;
        lines[4 * k] = line_from;
        lines[4 * k + 2] = line_to;
        lines[4 * k + 1] = lines[4 * k + 3] = y;
    }
}
