// Permutations by epoch, and a thread that reads ahead.
#include "compiler/learning/batches.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "compiler/algorithms/sort.h"
#include "compiler/base/long_work.h"
#include "compiler/base/own_process.h"
#include "compiler/files/stored_tensor.h"
#include "compiler/frontend/create.h"
#include "compiler/frontend/function.h"
#include "compiler/frontend/indexing.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"
#include "compiler/frontend/realize.h"
#include "compiler/frontend/reduce.h"
#include "compiler/frontend/session.h"

namespace firn {

Batches::Batches(int64_t samples, int64_t batch, const BatchesOptions& options, SourceLine line)
    : samples_(samples), batch_(batch), options_(options) {
    LineScope at(line);
    if (samples < 1) refuse("Batches: there are no samples");
    if (batch < 1) refuse("Batches: a batch of " + std::to_string(batch) + "; give 1 or more");
    if (batch > samples)
        refuse("Batches: a batch of " + std::to_string(batch) + " is larger than the data, " +
               std::to_string(samples) + " samples; give a smaller one");
    if (options.parts < 1 || options.part < 0 || options.part >= options.parts)
        refuse("Batches: part " + std::to_string(options.part) + " of " +
               std::to_string(options.parts) + "; parts are numbered from 0");
    if (batch % options.parts != 0)
        refuse("Batches: a batch of " + std::to_string(batch) + " cannot be divided into " +
               std::to_string(options.parts) + " parts; give a multiple of them");
    const int64_t each = batch / options.parts;
    lanes_ = order_ = arange(each) + int(options.part * each);
    // The place of the batch is an argument: a slice would be a program for each.
    pick_ = compile([](Tensor order, Tensor first,
                       Tensor lanes) { return take(order, first + lanes, {.axis = 0}); },
                    {i32("samples"), i32(), i32("batch")});
}

Tensor Batches::next() {
    if (ordered_ != epoch()) {
        order_ = options_.shuffle
                     ? permutation(samples_, {.seed = options_.seed, .stream = epoch()})
                     : arange(samples_);
        realize(order_);
        ordered_ = epoch();
    }
    const int64_t first = position_++ % per_epoch() * batch_;
    return pick_(order_, int(first), lanes_);
}

void check_labels(const Tensor& labels, int64_t classes, SourceLine line) {
    LineScope at(line);
    const std::vector<int64_t> all = labels.to_vector<int64_t>(line);
    const bool bits = labels.dtype() == u64;
    if (all.empty()) refuse("labels: there are none");
    for (size_t k = 0; k < all.size(); ++k)
        if (all[k] < 0 || all[k] >= classes)
            refuse("labels: number " + std::to_string(k) + " is " +
                   (bits ? std::to_string(uint64_t(all[k])) : std::to_string(all[k])) +
                   ", and there are " + std::to_string(classes) + " classes, from 0");
}

namespace {

constexpr std::chrono::milliseconds kBetweenLooks{100};  // whether the wait is to end

/// A UserError gets the line of the call that requested the batch.
[[noreturn]] void rethrow(const std::exception_ptr& error) {
    try {
        std::rethrow_exception(error);
    } catch (const UserError& of_reader) {
        refuse(of_reader.what());
    }
}

}  // namespace

struct Prefetch::State {
    struct Batch {
        std::vector<StoredTensor> tensors;
        std::exception_ptr error;
    };
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<Batch> waiting;
    bool ends = false;
    std::thread thread;
    OwnProcess process;

    void run(const Callback<std::vector<StoredTensor>(int64_t)>& read, size_t ahead) {
        // Readers report errors by refuse(), which needs the thread's session.
        const SessionScope scope(Session::oracle());
        for (int64_t k = 0;; ++k) {
            Batch batch;
            try {
                batch.tensors = read(k);
            } catch (...) {
                batch.error = std::current_exception();
            }
            const bool last = batch.error != nullptr;
            std::unique_lock lock(mutex);
            changed.wait(lock, [&] { return ends || waiting.size() < ahead; });
            if (ends) return;
            waiting.push_back(std::move(batch));
            changed.notify_all();
            if (last) return;
        }
    }
};

Prefetch::Prefetch(const Callback<std::vector<StoredTensor>(int64_t)>& read, int ahead)
    : state_(std::shared_ptr<State>(new State, DeleteInOwnProcess())) {
    state_->thread = std::thread(
        [state = state_.get(), read, ahead] { state->run(read, size_t(ahead < 1 ? 1 : ahead)); });
}

Prefetch::~Prefetch() {
    if (!state_->process.is_here()) return;
    {
        const std::lock_guard lock(state_->mutex);
        state_->ends = true;
    }
    state_->changed.notify_all();
    state_->thread.join();
}

std::vector<Tensor> Prefetch::next(SourceLine line) {
    LineScope at(line);
    if (!state_->process.is_here())
        refuse(state_->process.why_not_here("Prefetch: the thread that reads ahead was started"));
    State::Batch batch;
    {
        std::unique_lock lock(state_->mutex);
        while (!state_->changed.wait_for(lock, kBetweenLooks,
                                         [&] { return !state_->waiting.empty(); }))
            CancelScope::end_if_asked("waiting for", "Prefetch");
        // An error stays, for later calls.
        if (state_->waiting.front().error) rethrow(state_->waiting.front().error);
        batch = std::move(state_->waiting.front());
        state_->waiting.pop_front();
    }
    state_->changed.notify_all();
    std::vector<Tensor> out;
    for (const StoredTensor& each : batch.tensors) out.push_back(from_stored(each));
    return out;
}

}  // namespace firn
