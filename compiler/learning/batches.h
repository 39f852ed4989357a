// Samples in batches: their order, and reading ahead.
#pragma once
#include <vector>

#include "compiler/base/callback.h"
#include "compiler/frontend/tensor.h"

namespace firn {

struct StoredTensor;

/// The order of samples.
struct BatchesOptions {
    uint64_t seed = 0;    ///< seeds the orders; the epoch is the stream
    bool shuffle = true;  ///< a new order in every epoch; else that of the samples
    /// Of each batch only this part, of so many equal ones: several processes share it.
    int part = 0, parts = 1;
};

/// Chooses the samples of every step. The order of an epoch is a permutation on the device; samples
/// that fill no whole batch are left to other epochs.
///
///     Batches batches(images.size(0), 64, {.seed = 1});
///     loss = step(images, labels, batches.next());   // take(images, chosen, {.axis = 0}) inside
///
/// Example: after `Batches batches(5, 2, {.shuffle = false});` `batches.next()` is `{0, 1}`,
/// `batches.next()` is `{2, 3}`, `batches.next()` is `{0, 1}`, `batches.epoch()` is `1`.
class Batches {
  public:
    /// UserError: no samples, a batch below 1 or larger than the data, or one that its parts do not
    /// divide.
    Batches(int64_t samples, int64_t batch, const BatchesOptions& options = {},
            SourceLine line = here());
    /// The positions of the next batch, i32 [batch / parts].
    Tensor next();
    /// Returns the number of batches in an epoch.
    int64_t per_epoch() const { return samples_ / batch_; }
    /// Returns the number of the next batch, counted from 0 over all epochs.
    int64_t position() const { return position_; }
    /// The epoch of the next batch, counted from 0.
    int64_t epoch() const { return position_ / per_epoch(); }
    /// Goes on from a position, as a run that is loaded does: the same batches come from there.
    void seek(int64_t position) { position_ = position; }

  private:
    int64_t samples_, batch_, position_ = 0, ordered_ = -1;  // ordered_: the epoch of order_
    BatchesOptions options_;
    Tensor order_, lanes_;
    Callback<Tensor(const Tensor& order, int first, const Tensor& lanes)> pick_;
};

/// UserError with the place of the first label that is not from 0 to classes - 1, or where there
/// are none. Labels are integers of any shape; waits for the device.
///
/// Examples: `check_labels(tensor({0, 2, 1}), 3)` passes, and after
/// `bool refused = false; try { check_labels(tensor({2}), 2); } catch (UserError&) { refused =
/// true; }` `refused` is `true`.
void check_labels(const Tensor& labels, int64_t classes, SourceLine line = here());

/// Batches of files and the like, made on a thread of its own while the device works on those
/// before.
///
/// Example: after `auto read = [](int64_t k) { return std::vector{StoredTensor{"", u8, {1},
/// {std::byte(k)}}}; };` `Prefetch batches(read);` `batches.next()[0]` is `{0}`,
/// `batches.next()[0]` is `{1}`.
class Prefetch {
  public:
    /// `read` gives batch k, for k = 0, 1, .., on the other thread: it must use no session, and
    /// read_npy and its kin (stored_tensor.h) and read_pictures use none. At most `ahead` batches
    /// wait, 1 at least.
    explicit Prefetch(const Callback<std::vector<StoredTensor>(int64_t k)>& read, int ahead = 2);
    /// Ends the thread, which finishes the batch that it reads.
    ~Prefetch();
    Prefetch(const Prefetch&) = delete;
    Prefetch& operator=(const Prefetch&) = delete;

    /// Returns the next batch on the device, as tensors in the order of `read`. An exception of
    /// `read` is thrown here, when its batch is due; it is the last.
    std::vector<Tensor> next(SourceLine line = here());

  private:
    struct State;
    SharedPtr<State> state_;
};

}  // namespace firn
