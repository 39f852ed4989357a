// Training on several processes, each with a part of every batch.
#include "firn/distributed.h"

#include <algorithm>
#include <utility>

#include "compiler/base/error.h"
#include "compiler/frontend/movement.h"
#include "compiler/frontend/tensor_operators.h"
#include "engine/mpi/group.h"

namespace firn {
namespace {

/// Gradients that go in one message.
using Bucket = std::vector<size_t>;

/// The last gradients first. Those of one message have one type, and together about `bytes`.
std::vector<Bucket> buckets_of(const std::vector<Tensor>& gradients, int64_t bytes) {
    std::vector<Bucket> out;
    int64_t filled = 0;
    for (size_t k = gradients.size(); k-- > 0;) {
        const int64_t own =
            element_count(gradients[k].shape()).upper_bound() * gradients[k].dtype().bytes();
        const bool fits = !out.empty() && filled + own <= bytes &&
                          gradients[out.back()[0]].dtype() == gradients[k].dtype();
        if (!fits) {
            out.emplace_back();
            filled = 0;
        }
        out.back().push_back(k);
        filled += own;
    }
    return out;
}

std::vector<Tensor> means_of(const std::vector<Tensor>& gradients, const Communicator& all,
                             const DistributedOptions& options) {
    std::vector<Tensor> out = gradients;
    const AllReduceOptions how{.in_order = options.in_order};
    for (const Bucket& bucket : buckets_of(gradients, options.message_bytes)) {
        std::vector<Tensor> flat;
        for (const size_t k : bucket) flat.push_back(reshape(gradients[k], {Size(-1)}));
        const Tensor sent = flat.size() == 1 ? flat[0] : concat(flat);
        const Tensor mean = all_reduce(sent, all, how) / static_cast<float>(all.size());
        std::vector<Size> begins;
        Size at(0);
        for (const size_t k : bucket) {
            if (k != bucket[0]) begins.push_back(at);
            at += element_count(gradients[k].shape());
        }
        const std::vector<Tensor> parts = split_at(mean, begins);
        for (size_t b = 0; b < bucket.size(); ++b)
            out[bucket[b]] = reshape(parts[b], Shape(gradients[bucket[b]].shape()));
    }
    return out;
}

}  // namespace

void distributed(const Optimizer& optimizer, const Communicator& all,
                 const DistributedOptions& options) {
    if (options.message_bytes < 1)
        throw UserError("distributed: messages of " + std::to_string(options.message_bytes) +
                        " bytes; give 1 or more");
    const State state = optimizer;
    for (const NamedVariable& each : state.variables)
        each.variable.set(broadcast(each.variable.value(), all));
    optimizer.combine_gradients([all, options](const std::vector<Tensor>& gradients) {
        return all.size() == 1 ? gradients : means_of(gradients, all, options);
    });
}

BatchesOptions part_of(const Communicator& all, BatchesOptions options) {
    options.part = all.rank(), options.parts = all.size();
    return options;
}

Tensor mean_of(const Operand& x, const Communicator& all) {
    return all_reduce(x, all) / static_cast<float>(all.size());
}

}  // namespace firn
