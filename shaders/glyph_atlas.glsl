// An atlas of glyphs as a buffer of bytes; behind `texels`, its words, and `atlas_size`.

float texel(ivec2 at) {
    at = clamp(at, ivec2(0), atlas_size - 1);
    int index = at.y * atlas_size.x + at.x;
    return float((texels[index >> 2] >> (8 * (index & 3))) & 255u) / 255.0;
}
// The covered share of a pixel, blended between texels.
float coverage(vec2 position) {
    position -= 0.5;
    ivec2 corner = ivec2(floor(position));
    vec2 part = position - vec2(corner);
    float top = mix(texel(corner), texel(corner + ivec2(1, 0)), part.x);
    float bottom = mix(texel(corner + ivec2(0, 1)), texel(corner + ivec2(1, 1)), part.x);
    return mix(top, bottom, part.y);
}
