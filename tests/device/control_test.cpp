// Stores at computed indices, and loops whose end depends on data, on the device.
#include "tests/device/on_device.h"

namespace firn {
namespace {

Tensor bins(int n) { return (arange(n) * 7 + 3) % 61; }

/// Halves every element until none is above 1, and counts the iterations.
Tensor halvings(const Tensor& start) {
    Tensor x = start, iterations = zeros(start.shape(), i32);
    while_([&] { return x > 1; }, [&] { x = x / 2, iterations += 1; });
    return iterations;
}

const DeviceCase kControlCases[] = {
    {"histogram_of_collisions",
     [] {
         Tensor out = zeros({61}, i32);
         scatter_add(out(bins(100000)), 1);
         return out;
     }},
    {"floats_add",
     [] {
         Tensor out = zeros({61});
         scatter_add(out(bins(5000)), 0.25f);
         return out;
     }},
    {"floats_add_in_any_order",
     [] {
         Tensor out = ones({61});
         scatter_add(out(bins(5000)), sin(arange(5000).as(f32)));
         return out;
     },
     1e-3},
    {"sums_into_one_large_tensor",
     [] {
         Tensor out = ones({150, 150}), at = bins(3000) * 367 + arange(3000) % 7;
         for (int k = 0; k < 4; ++k)
             scatter_add(out(at / 150 + k % 2, at % 150 + k / 2), 0.25f * (k + 1) * arange(3000));
         return out;
     }},
    {"floats_multiply",
     [] {
         Tensor out = ones({61});
         scatter_mul(out(bins(300)), 2.0f);
         return out;
     }},
    {"floats_take_the_largest",
     [] {
         Tensor out = zeros({61});
         scatter_max(out(bins(5000)), sin(arange(5000).as(f32)));
         return out;
     },
     1e-6},
    {"integers_multiply",
     [] {
         Tensor out = ones({61}, i32);
         scatter_mul(out(bins(500)), 3);
         return out;
     }},
    {"bits",
     [] {
         Tensor out = zeros({61}, u32);
         scatter_xor(out(bins(5000)), arange(5000));
         scatter_or(out(bins(50)), 1);
         scatter_and(out(bins(5000)), 0xffff);
         return out.as(i32);
     }},
    {"last_position_wins",
     [] {
         Tensor out = zeros({61}, i32), n = arange(100000);
         out(bins(100000)) = n;
         return out;
     }},
    {"last_position_wins_in_two_dimensions",
     [] {
         Tensor out = zeros({7, 9}, i32);
         auto [i, j] = indices<2>({300, 200});
         out((i * 3 + j) % 8, (i + j * 5) % 11) = i * 1000 + j;
         return out;
     }},
    {"a_permutation_with_a_promise",
     [] {
         Tensor out = zeros({10007}), at = (arange(10007) * 5) % 10007;
         store(out(at), arange(0.0f, 10007.0f), {.unique = true});
         return out;
     }},
    {"masked_positions",
     [] {
         Tensor out = zeros({61}, i32), x = arange(3000);
         if_(x % 3 == 0, [&] { scatter_add(out(bins(3000)), x); });
         return out;
     }},
    {"stores_in_a_loop",
     [] {
         Tensor out = zeros({61}, i32);
         for (Tensor iteration : loop(20))
             scatter_add(out((bins(500) + iteration) % 61), iteration);
         return out;
     }},
    {"orbits_leave_marks",
     [] {
         Tensor visits = zeros({300}, i32), x = arange(2000) + 1;
         for (Tensor iteration : loop(200)) {
             if_(x == 1, [&] { break_(); });
             scatter_add(visits(x), iteration);
             x = select(x % 2 == 1, 3 * x + 1, x / 2);
         }
         return visits;
     }},
    {"element_by_element_until_done", [] { return halvings(arange(5000)); }},
    {"more_turns_than_the_driver_allows",
     [] {
         Tensor x = tensor({3, 200000, 70000}), iterations = zeros({3}, i32);
         while_([&] { return x > 0; }, [&] { x -= 2, iterations += 1; });
         return iterations;
     }},
    {"bounds_that_a_tensor_holds",
     [] {
         Tensor bounds = tensor({2, 50, 3}), sum = zeros({40}, i32), x = arange(40);
         for (Tensor i : loop(bounds(0), bounds(1), bounds(2))) sum += i * x;
         return sum;
     }},
    {"neighbours_until_nothing_changes",
     [] {
         Tensor x = zeros({90}, i32), i = index(x, 0), changed = true;
         x(0) = 7;
         while_([&] { return changed; },
                [&] {
                    Tensor next = max(x, x(i - 1));
                    changed = any(next != x);
                    x = next;
                });
         return x;
     }},
    {"an_open_loop_in_an_open_loop",
     [] {
         Tensor x = arange(8), i = index(x, 0), groups = tensor({2, 0, 3}), group = 0;
         while_([&] { return group < 3; },
                [&] {
                    Tensor left = groups(group);
                    while_([&] { return left > 0; }, [&] { x = x(i - 1), left -= 1; });
                    group += 1;
                });
         return x;
     }},
    {"a_store_that_is_always_outside",
     [] {
         Tensor counts = zeros({3}, i32);
         scatter_add(counts(min(index({5, 3}, 0), {.axis = 0}) - 2), 1);
         return counts;
     }},
    {"continue_and_break",
     [] {
         Tensor sum = zeros({30}, i32), x = arange(30);
         for (Tensor i : loop(50)) {
             if_((i + x) % 3 == 0, [&] { continue_(); });
             if_(i > x, [&] { break_(); });
             sum += i;
         }
         return sum;
     }},
};

INSTANTIATE_TEST_SUITE_P(Control, OnDevice, ::testing::ValuesIn(kControlCases), name_of);

}  // namespace
}  // namespace firn
