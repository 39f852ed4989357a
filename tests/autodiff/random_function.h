// Random functions of floats that are differentiable almost everywhere, recorded over tensors.
#pragma once
#include <vector>

#include "compiler/language.h"
#include "tests/programs/make_expr.h"

namespace firn {

using Tensors = std::vector<Tensor>;

/// A tensor in scope. Assignments keep its shape.
struct FloatVariable {
    Tensor value;
    Shape shape;
};

/// The contents of a random function.
struct RandomContents {
    int kernels = 0, most_kernels = 0;  // by hand: all of them, and in one statement
    bool kernel_before_loop = false, kernel_in_loop = false, kernel_after_loop = false;
    bool grouped_kernel = false, kernel_before_value = false, kernel_after_value = false;
    int values = 0, calls = 0;  // computed on the way: read, and by calls of compiled functions
};

/// Records the function of one seed: the same statements for all types and sizes of `xs`, of which
/// the first two have one shape, of rank 1 or 2, and the third is a number.
class RandomFunction {
  public:
    enum class Computes : uint8_t { Nothing, Some };
    /// `computes`: whether values are computed on the way, read or by calls of compiled functions.
    explicit RandomFunction(uint64_t seed, Computes computes = Computes::Nothing)
        : dice_(seed), way_(seed + 5), computes_(computes == Computes::Some) {}
    Tensor operator()(const std::vector<Tensor>& xs) const;
    /// Gets the contents of the function; null: not noted.
    RandomContents* contents = nullptr;

  private:
    // --- expressions, of exactly the shape

    Tensor expression(const Shape& shape, int depth);
    Tensor leaf(const Shape& shape);
    Tensor unary(const Tensor& x);
    Tensor binary(const Tensor& a, const Tensor& b);
    Tensor choice(const Shape& shape, int depth);
    Tensor read(const Shape& shape);
    /// Reads at an index that depends on data: steps, smooth between them.
    Tensor read_anywhere(const Shape& shape);
    Tensor reduced(const Shape& shape, int depth);
    Tensor moved(const Shape& shape, int depth);
    Tensor by_own_rule(const Tensor& x);
    Tensor condition(const Shape& shape);
    /// An i32 of that shape near the indices of `axis` of `of`.
    Tensor place(const Shape& shape, const Shape& of, int axis);

    // --- statements

    void statement(int depth);
    /// The same value, computed or not.
    void on_the_way();
    void declare();
    void assign();
    void store();
    void branch(int depth);
    void counted(int depth);
    /// Left early by element, or as long as the data says.
    void left_early(int depth);
    void repeated(int depth);
    void inside(int depth);
    /// Records one to four kernels by hand.
    void by_hand();

    // --- in kernels by hand, of one invocation

    void store_from_kernel();
    Tensor read_by(const Tensors& at);
    Tensor value_by(const Tensors& at, int depth);
    Tensor walked_by(const Tensors& at);
    Tensor swapped_in_group(const Tensors& at);
    Tensor store_by(Tensor& to, const Tensors& at);
    Tensors turned(const Tensors& at) const;
    /// Maps to -1.5 .. 1.5, so that nothing grows without bounds.
    Tensor tamed(const Tensor& x);
    FloatVariable* assignable();

    // --- its contents

    void note_kernels(int count);
    void note_loop();
    void note_computed(int RandomContents::*kind);

    programs::Dice dice_, way_;
    bool computes_;
    Shape main_;  // of the arguments
    DType dtype_ = f32;
    // Callbacks that record refer to them: reserved.
    std::vector<FloatVariable> variables_;
    bool grouped_ = false;  // in a kernel by hand of groups of 4
    bool masked_ = false;   // by conditions of the shape main_
    int loops_ = 0, open_loops_ = 0;
};

}  // namespace firn
