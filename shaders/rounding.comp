// Quotients and square roots of two words each: some drivers multiply by reciprocals.
#version 460
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer Words { uvec2 words[]; };
layout(set = 0, binding = 1, std430) buffer Answers { uvec2 answers[]; };

void main() {
    vec2 asked = uintBitsToFloat(words[gl_LocalInvocationIndex]);
    answers[gl_LocalInvocationIndex] = floatBitsToUint(vec2(asked.x / asked.y, sqrt(asked.x)));
}
