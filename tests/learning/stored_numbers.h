// Numbers that scripts have stored: f64 in base64.
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace firn {

inline std::vector<double> decoded(const std::string& base64) {
    std::vector<unsigned char> bytes;
    uint32_t bits = 0;
    int count = 0;
    const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (char c : base64) {
        const size_t digit = digits.find(c);
        if (digit == std::string::npos) break;
        bits = bits << 6 | uint32_t(digit);
        if ((count += 6) >= 8) bytes.push_back((unsigned char)(bits >> (count -= 8)));
    }
    std::vector<double> out(bytes.size() / 8);
    std::memcpy(out.data(), bytes.data(), out.size() * 8);
    return out;
}

}  // namespace firn
