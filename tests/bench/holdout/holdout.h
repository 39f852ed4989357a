// Programs by users who do not know the compiler: helpers of their files.
#pragma once
#include <algorithm>
#include <vector>

#include "tests/bench/bench.h"

namespace firn::bench {

/// The cases of each file.
void add_flows(std::vector<Case>& cases);
void add_spectral(std::vector<Case>& cases);
void add_rays(std::vector<Case>& cases);
void add_contours(std::vector<Case>& cases);
void add_components(std::vector<Case>& cases);
void add_points(std::vector<Case>& cases);
void add_pictures(std::vector<Case>& cases);
void add_edges(std::vector<Case>& cases);
void add_graphs(std::vector<Case>& cases);
void add_learning(std::vector<Case>& cases);
void add_sequences(std::vector<Case>& cases);
void add_solvers(std::vector<Case>& cases);
void add_particles(std::vector<Case>& cases);
void add_filters(std::vector<Case>& cases);
void add_fields(std::vector<Case>& cases);
void add_terrain(std::vector<Case>& cases);
void add_attention(std::vector<Case>& cases);
void add_shallow_water(std::vector<Case>& cases);
void add_perona_malik(std::vector<Case>& cases);
void add_stereo(std::vector<Case>& cases);
void add_non_local_means(std::vector<Case>& cases);
void add_black_hole(std::vector<Case>& cases);
void add_newton_fractal(std::vector<Case>& cases);
void add_cloth(std::vector<Case>& cases);
void add_lennard_jones(std::vector<Case>& cases);
void add_mixture(std::vector<Case>& cases);
void add_logistic(std::vector<Case>& cases);
void add_summed_area(std::vector<Case>& cases);
void add_run_lengths(std::vector<Case>& cases);
void add_ising(std::vector<Case>& cases);
void add_levelset(std::vector<Case>& cases);
void add_multigrid(std::vector<Case>& cases);
void add_demosaic(std::vector<Case>& cases);
void add_hog(std::vector<Case>& cases);
void add_lucas_kanade(std::vector<Case>& cases);
void add_point_splat(std::vector<Case>& cases);
void add_temporal_aa(std::vector<Case>& cases);
void add_volume_render(std::vector<Case>& cases);
void add_boosted_trees(std::vector<Case>& cases);
void add_lomb_scargle(std::vector<Case>& cases);
void add_particle_filter(std::vector<Case>& cases);
void add_bellman_ford(std::vector<Case>& cases);
void add_physarum(std::vector<Case>& cases);
void add_viterbi(std::vector<Case>& cases);

/// The share of elements that are off by more than a thousandth: where a rounding decides between
/// two outcomes, a few are others.
double share_that_differs(const std::vector<float>& a, const std::vector<float>& b);

/// Returns the same kernels, with tensors that they only read (by `name_at(k)`) bound as texels
/// instead of storage buffers.
HandProgram through_texels(HandProgram program);

/// A picture on the host.
struct Plane {
    Plane(int rows, int columns, float value = 0)
        : h(rows), w(columns), values(static_cast<size_t>(rows) * static_cast<size_t>(columns)) {
        std::fill(values.begin(), values.end(), value);
    }
    Plane(int rows, int columns, std::vector<float> data)
        : h(rows), w(columns), values(std::move(data)) {}

    float& operator()(int i, int j) { return values[place(i, j)]; }
    float operator()(int i, int j) const { return values[place(i, j)]; }
    /// Outside, the nearest inside.
    float clamped(int i, int j) const {
        return values[place(std::clamp(i, 0, h - 1), std::clamp(j, 0, w - 1))];
    }
    bool has(int i, int j) const { return i >= 0 && i < h && j >= 0 && j < w; }
    size_t place(int i, int j) const {
        return static_cast<size_t>(i) * static_cast<size_t>(w) + static_cast<size_t>(j);
    }

    int h, w;
    std::vector<float> values;
};

/// Smooth hills between about -1 and 1.
Plane hills(int h, int w, float waves);

/// The generator of firn::pcg on the host, and of firn::pcgf.
uint32_t host_pcg(uint32_t x);
float host_pcgf(uint32_t x);

}  // namespace firn::bench
