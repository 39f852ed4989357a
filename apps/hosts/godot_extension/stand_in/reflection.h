// Reads the bindings and push constants of a compute shader from its SPIR-V.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

struct ReflectedBinding {
    bool is_uniform = false;  // a uniform buffer; else a storage buffer
    bool is_written = true;
    uint32_t bytes = 0;  // of a uniform buffer
};
struct Reflection {
    std::map<uint32_t, ReflectedBinding> bindings;  // of set 0
    uint32_t push_constant_bytes = 0;               // of the declared block
    bool is_understood = true;
};
Reflection reflect(const std::vector<uint32_t>& words);
