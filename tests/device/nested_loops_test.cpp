// Loops of kernels inside one another, on the device: whose buffers are whose, and which turn it is.
#include "tests/device/on_device.h"

namespace firn {
namespace {

Tensor k4() { return arange(4) + 9; }
Tensor start4() { return arange(4) * 0; }

const DeviceCase kCases[] = {
    {"an_inner_loop_starts_from_what_the_outer_one_assigns_later",
     [] {
         Tensor x = start4() + 7, out = k4();
         for (Tensor t : loop(2)) {
             Tensor w = x;
             for (Tensor s : loop(2)) w = roll(w, 1) + 1;
             out = w;
             x = start4() + 5;
         }
         return out;
     }},
    {"so_in_one_turn",
     [] {
         Tensor x = start4() + 7, out = k4();
         for (Tensor t : loop(1)) {
             Tensor w = x;
             for (Tensor s : loop(3)) w = roll(w, 1) + 1;
             out = w;
             x = start4() + 5;
         }
         return out * 100 + x;
     }},
    {"so_with_stores",
     [] {
         Tensor x = start4() + 7, out = k4();
         for (Tensor t : loop(3)) {
             Tensor w = x;
             for (Tensor s : loop(3)) w(s) = w(3) + t, w = roll(w, 1);
             out = w + out;
             x = start4() + t;
         }
         return out * 100 + x;
     }},
    {"so_with_a_break",
     [] {
         Tensor x = start4() + 7, out = k4();
         for (Tensor t : loop(40)) {
             Tensor w = x;
             for (Tensor s : loop(3)) w = roll(w, 1) + 1;
             out = w + out % 100;
             if_(sum(out) > 190, [&] { break_(); });
             x = out % 7 + t;
         }
         return out * 100 + x;
     }},
    {"so_with_max_steps",
     [] {
         Tensor x = start4() + 7, out = k4();
         while_([&] { return sum(out) < 190; },
                [&] {
                    Tensor w = x;
                    while_([&] { return sum(w) < 50; }, [&] { w = roll(w, 1) + 1; }, {.max_steps = 3});
                    out = w + out;
                    x = start4() + 5;
                },
                {.max_steps = 5});
         return out * 100 + x;
     }},
};

INSTANTIATE_TEST_SUITE_P(NestedLoops, OnDevice, ::testing::ValuesIn(kCases), name_of);

}  // namespace
}  // namespace firn
