// A linear congruential step, and words multiplied with one another.
#include "compiler/algorithms/hash.h"

namespace firn {
namespace {

const uint32_t kFactor = 1664525, kStep = 1013904223;

}  // namespace

uvec2 pcg2d(const uvec2& v, SourceLine line) {
    LineScope at(line);
    uvec2 out = v * kFactor + kStep;
    for (int round = 0; round < 2; ++round) {
        out.x += out.y * kFactor;
        out.y += out.x * kFactor;
        out = out ^ (out >> 16);
    }
    return out;
}

uvec3 pcg3d(const uvec3& v, SourceLine line) {
    LineScope at(line);
    uvec3 out = v * kFactor + kStep;
    for (int round = 0; round < 2; ++round) {
        out.x += out.y * out.z;
        out.y += out.z * out.x;
        out.z += out.x * out.y;
        if (round == 0) out = out ^ (out >> 16);
    }
    return out;
}

uvec4 pcg4d(const uvec4& v, SourceLine line) {
    LineScope at(line);
    uvec4 out = v * kFactor + kStep;
    for (int round = 0; round < 2; ++round) {
        out.x += out.y * out.w;
        out.y += out.z * out.x;
        out.z += out.x * out.y;
        out.w += out.y * out.z;
        if (round == 0) out = out ^ (out >> 16);
    }
    return out;
}

}  // namespace firn
