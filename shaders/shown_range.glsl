// The range that a picture's colours stand for: given, or found on the device; behind `smallest` and `largest`.

float value_of(uint ordered) {
    return uintBitsToFloat((ordered & 0x80000000u) != 0u ? ordered & 0x7fffffffu : ~ordered);
}
// The values of the first and the last colour; `kind` is RangeKind of view_renderer.h.
vec2 shown_range(int kind, float from, float to) {
    if (kind != 0) {
        bool any = smallest <= largest;  // else nothing is finite
        from = any ? value_of(smallest) : 0.0;
        to = any ? value_of(largest) : 1.0;
        if (kind == 2) {
            to = max(abs(from), abs(to));
            from = -to;
        }
    }
    if (abs(to - from) > 8e37) {  // its inverse is 0; what lies outside has the colour of its end
        from = clamp(from, -4e37, 4e37);
        to = clamp(to, -4e37, 4e37);
    }
    if (abs(to - from) < 1.2e-38) {  // equal, or their quotient is beyond f32: all in the middle
        float margin = max(0.5, 0.5 * abs(from));
        from -= margin;
        to += margin;
    }
    return vec2(from, to);
}
