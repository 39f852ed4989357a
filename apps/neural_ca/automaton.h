// A cellular automaton whose rule is a network.
#pragma once
#include <firn/firn.h>
#include <firn/learning.h>

namespace firn::neural_ca {

constexpr int kChannels = 12;  // of a cell: red, green, blue, life, and what it hides
constexpr float kAlive = 0.1f;

/// The rule of A. Mordvintsev et al., "Growing Neural Cellular Automata", 2020: every cell
/// perceives itself and the slopes of its neighbourhood, a network of two layers says how it
/// changes, half of the cells do so at a time, by chance, and those die that have nothing alive
/// beside them. Cells are f32 [batch, n, m, kChannels]; colours are premultiplied by the fourth
/// channel.
struct Rule : Module {
    explicit Rule(int hidden);
    /// Computes a step; `chance` f32 [batch, n, m, 1] is uniform in [0, 1).
    Tensor operator()(const Tensor& cells, const Tensor& chance) const;

    Linear perceive, change;
};

/// Returns grids with a living cell in the middle of each, f32 [batch, n, m, kChannels].
Tensor seed_cells(const Size& batch, const Size& n, const Size& m);
/// `cells` where nothing lives within `radius` of a place; all but the cells broadcast with
/// [batch, n, m, 1].
Tensor wounded(const Tensor& cells, const Tensor& i, const Tensor& j, const Tensor& radius);
/// Cells [n, m, kChannels] or colours [n, m, 4] on white, f32 [n, m, 3].
Tensor on_white(const Tensor& cells);

}  // namespace firn::neural_ca
