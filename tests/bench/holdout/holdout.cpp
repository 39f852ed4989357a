// Programs by users who do not know the compiler: the list of all, and helpers of their files.
#include "tests/bench/holdout/holdout.h"

#include <cmath>

namespace firn::bench {

double share_that_differs(const std::vector<float>& a, const std::vector<float>& b) {
    size_t count = 0;
    for (size_t k = 0; k < a.size(); ++k)
        count += !(std::abs(a[k] - b[k]) <= 1e-3f * (1 + std::abs(b[k])));
    return double(count) / double(std::max<size_t>(a.size(), 1));
}

HandProgram through_texels(HandProgram program) {
    for (HandKernel& kernel : program.kernels)
        for (HandBinding& binding : kernel.bindings) {
            if (binding.written) continue;
            if (binding.as == As::Floats) binding.as = As::Texels;
            if (binding.as == As::Ints) binding.as = As::IntTexels;
            if (binding.as == As::Vec4s) binding.as = As::Texels4;
        }
    return program;
}

Plane hills(int h, int w, float waves) {
    Plane out(h, w);
    for (int i = 0; i < h; ++i)
        for (int j = 0; j < w; ++j) {
            const float y = waves * float(i) / float(h), x = waves * float(j) / float(w);
            out(i, j) = 0.5f * std::sin(6.3f * y + 2.0f * std::cos(3.1f * x)) +
                        0.5f * std::cos(5.2f * x - 1.7f * std::sin(4.4f * y));
        }
    return out;
}

uint32_t host_pcg(uint32_t x) {
    const uint32_t state = x * 747796405u + 2891336453u;
    const uint32_t word = ((state >> ((state >> 28) + 4u)) ^ state) * 277803737u;
    return (word >> 22) ^ word;
}

float host_pcgf(uint32_t x) { return float(host_pcg(x) >> 8) / float(1 << 24); }

void add_holdout(std::vector<Case>& cases) {
    for (auto add : {add_flows,           add_spectral,      add_rays,           add_contours,
                     add_components,      add_points,        add_pictures,       add_edges,
                     add_graphs,          add_learning,      add_sequences,      add_solvers,
                     add_particles,       add_filters,       add_fields,         add_terrain,
                     add_attention,       add_shallow_water, add_perona_malik,   add_stereo,
                     add_non_local_means, add_black_hole,    add_newton_fractal, add_cloth,
                     add_lennard_jones,   add_mixture,       add_logistic,       add_summed_area,
                     add_run_lengths,     add_ising,         add_levelset,       add_multigrid,
                     add_demosaic,        add_hog,           add_lucas_kanade,   add_point_splat,
                     add_temporal_aa,     add_volume_render, add_boosted_trees,  add_lomb_scargle,
                     add_particle_filter, add_bellman_ford,  add_physarum,       add_viterbi})
        add(cases);
}

}  // namespace firn::bench
