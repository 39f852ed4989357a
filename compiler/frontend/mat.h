// mat2 mat3 mat4 over tensors: columns of vectors, as in GLSL.
#pragma once
#include "compiler/frontend/vec_math.h"

namespace firn {

/// N columns of N tensors: `m[column][row]`. Like vectors they are so many values of their own.
///
/// Example: after `mat2 m(1, 2, 3, 4);` `m[1]` is `{3, 4}`, `stack(m)` is
/// `{{1, 3}, {2, 4}}`, `m * vec2(1, 1)` is `{4, 6}`, `vec2(1, 1) * m` is `{3, 7}`.
template <size_t N>
struct Mat {
    std::array<Vec<N>, N> columns;

    /// A matrix without a value, as Tensor().
    Mat() = default;
    /// `diagonal` on the diagonal, 0 elsewhere: `mat3(1.0f)` is the identity.
    explicit Mat(const Arg& diagonal) {
        for (size_t j = 0; j < N; ++j)
            for (size_t i = 0; i < N; ++i)
                columns[j][i] = i == j ? to_kind(diagonal, VecKind::Float) : Tensor(0.0f);
    }
    /// The columns from left to right.
    template <std::derived_from<Vec<N>>... More>
    requires(sizeof...(More) == N - 1) Mat(const Vec<N>& first, const More&... more)
        : columns{first, more...} {}
    /// The elements, column by column, from tensors and numbers.
    template <class... Elements>
    requires(sizeof...(Elements) == N * N && (std::constructible_from<Arg, const Elements&> && ...))
        Mat(const Elements&... all) {
        size_t next = 0;
        ((columns[next / N][next % N] = to_kind(all, VecKind::Float), ++next), ...);
    }

    /// A column; std::out_of_range where there is none.
    /// @{
    Vec<N>& operator[](size_t column) { return columns.at(column); }
    const Vec<N>& operator[](size_t column) const { return columns.at(column); }
    /// @}

    /// The product of matrices.
    friend Mat operator*(const Mat& a, const Mat& b) {
        return by_column([&](size_t j) { return a * b[j]; });
    }
    /// The matrix times the column vector.
    friend Vec<N> operator*(const Mat& m, const Vec<N>& v) {
        Vec<N> sum = m[0] * v.x;
        for (size_t j = 1; j < N; ++j) sum += m[j] * v[j];
        return sum;
    }
    /// The row vector times the matrix.
    friend Vec<N> operator*(const Vec<N>& v, const Mat& m) {
        Vec<N> out;
        for (size_t j = 0; j < N; ++j) out[j] = dot(v, m[j]);
        return out;
    }
    /// Operators with one number or tensor, or with two matrices element by element.
    /// @{
    friend Mat operator*(const Mat& m, const Arg& s) {
        return by_column(
            [&](size_t j) { return m[j] * VecArg<N, VecKind::Float>(s.tensor(), s.line()); });
    }
    friend Mat operator*(const Arg& s, const Mat& m) { return m * s; }
    friend Mat operator/(const Mat& m, const Arg& s) {
        return by_column(
            [&](size_t j) { return m[j] / VecArg<N, VecKind::Float>(s.tensor(), s.line()); });
    }
    friend Mat operator+(const Mat& a, const Mat& b) {
        return by_column([&](size_t j) { return a[j] + b[j]; });
    }
    friend Mat operator-(const Mat& a, const Mat& b) {
        return by_column([&](size_t j) { return a[j] - b[j]; });
    }
    friend Mat operator-(const Mat& m) {
        return by_column([&](size_t j) { return -m[j]; });
    }
    /// @}

    /// Returns the matrix with the columns `column(j)`.
    template <class F>
    static Mat by_column(const F& column) {
        Mat out;
        for (size_t j = 0; j < N; ++j) out[j] = column(j);
        return out;
    }
};

/// Matrices by GLSL's names.
/// @{
using mat2 = Mat<2>;
using mat3 = Mat<3>;
using mat4 = Mat<4>;
/// @}

/// Rows and columns exchanged.
///
/// Example: `stack(transpose(mat2(vec2(1, 2), vec2(3, 4))))` is `{{1, 2}, {3, 4}}`.
template <size_t N>
Mat<N> transpose(const Mat<N>& m) {
    Mat<N> out;
    for (size_t j = 0; j < N; ++j)
        for (size_t i = 0; i < N; ++i) out[j][i] = m[i][j];
    return out;
}

/// Element (i, j) is a[i] b[j].
///
/// Example: `stack(outerProduct(vec2(1, 2), vec2(3, 4)))` is `{{3, 4}, {6, 8}}`.
template <size_t N>
Mat<N> outerProduct(const Vec<N>& a, const Vec<N>& b, SourceLine line = here()) {
    LineScope at(line);
    return Mat<N>::by_column([&](size_t j) { return a * b[j]; });
}

/// @cond

/// Returns the determinant of the matrix without one row and one column.
template <size_t N>
Tensor minor_of(const Mat<N>& m, size_t row, size_t column);

/// @endcond

/// The determinant, by cofactors of the first row.
///
/// Example: `determinant(mat2(vec2(1, 2), vec2(3, 4)))` is `-2`.
template <size_t N>
Tensor determinant(const Mat<N>& m, SourceLine line = here()) {
    LineScope at(line);
    if constexpr (N == 2) {
        return m[0].x * m[1].y - m[1].x * m[0].y;
    } else {
        Tensor sum = m[0].x * minor_of(m, 0, 0);
        for (size_t j = 1; j < N; ++j) {
            Tensor part = m[j].x * minor_of(m, 0, j);
            sum = j % 2 ? sum - part : sum + part;
        }
        return sum;
    }
}

/// @cond

template <size_t N>
Tensor minor_of(const Mat<N>& m, size_t row, size_t column) {
    if constexpr (N == 2) {
        return m[1 - column][1 - row];
    } else {
        Mat<N - 1> rest;
        for (size_t j = 0; j + 1 < N; ++j)
            for (size_t i = 0; i + 1 < N; ++i)
                rest[j][i] = m[j < column ? j : j + 1][i < row ? i : i + 1];
        return determinant(rest);
    }
}

/// @endcond

/// The inverse, by cofactors; not finite where the determinant is 0.
///
/// Example: `stack(inverse(mat2(vec2(1, 2), vec2(3, 4))))` is `{{-2, 1.5}, {1, -0.5}}`.
template <size_t N>
Mat<N> inverse(const Mat<N>& m, SourceLine line = here()) {
    LineScope at(line);
    Tensor scale = 1.0f / determinant(m);
    Mat<N> out;
    for (size_t j = 0; j < N; ++j)
        for (size_t i = 0; i < N; ++i) {
            Tensor cofactor = minor_of(m, j, i) * scale;
            out[j][i] = (i + j) % 2 ? -cofactor : cofactor;
        }
    return out;
}

/// The last two axes of a tensor, rows and columns, as a matrix; `stack(m)` is the way back.
/// UserError where they have other sizes.
///
/// Example: after `Tensor t = tensor({1, 2, 3, 4}, {2, 2});` `mat_of<mat2>(t)[0]` is `{1, 3}`.
template <class M>
M mat_of(const Operand& x) {
    using V = std::remove_cvref_t<decltype(M()[0])>;
    M out;
    std::vector<Tensor> columns = components(x, V::kSize);
    for (size_t j = 0; j < columns.size(); ++j) out[j] = vec_of<V>(Operand(columns[j], x.line()));
    return out;
}
/// Rows and columns along two new last axes, broadcast to one shape.
///
/// Example: `stack(mat2(vec2(1, 2), vec2(3, 4)))` is `{{1, 3}, {2, 4}}`.
template <size_t N>
Tensor stack(const Mat<N>& m, SourceLine line = here()) {
    std::vector<Tensor> columns;
    for (size_t j = 0; j < N; ++j) columns.push_back(stack(m[j], line));
    return stack_components(columns, line);
}

/// Prints as in GLSL, column by column: `mat2(1, 2, 3, 4)` is shown as `mat2(1, 2, 3, 4)`.
template <size_t N>
std::ostream& operator<<(std::ostream& out, const Mat<N>& m) {
    std::vector<Tensor> parts;
    for (const Vec<N>& column : m.columns)
        for (size_t i = 0; i < N; ++i) parts.push_back(column[i]);
    return stream_components(out, "mat" + std::to_string(N), parts);
}

/// @cond
/// Compiled functions take and give matrices: column by column.
template <size_t N>
struct Results<Mat<N>> {
    using Type = Mat<N>;
    static constexpr size_t count = N * N, vectors = 0, each = 0;
    static void take(const Type& from, FlatValue& to) { take_flat(from.columns, to); }
    static Type give(FlatReader& from) {
        Type out;
        out.columns = Results<decltype(out.columns)>::give(from);
        return out;
    }
};
/// @endcond

}  // namespace firn
