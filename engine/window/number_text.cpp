// Writes numbers for people to read.
#include "engine/window/number_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace firn {

std::string number_text(double value, int digits) {
    if (std::isnan(value)) return "nan";
    char text[32];
    std::snprintf(text, sizeof text, "%.*g", digits, value == 0 ? 0.0 : value);
    return text;
}

int digits_apart(double value, double other) {
    const double apart = std::abs(value - other);
    const double largest = std::max(std::abs(value), std::abs(other));
    return apart > 0 ? std::clamp(static_cast<int>(std::log10(largest / apart)) + 2, 4, 9) : 4;
}

}  // namespace firn
