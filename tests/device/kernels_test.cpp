// Kernels by hand on the device give what the oracle gives.
#include "tests/device/on_device.h"

namespace firn {
namespace {

Tensor tiled_product(int n, int k, int m) {
    Tensor a = tensor(random_floats(static_cast<size_t>(n * k), 1), {n, k});
    Tensor b = tensor(random_floats(static_cast<size_t>(k * m), 2), {k, m});
    Tensor c = zeros({n, m});
    kernel({n, m}, {.group = {16, 16}}, [&](Tensor i, Tensor j) {
        Shared a_tile = shared(f32, {16, 16}), b_tile = shared(f32, {16, 16});
        Tensor row = local_index(0), column = local_index(1), sum = 0.0f;
        for (Tensor t : loop(0, k, 16)) {
            a_tile(row, column) = zero(a)(i, t + column);
            b_tile(row, column) = zero(b)(t + row, j);
            barrier();
            for (Tensor q : loop(16)) sum += a_tile(row, q) * b_tile(q, column);
            barrier();
        }
        c(i, j) = sum;
    });
    return c;
}

const DeviceCase kKernelCases[] = {
    {"stores",
     [] {
         Tensor c = zeros({30, 17}, i32);
         kernel({30, 17}, [&](Tensor i, Tensor j) { c(i, j) = i * 100 + j; });
         return c;
     }},
    {"three_axes",
     [] {
         Tensor c = zeros({3, 5, 9}, i32);
         kernel({3, 5, 9},
                [&](Tensor i, Tensor j, Tensor k) { c(i, j, k) = i * 100 + j * 10 + k; });
         return c;
     }},
    {"product_in_tiles", [] { return tiled_product(100, 70, 45); }, 1e-4},
    {"tree_of_sums",
     [] {
         Tensor x = tensor(random_ints(1000, 1, -9, 9)), sums = zeros({8}, i32);
         kernel({1000}, {.group = {128}}, [&](Tensor i) {
             Shared part = shared(i32, 128);
             Tensor at = local_index(0), half = 64;
             part(at) = zero(x)(i);
             barrier();
             for (Tensor step : loop(7)) {
                 if_(at < half, [&] { part(at) = part(at) + part(at + half); });
                 barrier();
                 half = half / 2;
             }
             if_(at == 0, [&] { sums(group_index(0)) = part(0); });
         });
         return sums;
     }},
    {"tickets",
     [] {
         Tensor seen = zeros({500}, i32), ticket = zeros({1}, i32);
         kernel({500}, [&](Tensor) {
             Tensor mine = atomic_add(ticket(0), 1);
             atomic_add(seen(mine), 1);
         });
         return concat({seen, ticket});
     }},
    {"histogram_in_shared_memory",
     [] {
         Tensor x = tensor(random_ints(4000, 3, 0, 63)), histogram = zeros({64}, i32);
         kernel({4000}, {.group = {64}}, [&](Tensor i) {
             Shared bins = shared(i32, 64);
             if_(i < 4000, [&] { atomic_add(bins(x(i)), 1); });
             barrier();
             atomic_add(histogram(local_index(0)), bins(local_index(0)));
         });
         return histogram;
     }},
    {"floats_meet",
     [] {
         Tensor x = tensor(random_floats(512, 5)), low = full({2}, 9.0f), total = zeros({2});
         kernel({512}, {.group = {64}}, [&](Tensor i) {
             Shared smallest = shared(f32, 1), sum = shared(f32, 1);
             if_(local_index(0) == 0, [&] { smallest(0) = 1e30f; });
             barrier();
             atomic_min(smallest(0), x(i));
             atomic_add(sum(0), x(i));
             barrier();
             if_(local_index(0) == 0, [&] {
                 atomic_min(low(i % 2), smallest(0));
                 atomic_add(total(group_index(0) % 2), sum(0));
             });
         });
         return concat({low, total});
     },
     1e-4},
    {"bools_meet",
     [] {
         Tensor any = zeros({4}, boolean), x = tensor(random_ints(64, 5, -20, 3));
         kernel({64}, [&](Tensor i) { atomic_or(any(i % 4), x(i) > 1); });
         return any;
     }},
    {"local_stacks",
     [] {
         Tensor c = zeros({200}, i32);
         kernel({200}, [&](Tensor i) {
             Local stack = local(i32, 16);
             Tensor depth = 0;
             for (Tensor k : loop(16)) {
                 if_(k > i % 19, [&] { break_(); });
                 stack(depth) = k * k;
                 depth += 1;
             }
             Tensor sum = 0;
             for (Tensor k : loop(16)) sum += select(k < depth, stack(k), 0);
             c(i) = sum * 100 + depth;
         });
         return c;
     }},
    {"stored_once_and_read_in_a_later_loop",
     [] {
         Tensor c = zeros({64}, i32);
         kernel({64}, {.group = {16}}, [&](Tensor i) {
             Shared s = shared(i32, 16);
             Local own = local(i32, 4);
             Tensor k = local_index(0), sum = 0;
             s(k) = i;
             barrier();
             for (Tensor t : loop(4)) own(t) = s((k + t) % 16);
             for (Tensor t : loop(4)) sum += own(3 - t) * (t + 1);
             c(i) = sum;
         });
         return c;
     }},
    {"arrays_of_narrow_types",
     [] {
         Tensor sums = zeros({64}, i32);
         for (DType type : {f16, bf16, i16, u16, i8, u8, boolean}) {
             Tensor x = arange(64).as(type);
             kernel({64}, {.group = {16}}, [&](Tensor i) {
                 Shared s = shared(type, 16);
                 Local own = local(type, 4);
                 Tensor k = local_index(0);
                 s(k) = x(i) + 200;
                 barrier();
                 for (Tensor t : loop(4)) own(t) = s((k + t) % 16);
                 sums(i) = sums(i) * 3 + own(i % 4).as(i32);
             });
         }
         return sums;
     }},
    // The device decides the number of lanes: the compared values do not depend on it.
    {"subgroups",
     [] {
         const int lanes = subgroup_size();
         Tensor x = tensor(random_ints(512, 8, -50, 50)), out = zeros({5}, i32);
         kernel({512}, {.group = {128}}, [&](Tensor i) {
             Tensor lane = subgroup_lane(), last = lane == lanes - 1;
             Tensor sum = subgroup_add(x(i)), running = subgroup_inclusive_add(x(i)),
                    largest = subgroup_max(x(i));
             Tensor mirrored = subgroup_shuffle(x(i), lanes - 1 - lane);
             atomic_add(out(0), select(lane == 0, sum, 0));
             atomic_add(out(1), select(last, running - sum, 0));
             atomic_max(out(2), largest);
             atomic_add(out(3), mirrored);
             atomic_add(out(4), select(subgroup_all(x(i) > -51), 1, 0));
         });
         return out;
     }},
    {"subgroups_of_a_square_group",
     [] {
         Tensor out = zeros({2}, i32);
         kernel({16, 16}, {.group = {16, 16}}, [&](Tensor i, Tensor j) {
             // Lanes are neighbours along the last axis first.
             Tensor first = subgroup_broadcast(i * 16 + j, 0);
             atomic_add(out(0), select(first + subgroup_lane() == i * 16 + j, 1, 0));
             atomic_add(out(1), select(subgroup_lane() == 0, subgroup_add(i * 16 + j), 0));
         });
         return out;
     }},
    {"groups_whose_rows_are_no_whole_subgroups",
     [] {
         Tensor x = tensor(random_ints(5 * 6 * 7, 8, -50, 50), {5, 6, 7}), out = zeros_like(x);
         kernel(x.shape(), {.group = {2, 3, 3}}, [&](Tensor i, Tensor j, Tensor k) {
             out(i, j, k) = x(i, 5 - j, 6 - k) + 7 * i + 3 * j + k;
         });
         return out;
     }},
    {"entry_values_beyond_the_end",
     [] {
         Tensor y = tensor(random_floats(70, 3)) * 2.0f, w = zeros({1100});
         kernel({1050}, {.group = {64}}, [&](Tensor i) {
             const Tensor before = y(i);
             y(i) = before + 100.0f;
             w(1087 - i) = before;
         });
         return concat({y, w});
     }},
    {"entry_values_of_rows_beyond_the_end",
     [] {
         Tensor y = tensor(random_floats(700, 3), {10, 70}) * 2.0f, w = zeros({40, 80});
         kernel({33, 75}, [&](Tensor i, Tensor j) {
             const Tensor before = wrap(y)(i, j);
             y(i, j) = before * before;
             w(39 - i, 79 - j) = before;
         });
         return concat({reshape(y, {-1}), reshape(w, {-1})});
     }},
    {"gradients_at_the_index_of_a_tensor",
     [] {
         Tensor x = tensor(random_floats(70, 3)), y = zeros({70}), z = zeros({70});
         kernel({70}, [&](Tensor i) { y(index(y, 0)) = 2.0f * x(i) * x(69 - i); });
         kernel({70}, [&](Tensor i) { z(index(z, 0)) = x * y(i); });
         return concat({y, grad(sum(z * z), x), jvp(z, {x}, {cos(x)})});
     },
     1e-4},
    {"large_arrays_of_an_invocation",
     [] {
         const int size = 4900, n = 500;
         Tensor x = tensor(random_ints(n, 5, 0, 1 << 20)), c = zeros({n}, i32);
         kernel({n}, {.group = {64}}, [&](Tensor i) {
             Local own = local(i32, {70, 70});
             Local seen = local(boolean, size);
             Shared part = shared(i32, 64);
             own(x(i) % 70, i % 70) = x(i);
             seen(x(i) % size) = x(i) > 500;
             part(local_index(0)) = own(x(i) % 70, i % 70) - own(x(i) % 69, 3);
             barrier();
             c(i) = part(63 - local_index(0)) + select(seen(x(i) % size), i, -i);
         });
         return c;
     }},
    {"large_arrays_where_only_the_device_knows_the_size",
     [] {
         auto run = compile(
             [](Tensor x) {
                 Tensor y = compact(x, x > 2), c = zeros(y.shape(), i32);
                 kernel({y.size(0)}, [&](Tensor i) {
                     Local own = local(i32, 4900);
                     own(y(i) * 500) = i;
                     c(i) = own(y(i) * 500) + y(i);
                 });
                 return c;
             },
             {i32("n")});
         return Tensor(run(tensor(random_ints(900, 9, -9, 9))));
     }},
    {"a_size_that_only_the_device_knows",
     [] {
         auto run = compile(
             [](Tensor x) {
                 Tensor y = compact(x, x > 2), c = zeros(y.shape(), i32);
                 kernel({y.size(0)}, {.group = {64}}, [&](Tensor i) { c(i) = y(i) * 1000 + i; });
                 return c;
             },
             {i32("n")});
         return Tensor(run(tensor(random_ints(3000, 9, -9, 9))));
     }},
};

INSTANTIATE_TEST_SUITE_P(Kernels, OnDevice, ::testing::ValuesIn(kKernelCases), name_of);

}  // namespace
}  // namespace firn
