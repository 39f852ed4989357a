// A tensor of any displayable type in a storage buffer of words; included by the shaders that show it.

layout(set = 0, binding = 0, std430) readonly buffer Words { uint words[]; };
layout(push_constant) uniform Push {
    int height, width;
    int first;        // index of the first element
    float low, high;  // the range that is not automatic
    float shrink;     // tensor elements per pixel
    float opacity;
};

// What would be a branch is a constant of the pipeline: CPU drivers run both sides of every branch.
layout(constant_id = 0) const int format = 0;    // as ElementFormat of view_renderer.cpp
layout(constant_id = 1) const int channels = 1;

float element(int index) {
    index += first;
    bool halves = format == 1 || format >= 7;
    int shift = halves ? 1 : format == 4 || format == 5 ? 2 : 0;  // elements of a word: 1, 2, 4
    uint word = words[index >> shift];
    int part = index & ((1 << shift) - 1);
    if (format == 0) return uintBitsToFloat(word);                                 // f32
    if (format == 1) return unpackHalf2x16(word >> (16 * part)).x;                 // f16
    if (format == 2) return float(int(word));                                      // i32
    if (format == 3) return float(word);                                           // u32
    if (format == 4) return float(bitfieldExtract(word, 8 * part, 8)) / 255.0;     // u8
    if (format == 5) return float(bitfieldExtract(int(word), 8 * part, 8));        // i8
    if (format == 7) return float(bitfieldExtract(word, 16 * part, 16)) / 65535.0; // u16
    if (format == 8) return float(bitfieldExtract(int(word), 16 * part, 16));      // i16
    if (format == 9) return uintBitsToFloat((word >> (16 * part)) << 16);          // bf16
    return word != 0u ? 1.0 : 0.0;                                                 // bool
}
