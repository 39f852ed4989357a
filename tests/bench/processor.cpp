// Hand-written C++ with vectors of 512 or 256 bits. This file is compiled for the processor that
// builds it, with sums of products fused.
#include "tests/bench/processor.h"

#include <immintrin.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "compiler/host/workers.h"

namespace firn::bench {

#if defined(__AVX2__) && defined(__FMA__)

namespace {

#if defined(__AVX512F__)
using V = __m512;
V load(const float* p) { return _mm512_loadu_ps(p); }
void store(float* p, V v) { _mm512_storeu_ps(p, v); }
void stream(float* p, V v) { _mm512_stream_ps(p, v); }  // past the caches
V all(float x) { return _mm512_set1_ps(x); }
V most(V a, V b) { return _mm512_max_ps(a, b); }
V least(V a, V b) { return _mm512_min_ps(a, b); }
V magnitude(V a) { return _mm512_abs_ps(a); }
V nearest(V a) { return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT); }
V times_power(V a, V n) { return _mm512_scalef_ps(a, n); }
V rough_inverse_root(V a) { return _mm512_rsqrt14_ps(a); }
float total(V a) { return _mm512_reduce_add_ps(a); }
float largest(V a) { return _mm512_reduce_max_ps(a); }
#else
using V = __m256;
V load(const float* p) { return _mm256_loadu_ps(p); }
void store(float* p, V v) { _mm256_storeu_ps(p, v); }
void stream(float* p, V v) { _mm256_stream_ps(p, v); }
V all(float x) { return _mm256_set1_ps(x); }
V most(V a, V b) { return _mm256_max_ps(a, b); }
V least(V a, V b) { return _mm256_min_ps(a, b); }
V magnitude(V a) { return _mm256_andnot_ps(all(-0.0f), a); }
V nearest(V a) { return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
V times_power(V a, V n) {
    const __m256i bits = _mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127));
    return a * _mm256_castsi256_ps(_mm256_slli_epi32(bits, 23));
}
V rough_inverse_root(V a) { return _mm256_rsqrt_ps(a); }
float total(V a) {
    float sum = 0;
    for (int k = 0; k < 8; ++k) sum += a[k];
    return sum;
}
float largest(V a) {
    float out = a[0];
    for (int k = 1; k < 8; ++k) out = std::max(out, a[k]);
    return out;
}
#endif
constexpr int64_t kLanes = sizeof(V) / sizeof(float);

/// Errors of some 2 units in the last place between -87 and 88.
V exp_of(V x) {
    const V n = nearest(x * all(1.44269504f));
    const V r = x - n * all(0.693359375f) + n * all(2.12194440e-4f);
    V p = all(1.9875691500e-4f);
    for (float c :
         {1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f})
        p = p * r + all(c);
    return times_power(p * r * r + r + all(1.0f), n);
}

V inverse_root(V a) {
    const V r = rough_inverse_root(a);
    return r * (all(1.5f) - all(0.5f) * a * r * r);
}

/// Parts of [0, count), each some multiple of `step`, on all threads.
template <class Part>
void in_parts(Workers& workers, int64_t count, int64_t step, const Part& part) {
    const auto parts = static_cast<uint64_t>((count + step - 1) / step);
    workers.run(parts, workers.size(), [&](uint64_t first, uint64_t last, size_t worker) {
        part(int64_t(first) * step, std::min(count, int64_t(last) * step), worker);
    });
}

constexpr int64_t kStreamStep = 1 << 16;

/// y = f(x) of a multiple of four vectors, more than any cache holds.
template <class F>
ProcessorProgram elementwise(int64_t count, F f) {
    return [=](const ProcessorMemory& memory, Workers& workers) {
        const float* x = memory.arguments[0];
        float* y = memory.results[0];
        in_parts(workers, count, kStreamStep, [&](int64_t from, int64_t to, size_t) {
            for (int64_t i = from; i < to; i += 4 * kLanes)
                for (int64_t k = 0; k < 4; ++k)
                    stream(y + i + k * kLanes, f(load(x + i + k * kLanes)));
            _mm_sfence();
        });
    };
}

/// Eight sums hide how long one takes.
float sum_of(const float* x, int64_t count) {
    V sums[8];
    for (V& sum : sums) sum = all(0);
    for (int64_t i = 0; i < count; i += 8 * kLanes)
        for (int64_t k = 0; k < 8; ++k) sums[k] += load(x + i + k * kLanes);
    for (int64_t k = 4; k > 0; k /= 2)
        for (int64_t l = 0; l < k; ++l) sums[l] += sums[l + k];
    return total(sums[0]);
}

/// `row(x, y)` for every row of a matrix.
template <class Row>
ProcessorProgram each_row(int64_t rows, int64_t columns, int64_t results, Row row) {
    return [=](const ProcessorMemory& memory, Workers& workers) {
        in_parts(workers, rows, 16, [&](int64_t from, int64_t to, size_t) {
            for (int64_t i = from; i < to; ++i)
                row(memory, memory.arguments[0] + i * columns, memory.results[0] + i * results);
            _mm_sfence();
        });
    };
}

/// A step over the rows of a square field whose edges repeat: `cell(at, around, centre)` for each
/// vector, `single` for each element at the edges.
template <class Cell, class Single>
void rows_of_field(const float* u, int64_t side, int64_t from, int64_t to, const Cell& cell,
                   const Single& single) {
    for (int64_t i = from; i < to; ++i) {
        const float* up = u + std::max<int64_t>(i - 1, 0) * side;
        const float* row = u + i * side;
        const float* down = u + std::min(i + 1, side - 1) * side;
        const auto one = [&](int64_t j) {
            single(
                i * side + j,
                up[j] + down[j] + row[std::max<int64_t>(j - 1, 0)] + row[std::min(j + 1, side - 1)],
                row[j]);
        };
        one(0);
        int64_t j = 1;
        for (; j + kLanes < side; j += kLanes)
            cell(i * side + j,
                 load(up + j) + load(down + j) + load(row + j - 1) + load(row + j + 1),
                 load(row + j));
        for (; j < side; ++j) one(j);
    }
}

constexpr int64_t kRowsAtOnce = 32;

#if defined(__AVX512F__)
/// Sums of lanes up to each one.
V sums_along(V v) {
    const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const auto from = [&](int before) {
        return _mm512_maskz_permutexvar_ps(__mmask16(0xffff << before),
                                           _mm512_sub_epi32(lane, _mm512_set1_epi32(before)), v);
    };
    for (int before : {1, 2, 4, 8}) v += from(before);
    return v;
}
V last(V v) { return _mm512_permutexvar_ps(_mm512_set1_epi32(15), v); }
#else
V sums_along(V v) {
    v += _mm256_castsi256_ps(_mm256_slli_si256(_mm256_castps_si256(v), 4));
    v += _mm256_castsi256_ps(_mm256_slli_si256(_mm256_castps_si256(v), 8));
    const V low = _mm256_permute2f128_ps(v, v, 0x08);  // behind zeros
    return v + _mm256_permute_ps(low, 0xff);
}
V last(V v) { return all(v[7]); }
#endif

constexpr int64_t kPeakTurns = 1 << 14, kPeakChains = 12;

}  // namespace

ProcessorProgram chain_by_hand(int64_t count) {
    return elementwise(count, [](V x) {
        return least(most(magnitude(x * all(1.5f) + all(0.25f)) - x * x, all(-1.0f)) * x,
                     all(2.0f));
    });
}

ProcessorProgram gelu_by_hand(int64_t count) {
    return elementwise(count, [](V x) {
        return x - x / (all(1) + exp_of(x * (all(1.5957691f) + all(0.071354816f) * x * x)));
    });
}

ProcessorProgram sum_by_hand(int64_t count) {
    return [=](const ProcessorMemory& memory, Workers& workers) {
        std::vector<float> sums(static_cast<size_t>(count / kStreamStep));
        in_parts(workers, count, kStreamStep, [&](int64_t from, int64_t to, size_t) {
            for (int64_t i = from; i < to; i += kStreamStep)
                sums[size_t(i / kStreamStep)] = sum_of(memory.arguments[0] + i, kStreamStep);
        });
        float sum = 0;
        for (float part : sums) sum += part;
        memory.results[0][0] = sum;
    };
}

ProcessorProgram row_sums_by_hand(int64_t rows, int64_t columns) {
    return each_row(rows, columns, 1, [=](const ProcessorMemory&, const float* x, float* y) {
        *y = sum_of(x, columns);
    });
}

ProcessorProgram column_sums_by_hand(int64_t rows, int64_t columns) {
    return [=](const ProcessorMemory& memory, Workers& workers) {
        // Each thread adds to sums of its own, which stay in its first cache; four rows at once.
        std::vector<std::vector<float>> sums(workers.size());
        in_parts(workers, rows, kRowsAtOnce, [&](int64_t from, int64_t to, size_t worker) {
            std::vector<float>& own = sums[worker];
            own.resize(size_t(columns));
            for (int64_t i = from; i < to; i += 4) {
                const float* x = memory.arguments[0] + i * columns;
                for (int64_t j = 0; j < columns; j += kLanes)
                    store(&own[size_t(j)],
                          load(&own[size_t(j)]) +
                              ((load(x + j) + load(x + j + columns)) +
                               (load(x + j + 2 * columns) + load(x + j + 3 * columns))));
            }
        });
        std::fill_n(memory.results[0], columns, 0.0f);
        for (const std::vector<float>& own : sums)
            for (size_t j = 0; j < own.size(); ++j) memory.results[0][j] += own[j];
    };
}

ProcessorProgram softmax_by_hand(int64_t rows, int64_t columns) {
    return each_row(rows, columns, columns, [=](const ProcessorMemory&, const float* x, float* y) {
        V tops[4];
        for (V& top : tops) top = load(x);
        for (int64_t j = 0; j < columns; j += 4 * kLanes)
            for (int64_t k = 0; k < 4; ++k) tops[k] = most(tops[k], load(x + j + k * kLanes));
        const V top = all(largest(most(most(tops[0], tops[1]), most(tops[2], tops[3]))));
        thread_local std::vector<float> powers;
        powers.resize(size_t(columns));
        V sums[4];
        for (V& sum : sums) sum = all(0);
        for (int64_t j = 0; j < columns; j += 4 * kLanes)
            for (int64_t k = 0; k < 4; ++k) {
                const V e = exp_of(load(x + j + k * kLanes) - top);
                sums[k] += e;
                store(&powers[size_t(j + k * kLanes)], e);
            }
        const V scale = all(1.0f / total((sums[0] + sums[1]) + (sums[2] + sums[3])));
        for (int64_t j = 0; j < columns; j += kLanes)
            stream(y + j, load(&powers[size_t(j)]) * scale);
    });
}

ProcessorProgram layer_norm_by_hand(int64_t rows, int64_t columns) {
    return each_row(
        rows, columns, columns, [=](const ProcessorMemory& memory, const float* x, float* y) {
            const float mean = sum_of(x, columns) / float(columns);
            V squares[4];
            for (V& sum : squares) sum = all(0);
            for (int64_t j = 0; j < columns; j += 4 * kLanes)
                for (int64_t k = 0; k < 4; ++k) {
                    const V away = load(x + j + k * kLanes) - all(mean);
                    squares[k] += away * away;
                }
            const float square = total((squares[0] + squares[1]) + (squares[2] + squares[3]));
            const V scale = all(1.0f / std::sqrt(square / float(columns) + 1e-5f));
            for (int64_t j = 0; j < columns; j += kLanes)
                stream(y + j, (load(x + j) - all(mean)) * scale * load(memory.arguments[1] + j) +
                                  load(memory.arguments[2] + j));
        });
}

ProcessorProgram wave_by_hand(int64_t side) {
    return [=](const ProcessorMemory& memory, Workers& workers) {
        const float *u = memory.arguments[0], *v = memory.arguments[1];
        float *height = memory.results[0], *speed = memory.results[1];
        in_parts(workers, side, kRowsAtOnce, [&](int64_t from, int64_t to, size_t) {
            rows_of_field(
                u, side, from, to,
                [&](int64_t at, V around, V centre) {
                    const V next = load(v + at) + all(0.1f) * (around - all(4.0f) * centre);
                    store(speed + at, next);
                    store(height + at, centre + all(0.1f) * next);
                },
                [&](int64_t at, float around, float centre) {
                    speed[at] = v[at] + 0.1f * (around - 4.0f * centre);
                    height[at] = centre + 0.1f * speed[at];
                });
        });
    };
}

ProcessorProgram jacobi_by_hand(int64_t side, int sweeps) {
    return [=](const ProcessorMemory& memory, Workers& workers) {
        thread_local std::vector<float> other;
        other.resize(size_t(side * side));
        const float* from = memory.arguments[0];
        for (int sweep = 0; sweep < sweeps; ++sweep) {
            float* to = (sweeps - sweep) % 2 ? memory.results[0] : other.data();
            in_parts(workers, side, kRowsAtOnce, [&](int64_t first, int64_t last, size_t) {
                rows_of_field(
                    from, side, first, last,
                    [&](int64_t at, V around, V) { store(to + at, all(0.25f) * around); },
                    [&](int64_t at, float around, float) { to[at] = 0.25f * around; });
            });
            from = to;
        }
    };
}

ProcessorProgram n_body_by_hand(int64_t bodies) {
    return [=](const ProcessorMemory& memory, Workers& workers) {
        const float *p = memory.arguments[0], *mass = memory.arguments[1];
        float* a = memory.results[0];
        std::vector<float> axes[3];
        for (int64_t axis = 0; axis < 3; ++axis)
            for (int64_t i = 0; i < bodies; ++i) axes[axis].push_back(p[3 * i + axis]);
        constexpr int64_t kOwn = 4;  // vectors of bodies that share what is read of another one
        in_parts(workers, bodies, kOwn * kLanes, [&](int64_t from, int64_t to, size_t) {
            for (int64_t i = from; i < to; i += kOwn * kLanes) {
                V at[3][kOwn], pull[3][kOwn];
                for (int64_t axis = 0; axis < 3; ++axis)
                    for (int64_t k = 0; k < kOwn; ++k) {
                        at[axis][k] = load(&axes[axis][size_t(i + k * kLanes)]);
                        pull[axis][k] = all(0);
                    }
                for (size_t j = 0; j < size_t(bodies); ++j) {
                    const V x = all(axes[0][j]), y = all(axes[1][j]), z = all(axes[2][j]),
                            weight = all(mass[j]);
                    for (int64_t k = 0; k < kOwn; ++k) {
                        const V dx = x - at[0][k], dy = y - at[1][k], dz = z - at[2][k],
                                r = inverse_root(dx * dx + dy * dy + dz * dz + all(0.0025f)),
                                w = weight * r * r * r;
                        pull[0][k] += w * dx, pull[1][k] += w * dy, pull[2][k] += w * dz;
                    }
                }
                for (int64_t k = 0; k < kOwn; ++k)
                    for (int64_t lane = 0; lane < kLanes; ++lane)
                        for (int64_t axis = 0; axis < 3; ++axis)
                            a[3 * (i + k * kLanes + lane) + axis] = pull[axis][k][lane];
            }
        });
    };
}

ProcessorProgram mandelbrot_by_hand(int64_t side, int turns, float left, float top, float pixel) {
    return [=](const ProcessorMemory& memory, Workers& workers) {
        float* time = memory.results[0];
        constexpr int64_t kOwn = 4;  // vectors of pixels side by side
        constexpr int64_t kPixels = kOwn * kLanes;
        in_parts(workers, side, 4, [&](int64_t from, int64_t to, size_t) {
            alignas(64) float far[kPixels], count[kPixels], across[kPixels];
            for (int64_t i = from; i < to; ++i)
                for (int64_t j = 0; j < side; j += kPixels) {
                    for (int64_t k = 0; k < kPixels; ++k) across[k] = left + pixel * float(j + k);
                    const V cy = all(top + pixel * float(i)), one = all(1), bound = all(256);
                    V cx[kOwn], x[kOwn], y[kOwn], n[kOwn];
                    for (int64_t k = 0; k < kOwn; ++k)
                        cx[k] = x[k] = load(across + k * kLanes), y[k] = cy, n[k] = all(0);
                    for (int turn = 0; turn < turns; ++turn) {
                        V alive = all(0);
                        for (int64_t k = 0; k < kOwn; ++k) {
                            const V xx = x[k] * x[k], yy = y[k] * y[k];
                            const auto on = xx + yy <= bound;
                            const V more = on ? one : one - one;
                            n[k] += more;
                            alive += more;
                            const V next = xx - yy + cx[k];
                            y[k] = on ? all(2) * x[k] * y[k] + cy : y[k];
                            x[k] = on ? next : x[k];
                        }
                        if (total(alive) == 0) break;
                    }
                    for (int64_t k = 0; k < kOwn; ++k) {
                        store(far + k * kLanes, x[k] * x[k] + y[k] * y[k]);
                        store(count + k * kLanes, n[k]);
                    }
                    for (int64_t k = 0; k < kPixels; ++k) {
                        const float square = std::max(far[k], 256.0f);
                        const float smooth = count[k] + 2.0f - std::log2(0.5f * std::log2(square));
                        time[i * side + j + k] = far[k] > 256.0f ? smooth : 0.0f;
                    }
                }
        });
    };
}

ProcessorProgram scan_by_hand(int64_t count) {
    return [=](const ProcessorMemory& memory, Workers& workers) {
        const float* x = memory.arguments[0];
        float* y = memory.results[0];
        // The second pass over a part finds it in a cache of its core.
        constexpr int64_t kPart = 1 << 17;
        const auto threads = int64_t(workers.size());
        std::vector<float> sums(workers.size());
        float before = 0;
        for (int64_t begin = 0; begin < count; begin += threads * kPart) {
            const int64_t parts = std::min(threads, (count - begin) / kPart);
            const auto each_part = [&](const auto& part) {
                workers.run(uint64_t(parts), workers.size(),
                            [&](uint64_t first, uint64_t last_part, size_t) {
                                for (uint64_t k = first; k < last_part; ++k)
                                    part(k, begin + int64_t(k) * kPart);
                            });
            };
            each_part([&](uint64_t k, int64_t from) { sums[k] = sum_of(x + from, kPart); });
            each_part([&](uint64_t k, int64_t from) {
                float own = before;
                for (uint64_t l = 0; l < k; ++l) own += sums[l];
                V carry = all(own);
                for (int64_t i = from; i < from + kPart; i += kLanes) {
                    const V along = sums_along(load(x + i)), next = carry + along;
                    stream(y + i, next);
                    carry += last(along);
                }
                _mm_sfence();
            });
            for (int64_t k = 0; k < parts; ++k) before += sums[size_t(k)];
        }
    };
}

ProcessorProgram compute_by_hand() {
    return [](const ProcessorMemory& memory, Workers& workers) {
        in_parts(workers, kPeakParts, 1, [&](int64_t from, int64_t to, size_t) {
            const V a = all(memory.arguments[0][0]), b = all(memory.arguments[0][1]);
            for (int64_t part = from; part < to; ++part) {
                V chains[kPeakChains];
                for (int64_t c = 0; c < kPeakChains; ++c) chains[c] = all(float(c));
                for (int64_t turn = 0; turn < kPeakTurns; ++turn)
                    for (V& chain : chains) chain = chain * a + b;
                V sum = all(0);
                for (V chain : chains) sum += chain;
                memory.results[0][part] = total(sum);
            }
        });
    };
}
double peak_operations() { return 2.0 * kLanes * kPeakParts * kPeakTurns * kPeakChains; }

ProcessorProgram copy_by_hand(int64_t count) {
    return elementwise(count, [](V x) { return x; });
}

#else

ProcessorProgram chain_by_hand(int64_t) { return nullptr; }
ProcessorProgram gelu_by_hand(int64_t) { return nullptr; }
ProcessorProgram sum_by_hand(int64_t) { return nullptr; }
ProcessorProgram row_sums_by_hand(int64_t, int64_t) { return nullptr; }
ProcessorProgram column_sums_by_hand(int64_t, int64_t) { return nullptr; }
ProcessorProgram softmax_by_hand(int64_t, int64_t) { return nullptr; }
ProcessorProgram layer_norm_by_hand(int64_t, int64_t) { return nullptr; }
ProcessorProgram wave_by_hand(int64_t) { return nullptr; }
ProcessorProgram jacobi_by_hand(int64_t, int) { return nullptr; }
ProcessorProgram n_body_by_hand(int64_t) { return nullptr; }
ProcessorProgram mandelbrot_by_hand(int64_t, int, float, float, float) { return nullptr; }
ProcessorProgram scan_by_hand(int64_t) { return nullptr; }
ProcessorProgram compute_by_hand() { return nullptr; }
double peak_operations() { return 0; }
ProcessorProgram copy_by_hand(int64_t) { return nullptr; }

#endif

ProcessorProgram sort_on_threads(int64_t count) {
    return [=](const ProcessorMemory& memory, Workers& workers) {
        const auto threads = int64_t(workers.size());
        std::vector<float> other(static_cast<size_t>(count));
        std::vector<int64_t> ends;  // of parts in order
        for (int64_t k = 1; k <= threads; ++k) ends.push_back(count * k / threads);
        float *from = memory.results[0], *to = other.data();
        const auto begin_of = [&](size_t part) { return part ? ends[part - 1] : 0; };
        const auto each = [&](size_t parts, const auto& work) {
            workers.run(parts, workers.size(), [&](uint64_t first, uint64_t last_part, size_t) {
                for (uint64_t k = first; k < last_part; ++k) work(size_t(k));
            });
        };
        each(ends.size(), [&](size_t part) {
            const int64_t begin = begin_of(part), end = ends[part];
            std::copy(memory.arguments[0] + begin, memory.arguments[0] + end, from + begin);
            std::sort(from + begin, from + end);
        });
        while (ends.size() > 1) {
            // Each merge is two, of what is less than the middle of the first part and of the rest.
            each(ends.size() / 2 * 2 + ends.size() % 2, [&](size_t half) {
                const size_t part = half / 2 * 2;
                const float *a = from + begin_of(part), *a_end = from + ends[part];
                if (part + 1 == ends.size()) {
                    std::copy(a, a_end, to + begin_of(part));
                    return;
                }
                const float *b = a_end, *b_end = from + ends[part + 1];
                const float* a_middle = a + (a_end - a) / 2;
                const float* b_middle = std::lower_bound(b, b_end, *a_middle);
                float* out = to + begin_of(part);
                if (half % 2 == 0)
                    std::merge(a, a_middle, b, b_middle, out);
                else
                    std::merge(a_middle, a_end, b_middle, b_end,
                               out + (a_middle - a) + (b_middle - b));
            });
            std::vector<int64_t> merged;
            for (size_t part = 1; part < ends.size(); part += 2) merged.push_back(ends[part]);
            if (ends.size() % 2) merged.push_back(ends.back());
            ends = merged;
            std::swap(from, to);
        }
        if (from != memory.results[0]) std::copy(from, from + count, memory.results[0]);
    };
}

void add_bias_and_clip(float* y, const float* bias, int64_t rows, int64_t columns,
                       Workers& workers) {
    workers.run(uint64_t(rows), workers.size(), [&](uint64_t first, uint64_t end, size_t) {
        for (auto i = int64_t(first); i < int64_t(end); ++i)
            for (int64_t j = 0; j < columns; ++j)
                y[i * columns + j] = std::max(y[i * columns + j] + bias[j], 0.0f);
    });
}

}  // namespace firn::bench
