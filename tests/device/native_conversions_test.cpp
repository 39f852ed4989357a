// Floats that become integers by native code: those at the ends of a type, and those that have no
// integer.
#include <cmath>
#include <limits>
#include <vector>

#include "tests/device/native_levels.h"

namespace firn {
namespace {

class NativeConversions : public NativeLevel {};
INSTANTIATE_TEST_SUITE_P(Levels, NativeConversions, native_levels(), level_name);

/// Numbers beside the ends of all integers, halves, and those that are no numbers, three times over
/// so that each is in several lanes.
template <class T>
std::vector<T> ends() {
    const T inf = std::numeric_limits<T>::infinity();
    std::vector<T> values{T(0),   T(-0.0), T(0.5),           T(-0.5),
                          T(1.5), T(-1.5), std::nan("") + 0, std::numeric_limits<T>::denorm_min(),
                          inf,    -inf,    T(1e30),          T(-1e30)};
    for (const int digits : {7, 8, 15, 16, 31, 32, 63, 64}) {
        const T end = std::ldexp(T(1), digits);
        for (const T near : {end, std::nextafter(end, T(0)), std::nextafter(end, inf), end - 1,
                             end + 1, end - T(0.5)})
            values.insert(values.end(), {near, -near});
    }
    std::vector<T> out;
    for (int k = 0; k < 3; ++k) {
        out.insert(out.end(), values.begin(), values.end());
        out.push_back(T(7));
    }
    return out;
}

TEST_P(NativeConversions, SaturateAsThoseOfTheOracleDo) {
    for (const DType type : {i8, u8, i16, u16, i32, u32, i64, u64}) {
        const auto halves = [&](const Tensor& x) {
            return concat({(x.as(type) >> 1).as(i64), (x.as(type) & 1).as(i64)});
        };
        expect_equal(std::string("f32 to ") + type.name(),
                     [&] { return halves(tensor(ends<float>())); });
        expect_equal(std::string("f64 to ") + type.name(),
                     [&] { return halves(tensor(ends<double>())); });
    }
    for (const DType half : {f16, bf16})
        for (const DType type : {i8, u8, i32, u32, i64})
            expect_equal(std::string(half.name()) + " to " + type.name(),
                         [&] { return tensor(ends<float>()).as(half).as(type).as(f64); });
}

}  // namespace
}  // namespace firn
