// Programs for the tests of the C interface, and short ways to use it.
#pragma once
#include <initializer_list>
#include <string>
#include <vector>

#include "tests/c/host.h"

namespace firn {

/// Files of programs, as they are in memory. Each is made once.
struct Files {
    /// u, v, dt: two steps of a wave over [n, m]; `dt` is a parameter from 0 to 0.5. Saved for
    /// every Vulkan device and for this one.
    std::vector<std::byte> wave;
    /// x of [n]: its running doubling until a sum exceeds 1000, by a loop of kernels that data end.
    std::vector<std::byte> endless;
    /// x of [n], count: count times x + 1 where count, an i32, is the number of iterations.
    std::vector<std::byte> counted;
    /// x of [n] of f64: halves of it.
    std::vector<std::byte> doubles;
    /// x of [n, m, 4], [n, m, 3] and [n, m]: 1 - x.
    std::vector<std::byte> invert4, invert3, invert1;
};
const Files& files();

/// Two steps of the wave on the host.
void wave_step(std::vector<float>& u, std::vector<float>& v, int n, int m, float dt);

#define EXPECT_OK(context, call) EXPECT_EQ(call, FIRN_OK) << firn_message(context)
#define ASSERT_OK(context, call) ASSERT_EQ(call, FIRN_OK) << firn_message(context)

/// A context on a host, released at its end.
class Context {
  public:
    explicit Context(const firn_host& host);
    ~Context();
    operator firn_context*() const { return context; }
    firn_context* context = nullptr;
};

firn_shape shape_of(std::initializer_list<int64_t> extents);

}  // namespace firn
