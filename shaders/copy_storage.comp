// Copies a storage buffer, to be timed.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
layout(set = 0, binding = 0, std430) readonly buffer Source { vec4 source[]; };
vec4 word(int at) { return source[at]; }
#include "copy_rate.glsl"
