// Copies a buffer that it reads through a texel view, to be timed.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
layout(set = 0, binding = 0, rgba32f) readonly uniform imageBuffer source;
vec4 word(int at) { return imageLoad(source, at); }
#include "copy_rate.glsl"
