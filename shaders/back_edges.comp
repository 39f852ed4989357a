// Counts the iterations of a loop: some CPU drivers silently end every loop after 65,535.
#version 450
layout(local_size_x = 8) in;
layout(set = 0, binding = 0, std430) buffer Turns { uint turns[]; };
layout(push_constant) uniform Params { uint wanted; };

void main() {
    uint count = 0u, state = 1u;
    while (count < wanted && state != 0u) {  // the state is never 0: no closed form replaces the loop
        state = state * 1664525u + 1013904223u | 1u;
        ++count;
    }
    turns[gl_LocalInvocationIndex] = count;
}
