// Operations of the host by which processes work together.
#include <algorithm>
#include <cstring>
#include <utility>

#include "compiler/base/error.h"
#include "compiler/frontend/host_call.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"
#include "compiler/frontend/movement.h"
#include "compiler/frontend/record.h"
#include "compiler/ir/text.h"
#include "engine/mpi/group.h"
#include "engine/mpi/operations.h"
#include "firn/mpi.h"

namespace firn {
namespace {

std::string shape_text(const std::vector<int64_t>& shape) {
    std::string out;
    for (const int64_t size : shape) out += (out.empty() ? "" : ", ") + std::to_string(size);
    return "[" + out + "]";
}

int64_t element_count(const std::vector<int64_t>& shape) {
    int64_t out = 1;
    for (const int64_t size : shape) out *= size;
    return out;
}

/// The base of all operations of a group.
class MpiOperation : public HostOperation {
  public:
    explicit MpiOperation(std::shared_ptr<MpiGroup> group) : group_(std::move(group)) {}
    std::string name() const override { return called() + " in " + group_->name; }
    std::unique_ptr<HostWork> begin(const HostCall& call) const override {
        if (compares())
            check_alike(*group_, name() + " of " + call.dtype.name() + shape_text(call.input_shape),
                        call.line);
        auto work = std::make_unique<MpiWork>(group_, called() + in_line(call.line));
        start(call, *work);
        return work;
    }

  protected:
    /// Its name without the group.
    virtual std::string called() const = 0;
    virtual bool compares() const { return true; }
    virtual void start(const HostCall& call, MpiWork& work) const = 0;
    /// Calls MPI: `ask(request)` gives its code.
    template <class Ask>
    void ask(MpiWork& work, const HostCall& call, const Ask& asked) const {
        const std::lock_guard lock(group_->library->mutex());
        check_mpi(*group_, asked(work.add()), called() + in_line(call.line));
    }
    int count(const HostCall& call, const std::vector<int64_t>& shape) const {
        return mpi_count(element_count(shape) * elements_of(call.dtype).each, called());
    }

    std::shared_ptr<MpiGroup> group_;
};

static_assert(static_cast<int>(Combine::All) == static_cast<int>(ReduceOp::All));

MPI_Op op_of(ReduceOp op) {
    switch (op) {
        case ReduceOp::Sum: return MPI_SUM;
        case ReduceOp::Prod: return MPI_PROD;
        case ReduceOp::Min: return MPI_MIN;
        case ReduceOp::Max: return MPI_MAX;
        case ReduceOp::Any: return MPI_MAX;
        case ReduceOp::All: return MPI_MIN;
        default: throw UserError("all_reduce: there is no position of an extreme");
    }
}

/// Combines where the type is one that MPI computes with.
class AllReduce : public MpiOperation {
  public:
    AllReduce(std::shared_ptr<MpiGroup> group, ReduceOp op)
        : MpiOperation(std::move(group)), op_(op) {}
    std::shared_ptr<const HostOperation> adjoint() const override {
        return op_ == ReduceOp::Sum ? std::make_shared<AllReduce>(group_, op_) : nullptr;
    }
    bool takes_batches() const override { return true; }

  protected:
    std::string called() const override {
        return "all_reduce(" + std::string(firn::name(op_)) + ")";
    }
    void start(const HostCall& call, MpiWork& work) const override {
        const MpiElements elements = elements_of(call.dtype);
        ensure(elements.each == 1, "halves are combined as f32");
        ask(work, call, [&](MPI_Request* request) {
            return MPI_Iallreduce(call.input.data(), call.output.data(),
                                  count(call, call.input_shape), elements.type, op_of(op_),
                                  group_->comm, request);
        });
    }

  private:
    ReduceOp op_;
};

class Broadcast : public MpiOperation {
  public:
    /// `sums`: the adjoint, which gives root the sum and others zeros.
    Broadcast(std::shared_ptr<MpiGroup> group, int root, bool sums)
        : MpiOperation(std::move(group)), root_(root), sums_(sums) {}
    std::shared_ptr<const HostOperation> adjoint() const override {
        return std::make_shared<Broadcast>(group_, root_, !sums_);
    }
    bool takes_batches() const override { return true; }

  protected:
    std::string called() const override {
        return std::string(sums_ ? "reduce to " : "broadcast from ") + std::to_string(root_);
    }
    void start(const HostCall& call, MpiWork& work) const override {
        const MpiElements elements = elements_of(call.dtype);
        const bool is_root = group_->rank == root_;
        if (sums_) {
            std::memset(call.output.data(), 0, call.output.size());
            ask(work, call, [&](MPI_Request* request) {
                return MPI_Ireduce(call.input.data(), is_root ? call.output.data() : nullptr,
                                   count(call, call.input_shape), elements.type, MPI_SUM, root_,
                                   group_->comm, request);
            });
            return;
        }
        if (is_root && !call.input.empty())
            std::memcpy(call.output.data(), call.input.data(), call.input.size());
        ask(work, call, [&](MPI_Request* request) {
            return MPI_Ibcast(call.output.data(), count(call, call.output_shape), elements.type,
                              root_, group_->comm, request);
        });
    }

  private:
    int root_;
    bool sums_;
};

class AllGather : public MpiOperation {
  public:
    /// `scatters`: the adjoint, which sums and gives each its part.
    AllGather(std::shared_ptr<MpiGroup> group, bool scatters)
        : MpiOperation(std::move(group)), scatters_(scatters) {}
    Shape output_shape(const Shape& input) const override {
        if (input.empty())
            throw UserError(called() + ": the tensor has no axis; reshape it to {1}");
        Shape out = input;
        if (!scatters_) {
            out[0] = out[0] * Size(group_->size);
            return out;
        }
        if (!mod(out[0], group_->size).is(0))
            throw UserError(called() + ": the first axis has size " + out[0].text() +
                            ", which cannot be divided by " + std::to_string(group_->size) +
                            " processes");
        out[0] = floor_div(out[0], group_->size);
        return out;
    }
    std::shared_ptr<const HostOperation> adjoint() const override {
        return std::make_shared<AllGather>(group_, !scatters_);
    }

  protected:
    std::string called() const override { return scatters_ ? "reduce_scatter" : "all_gather"; }
    void start(const HostCall& call, MpiWork& work) const override {
        const MpiElements elements = elements_of(call.dtype);
        const int each = count(call, scatters_ ? call.output_shape : call.input_shape);
        ask(work, call, [&](MPI_Request* request) {
            if (scatters_)
                return MPI_Ireduce_scatter_block(call.input.data(), call.output.data(), each,
                                                 elements.type, MPI_SUM, group_->comm, request);
            return MPI_Iallgather(call.input.data(), each, elements.type, call.output.data(), each,
                                  elements.type, group_->comm, request);
        });
    }

  private:
    bool scatters_;
};

class Shift : public MpiOperation {
  public:
    Shift(std::shared_ptr<MpiGroup> group, int by, bool around)
        : MpiOperation(std::move(group)), by_(by), around_(around) {}
    std::shared_ptr<const HostOperation> adjoint() const override {
        return std::make_shared<Shift>(group_, -by_, around_);
    }
    bool takes_batches() const override { return true; }

  protected:
    std::string called() const override {
        return "shift(" + std::to_string(by_) + (around_ ? ", around)" : ")");
    }
    void start(const HostCall& call, MpiWork& work) const override {
        const MpiElements elements = elements_of(call.dtype);
        const int to = beside(by_), from = beside(-by_), tag = message_tag(*group_);
        if (from == MPI_PROC_NULL) std::memset(call.output.data(), 0, call.output.size());
        ask(work, call, [&](MPI_Request* request) {
            return MPI_Irecv(call.output.data(), count(call, call.output_shape), elements.type,
                             from, tag, group_->comm, request);
        });
        ask(work, call, [&](MPI_Request* request) {
            return MPI_Isend(call.input.data(), count(call, call.input_shape), elements.type, to,
                             tag, group_->comm, request);
        });
    }

  private:
    int beside(int by) const {
        const int at = group_->rank + by;
        if (around_) return (at % group_->size + group_->size) % group_->size;
        return at < 0 || at >= group_->size ? MPI_PROC_NULL : at;
    }
    int by_;
    bool around_;
};

/// See exchange_with().
class ExchangeWith : public MpiOperation {
  public:
    ExchangeWith(std::shared_ptr<MpiGroup> group, int number, Neighbour below, Neighbour above)
        : MpiOperation(std::move(group)), number_(number), below_(below), above_(above) {}
    Shape output_shape(const Shape&) const override { return {Size(below_.from + above_.from)}; }
    std::shared_ptr<const HostOperation> adjoint() const override {
        const auto back = [](Neighbour side) {
            std::swap(side.to, side.from);
            return side;
        };
        return std::make_shared<ExchangeWith>(group_, number_ + kBack, back(below_), back(above_));
    }

  protected:
    std::string called() const override {
        return "exchange " + std::to_string(number_) + " with ranks " +
               std::to_string(below_.rank) + " and " + std::to_string(above_.rank) + ", " +
               std::to_string(below_.to + above_.to) + " elements for " +
               std::to_string(below_.from + above_.from);
    }
    bool compares() const override { return false; }  // processes at an end differ
    void start(const HostCall& call, MpiWork& work) const override {
        const MpiElements elements = elements_of(call.dtype);
        const auto bytes = [&](int64_t count) {
            return static_cast<size_t>(count * call.dtype.bytes());
        };
        const auto each = [&](int64_t count) { return mpi_count(count * elements.each, called()); };
        // What a process sends up arrives from below.
        const int up = 4 * number_, down = up + 1;
        const auto receive = [&](const Neighbour& from, size_t at, int tag) {
            if (from.rank < 0 || from.from == 0) return;
            ask(work, call, [&](MPI_Request* request) {
                return MPI_Irecv(call.output.data() + at, each(from.from), elements.type, from.rank,
                                 tag % kTags, group_->comm, request);
            });
        };
        const auto send = [&](const Neighbour& to, size_t at, int tag) {
            if (to.rank < 0 || to.to == 0) return;
            ask(work, call, [&](MPI_Request* request) {
                return MPI_Isend(call.input.data() + at, each(to.to), elements.type, to.rank,
                                 tag % kTags, group_->comm, request);
            });
        };
        receive(below_, 0, up), receive(above_, bytes(below_.from), down);
        send(below_, 0, down), send(above_, bytes(below_.to), up);
    }

  private:
    static constexpr int kTags = 30000;    // MPI has at least 32,767
    static constexpr int kBack = 1 << 12;  // numbers of adjoints
    int number_;
    Neighbour below_, above_;
};

/// Halves go as f32. Sums and products of bools are of i32, as those of one process.
Tensor in_wide_type(const Operand& x, const std::function<Tensor(const Tensor&)>& f,
                    bool computes = false) {
    Tensor value = Tensor::from_node(x.node());
    if (computes && value.dtype().is_bool()) value = value.as(i32);
    const DType own = value.dtype();
    return own.is_half() ? f(value.as(f32)).as(own) : f(value);
}

Tensor called(const std::shared_ptr<const HostOperation>& operation, const Operand& x) {
    return host_call(operation, x);
}

/// The sum in one order: of neighbours, then of these.
Tensor sum_in_order(const Operand& x, const Communicator& all) {
    const Tensor value = Tensor::from_node(x.node());
    Shape one = value.shape();
    one.insert(one.begin(), Size(1));
    Tensor parts = all_gather(reshape(value, one), all);
    std::vector<Tensor> sums;
    for (int rank = 0; rank < all.size(); ++rank) sums.push_back(parts(rank));
    while (sums.size() > 1) {
        std::vector<Tensor> next;
        for (size_t k = 0; k < sums.size(); k += 2)
            next.push_back(k + 1 < sums.size() ? sums[k] + sums[k + 1] : sums[k]);
        sums = std::move(next);
    }
    return sums[0];
}

}  // namespace

std::shared_ptr<const HostOperation> exchange_with(std::shared_ptr<MpiGroup> group, int number,
                                                   Neighbour below, Neighbour above) {
    return std::make_shared<ExchangeWith>(std::move(group), number, below, above);
}

std::shared_ptr<const HostOperation> combine_all(std::shared_ptr<MpiGroup> group, ReduceOp op) {
    return std::make_shared<AllReduce>(std::move(group), op);
}

int message_tag(MpiGroup& group) {
    const std::lock_guard lock(group.mutex);
    return group.next_tag = (group.next_tag + 1) % 16384;
}

Tensor all_reduce(const Operand& x, const Communicator& all, const AllReduceOptions& options) {
    LineScope at(x.line());
    const auto op = static_cast<ReduceOp>(options.op);
    const bool of_bools = op == ReduceOp::Any || op == ReduceOp::All;
    if (of_bools && !x.node()->dtype.is_bool())
        fail_at(x.line(), std::string("all_reduce: any and all are of bools, and this is ") +
                              x.node()->dtype.name() + "; compare it, as in x != 0");
    return in_wide_type(
        x,
        [&](const Tensor& value) {
            if (options.in_order) {
                if (op != ReduceOp::Sum) fail_at(x.line(), "all_reduce: only sums have an order");
                return sum_in_order(value, all);
            }
            return called(std::make_shared<AllReduce>(all.group(), op), value);
        },
        op == ReduceOp::Sum || op == ReduceOp::Prod);
}

Tensor broadcast(const Operand& x, const Communicator& all, int root) {
    LineScope at(x.line());
    if (root < 0 || root >= all.size())
        fail_at(x.line(), "broadcast: there is no rank " + std::to_string(root) + " among " +
                              std::to_string(all.size()) + " processes");
    return in_wide_type(x, [&](const Tensor& value) {
        return called(std::make_shared<Broadcast>(all.group(), root, false), value);
    });
}

Tensor all_gather(const Operand& x, const Communicator& all) {
    LineScope at(x.line());
    return in_wide_type(x, [&](const Tensor& value) {
        return called(std::make_shared<AllGather>(all.group(), false), value);
    });
}

Tensor reduce_scatter(const Operand& x, const Communicator& all) {
    LineScope at(x.line());
    return in_wide_type(
        x,
        [&](const Tensor& value) {
            return called(std::make_shared<AllGather>(all.group(), true), value);
        },
        true);
}

Tensor shift(const Operand& x, const Communicator& all, const ShiftOptions& options) {
    LineScope at(x.line());
    return in_wide_type(x, [&](const Tensor& value) {
        return called(std::make_shared<Shift>(all.group(), options.by, options.around), value);
    });
}

}  // namespace firn
