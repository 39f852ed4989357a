// Converts between packed pixels, as copies of images give and take them, and floats of a tensor [height, width,
// channels]: one invocation a pixel. Values of sRGB images are linear in the tensor.
#version 460
layout(local_size_x = 64) in;
layout(constant_id = 0) const bool kPacks = false;    // floats to pixels; else pixels to floats
layout(constant_id = 1) const uint kFormat = 0;       // 0: rgba8, 1: bgra8, 2: rgba16f
layout(constant_id = 2) const bool kSrgb = false;     // of 8 bits
layout(constant_id = 3) const uint kChannels = 4;     // 3 or 4; with 3, pixels are opaque
layout(set = 0, binding = 0, std430) buffer Pixels { uint words[]; };
layout(set = 0, binding = 1, std430) buffer Values { float values[]; };
layout(push_constant) uniform Parameters { uint pixels, columns; };

vec3 linear_of(vec3 c) {
    return mix(pow((c + 0.055) / 1.055, vec3(2.4)), c / 12.92, lessThanEqual(c, vec3(0.04045)));
}
vec3 encoded(vec3 c) {
    return mix(1.055 * pow(c, vec3(1.0 / 2.4)) - 0.055, 12.92 * c, lessThanEqual(c, vec3(0.0031308)));
}

void main() {
    const uint pixel = gl_GlobalInvocationID.y * columns + gl_GlobalInvocationID.x;
    if (gl_GlobalInvocationID.x >= columns || pixel >= pixels) return;
    if (kPacks) {
        vec4 value = vec4(values[kChannels * pixel], values[kChannels * pixel + 1], values[kChannels * pixel + 2], 1);
        if (kChannels == 4) value.w = values[kChannels * pixel + 3];
        if (kFormat == 2) {
            words[2 * pixel] = packHalf2x16(value.xy);
            words[2 * pixel + 1] = packHalf2x16(value.zw);
            return;
        }
        value = mix(vec4(0), min(value, vec4(1)), greaterThan(value, vec4(0)));  // nan is 0
        if (kSrgb) value.xyz = encoded(value.xyz);
        words[pixel] = packUnorm4x8(kFormat == 1 ? value.zyxw : value);
    } else {
        vec4 value;
        if (kFormat == 2) {
            value = vec4(unpackHalf2x16(words[2 * pixel]), unpackHalf2x16(words[2 * pixel + 1]));
        } else {
            value = unpackUnorm4x8(words[pixel]);
            if (kFormat == 1) value = value.zyxw;
            if (kSrgb) value.xyz = linear_of(value.xyz);
        }
        values[kChannels * pixel] = value.x;
        values[kChannels * pixel + 1] = value.y;
        values[kChannels * pixel + 2] = value.z;
        if (kChannels == 4) values[kChannels * pixel + 3] = value.w;
    }
}
