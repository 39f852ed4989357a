// Computes a step of the cells.
#include "apps/neural_ca/automaton.h"

namespace firn::neural_ca {
namespace {

/// Returns true for each cell that is alive or has one of its eight neighbours alive, [batch, n, m,
/// 1].
Tensor near_life(const Tensor& cells) {
    auto [b, i, j, c] = indices<4>({cells.size(0), cells.size(1), cells.size(2), 1});
    const Reader life = zero(cells);
    Tensor most = life(b, i, j, 3 + c);
    for (int down = -1; down <= 1; ++down)
        for (int across = -1; across <= 1; ++across)
            if (down != 0 || across != 0) most = max(most, life(b, i + down, j + across, 3 + c));
    return most > kAlive;
}

}  // namespace

Rule::Rule(int hidden)
    : perceive(add("perceive", Linear(3 * kChannels, hidden, {.init = he_normal()}))),
      // The first weights are 0, so that nothing changes at first.
      change(
          add("change", Linear(hidden, kChannels, {.bias = false, .init = constant_init(0.0f)}))) {}

Tensor Rule::operator()(const Tensor& cells, const Tensor& chance) const {
    auto [b, i, j, c] = indices<4>(cells.shape());
    const Reader at = zero(cells);
    // Sobel's slopes.
    const Tensor across = (at(b, i - 1, j + 1, c) - at(b, i - 1, j - 1, c) +
                           2.0f * (at(b, i, j + 1, c) - at(b, i, j - 1, c)) +
                           at(b, i + 1, j + 1, c) - at(b, i + 1, j - 1, c)) *
                          0.125f;
    const Tensor down = (at(b, i + 1, j - 1, c) - at(b, i - 1, j - 1, c) +
                         2.0f * (at(b, i + 1, j, c) - at(b, i - 1, j, c)) + at(b, i + 1, j + 1, c) -
                         at(b, i - 1, j + 1, c)) *
                        0.125f;
    // A matrix with a row per cell: products of large matrices are fast.
    const Tensor seen = reshape(concat({cells, across, down}, {.axis = 3}), {-1, 3 * kChannels});
    const Tensor by = reshape(change(relu(perceive(seen))), cells.shape());
    const Tensor next = cells + select(chance < 0.5f, by, 0.0f);
    return select(near_life(cells) & near_life(next), next, 0.0f);
}

Tensor seed_cells(const Size& batch, const Size& n, const Size& m) {
    auto [b, i, j, c] = indices<4>({batch, n, m, kChannels});
    return select((i == Tensor(n) / 2) & (j == Tensor(m) / 2) & (c >= 3), 1.0f, 0.0f);
}

Tensor wounded(const Tensor& cells, const Tensor& i, const Tensor& j, const Tensor& radius) {
    auto [b, row, column, c] = indices<4>(cells.shape());
    const Tensor y = row.as(f32) + 0.5f - i, x = column.as(f32) + 0.5f - j;
    return select(y * y + x * x < radius * radius, 0.0f, cells);
}

Tensor on_white(const Tensor& cells) {
    auto [i, j, c] = indices<3>({cells.size(0), cells.size(1), 3});
    return clamp(1.0f - clamp(cells(i, j, 3), 0.0f, 1.0f) + cells(i, j, c), 0.0f, 1.0f);
}

}  // namespace firn::neural_ca
