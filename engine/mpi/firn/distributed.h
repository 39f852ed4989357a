// Training on several processes, each with a part of every batch: target firn::mpi; not part of
// firn/firn.h.
#pragma once
#include <cstdint>

#include "compiler/frontend/movement.h"
#include "compiler/learning/batches.h"
#include "compiler/learning/optimizer.h"
#include "firn/mpi.h"

namespace firn {

/// How gradients of several processes are combined.
struct DistributedOptions {
    [[no_unique_address]] ByName by_name = {};
    /// Gradients go together in messages of so many bytes, the last parameters' first: they are
    /// there while those of the first ones are still computed.
    int64_t message_bytes = 4 << 20;
    /// See AllReduceOptions::in_order.
    bool in_order = false;
};
/// From now on the steps of the optimizer use the means of the gradients of all processes, and its
/// parameters and state become those of process 0. Steps then are those of one process with the
/// whole batch, to rounding, where the loss is a mean over the samples, and every process has as
/// many. Set it before the first step is recorded; all processes must. Clipping, accumulating and
/// scaling act on the means.
///
///     Communicator world(argc, argv);
///     Adam adam(net.parameters(), {.lr = 1e-3f});
///     distributed(adam, world);
///     Batches batches(images.size(0), 64, part_of(world, {.seed = 1}));
///     auto train = compile({net, adam}, ...);
///     Tensor loss = mean_of(train(images, labels, batches.next()), world);
void distributed(const Optimizer& optimizer, const Communicator& all,
                 const DistributedOptions& options = {});
/// The options by which a process gets its part of every batch.
BatchesOptions part_of(const Communicator& all, BatchesOptions options = {});
/// The mean over all processes, such as of their losses. A float tensor.
Tensor mean_of(const Operand& x, const Communicator& all);

}  // namespace firn
