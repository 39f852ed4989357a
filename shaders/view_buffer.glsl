// A tensor of any displayable type in a storage buffer of words; included by the shaders that show it.

layout(set = 0, binding = 0, std430) readonly buffer Words { uint words[]; };
layout(push_constant) uniform Push {
    int height, width, channels;
    int format;       // as ElementFormat of view_renderer.cpp
    int first;        // index of the first element
    int colormap;     // as Colormap of view.h
    int flags;        // 1: automatic range, 2: smooth, 4: the range is symmetric about 0
    float low, high;  // the range that is not automatic
    float shrink;     // tensor elements per pixel
};

float element(int index) {
    index += first;
    if (format == 0) return uintBitsToFloat(words[index]);                                       // f32
    if (format == 1) return unpackHalf2x16(words[index >> 1])[index & 1];                        // f16
    if (format == 2) return float(int(words[index]));                                            // i32
    if (format == 3) return float(words[index]);                                                 // u32
    if (format == 4) return float(bitfieldExtract(words[index >> 2], 8 * (index & 3), 8)) / 255.0;  // u8
    if (format == 5) return float(bitfieldExtract(int(words[index >> 2]), 8 * (index & 3), 8));  // i8
    return words[index] != 0u ? 1.0 : 0.0;                                                       // bool
}
