// Makes one random program, statement by statement.
#pragma once
#include "tests/programs/generate.h"
#include "tests/programs/make_expr.h"

namespace firn::programs {

/// A scope that is open where a statement is made.
struct Scope {
    Extents mask;  // of the elements that its if_, while_ or break_ leaves out
    bool loop = false;
    bool left = false;  // by break_ or continue_, under conditions that fit the mask
};

class Generator {
  public:
    Generator(uint64_t seed, const Grammar& grammar)
        : grammar_(grammar), dice_(seed), exprs_(dice_, variables_) {}

    Program make();

  private:
    // --- shapes and arguments

    Extent any_extent();
    void choose_shapes();
    double any_number(DType dtype);
    void declared(int handle, DType dtype, const Extents& extents, bool fixed = false,
                  bool own_place = false);
    void argument(const Extents& extents);
    /// More tensors in one expression than a device binds.
    void many_arguments();
    Statement loop_of(std::vector<Expr> bounds);
    /// Nested loops of kernels: the inner one continues with a copy of the outer one's value, for
    /// as many iterations as the outer index says or a fixed number, and assigns it to another
    /// tensor before the first is assigned again.
    void hands_on();
    /// A while_ whose body changes nothing.
    void never_ends();
    void choose_outputs();
    bool changed(int handle) const;

    // --- scopes

    /// Returns whether elements of every enclosing scope's mask are elements of this shape.
    bool takes_masks(const Extents& extents) const;
    bool masked(size_t depth) const;
    /// A shape that every mask around fits; the empty one where nothing is masked, and in a kernel
    /// by hand.
    Extents any_shape(bool may_be_empty = true);
    std::vector<size_t> assignable() const;

    // --- statements

    void block(std::vector<Statement>& out, int count, int depth);
    void inside(const Scope& scope, std::vector<Statement>& out, int depth);
    void statement(std::vector<Statement>& out, int depth);
    void declare(std::vector<Statement>& out);
    void assign(std::vector<Statement>& out);
    void swap(std::vector<Statement>& out);
    /// Few devices combine 64 bits at once: that is refused.
    Combine any_combine(DType dtype);
    void store(std::vector<Statement>& out);
    /// A kernel by hand: every invocation stores an element of its own, which it computes from
    /// elements.
    void kernel(std::vector<Statement>& out);
    void realize(std::vector<Statement>& out);
    /// Returns the innermost loop that break_ may leave from here (none around a kernel), if the
    /// shape fits its mask.
    const Scope* loop_to_leave() const;
    void branch(std::vector<Statement>& out, int depth);
    Statement leaving();
    /// if_(condition, break_) somewhere in the body.
    void add_leaving(const Scope& scope, std::vector<Statement>& body);
    Scope loop_scope();
    std::vector<Expr> bounds();
    void loop(std::vector<Statement>& out, int depth);
    void repeat(std::vector<Statement>& out, int depth);
    /// while_(counter < limit): it ends, of itself.
    void counted(std::vector<Statement>& out, Statement& s, Scope& scope);

    const Grammar& grammar_;
    Dice dice_;
    Program program_;
    std::vector<Variable> variables_;
    std::vector<Scope> scopes_;
    std::vector<Extents> shapes_;
    std::vector<int> changed_;
    int next_ = 0, counter_ = -1, asked_ = -1;
    size_t kernel_ = 0;  // the depth inside of the kernel by hand that is made; 0: none
    ExprMaker exprs_;
};

}  // namespace firn::programs
