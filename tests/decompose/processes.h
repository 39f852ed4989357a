// Threads that stand for the processes of a grid, with messages between them.
#pragma once
#include <condition_variable>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "compiler/decompose/decompose.h"
#include "compiler/ir/interpret.h"
#include "compiler/language.h"

namespace firn {

/// Messages by sender, receiver and their number among those of the pair.
class Mail {
  public:
    void send(int from, int to, std::vector<std::byte> bytes) {
        const std::lock_guard lock(mutex_);
        letters_[{from, to, sent_[{from, to}]++}] = std::move(bytes);
        arrived_.notify_all();
    }
    int next_from(int from, int to) {
        const std::lock_guard lock(mutex_);
        return taken_[{from, to}]++;
    }
    std::vector<std::byte> receive(int from, int to, int number) {
        std::unique_lock lock(mutex_);
        arrived_.wait(lock, [&] { return ended_ || letters_.contains({from, to, number}); });
        if (!letters_.contains({from, to, number})) throw UserError("another process has ended");
        auto bytes = std::move(letters_.at({from, to, number}));
        letters_.erase({from, to, number});
        return bytes;
    }

    /// Nothing more is sent: who waits gets an error.
    void end() {
        const std::lock_guard lock(mutex_);
        ended_ = true;
        arrived_.notify_all();
    }

  private:
    std::mutex mutex_;
    std::condition_variable arrived_;
    bool ended_ = false;
    std::map<std::tuple<int, int, int>, std::vector<std::byte>> letters_;
    std::map<std::pair<int, int>, int> sent_, taken_;
};

/// A grid of processes, row-major.
struct Layout {
    std::vector<int> along;  // processes, by axis
    int count() const {
        int all = 1;
        for (const int each : along) all *= each;
        return all;
    }
    std::vector<int> place(int rank) const {
        std::vector<int> out(along.size());
        for (size_t a = along.size(); a-- > 0; rank /= along[a]) out[a] = rank % along[a];
        return out;
    }
    int rank(const std::vector<int>& place) const {
        int out = 0;
        for (size_t a = 0; a < along.size(); ++a) out = out * along[a] + place[a];
        return out;
    }
};

/// Sends what it is given to others and takes as much from each.
class Exchanging : public HostOperation {
  public:
    struct Other {
        int rank = -1;  // none
        int64_t to = 0, from = 0;
    };
    Exchanging(std::shared_ptr<Mail> mail, int rank, Other below, Other above)
        : mail_(std::move(mail)), rank_(rank), below_(below), above_(above) {}
    std::string name() const override {
        return "exchanging(" + std::to_string(rank_) + ", " + std::to_string(below_.rank) + ", " +
               std::to_string(below_.to) + ", " + std::to_string(above_.rank) + ", " +
               std::to_string(above_.to) + ")";
    }
    Shape output_shape(const Shape&) const override { return {Size(below_.from + above_.from)}; }
    std::unique_ptr<HostWork> begin(const HostCall& call) const override {
        struct Work : HostWork {
            std::function<void()> receive;
            void finish() override { receive(); }
        };
        auto work = std::make_unique<Work>();
        std::vector<std::function<void()>> parts;
        size_t at = 0, to = 0;
        // What goes up arrives from below: an axis that is periodic has both in one process.
        const auto side = [&](const Other& other) {
            if (other.rank < 0) return;
            const size_t bytes = static_cast<size_t>(other.to * call.dtype.bytes());
            mail_->send(rank_, other.rank,
                        {call.input.begin() + static_cast<std::ptrdiff_t>(at),
                         call.input.begin() + static_cast<std::ptrdiff_t>(at + bytes)});
            at += bytes;
        };
        side(below_), side(above_);
        const auto take = [&](const Other& other, int number) {
            const size_t bytes = static_cast<size_t>(other.from * call.dtype.bytes());
            parts.push_back([=, this, output = call.output.subspan(to, bytes)] {
                const auto letter = mail_->receive(other.rank, rank_, number);
                if (letter.size() != output.size()) throw UserError("a letter has another size");
                std::memcpy(output.data(), letter.data(), letter.size());
            });
            to += bytes;
        };
        // With two processes around, the one above is the one below: it sends for its below first.
        const bool same = below_.rank >= 0 && below_.rank == above_.rank;
        const int first = same ? mail_->next_from(above_.rank, rank_) : 0;
        if (below_.rank >= 0) take(below_, mail_->next_from(below_.rank, rank_));
        if (above_.rank >= 0) take(above_, same ? first : mail_->next_from(above_.rank, rank_));
        work->receive = [parts] {
            for (const auto& part : parts) part();
        };
        return work;
    }

  private:
    std::shared_ptr<Mail> mail_;
    int rank_;
    Other below_, above_;
};

/// Combines values of several processes in the order of their ranks.
class Combining : public HostOperation {
  public:
    Combining(std::shared_ptr<Mail> mail, int rank, ReduceOp op, std::vector<int> group)
        : mail_(std::move(mail)), rank_(rank), op_(op), group_(std::move(group)) {}
    std::string name() const override {
        std::string out = "combining(" + std::to_string(static_cast<int>(op_));
        for (const int rank : group_) out += ", " + std::to_string(rank);
        return out + ")";
    }
    std::unique_ptr<HostWork> begin(const HostCall& call) const override {
        struct Work : HostWork {
            std::function<void()> receive;
            void finish() override { receive(); }
        };
        std::map<int, int> numbers;
        const std::vector<std::byte> own(call.input.begin(), call.input.end());
        for (const int other : group_)
            if (other != rank_) {
                mail_->send(rank_, other, own);
                numbers[other] = mail_->next_from(other, rank_);
            }
        auto work = std::make_unique<Work>();
        work->receive = [this, numbers, own, dtype = call.dtype, output = call.output] {
            std::vector<std::vector<std::byte>> all;
            for (const int other : group_)
                all.push_back(other == rank_ ? own
                                             : mail_->receive(other, rank_, numbers.at(other)));
            const auto size = static_cast<size_t>(dtype.bytes());
            for (size_t at = 0; at < own.size(); at += size) {
                Scalar sum = load_scalar(dtype, all[0].data() + at);
                for (size_t k = 1; k < all.size(); ++k)
                    sum = combined(sum, load_scalar(dtype, all[k].data() + at));
                store_scalar(sum, output.data() + at);
            }
        };
        return work;
    }

  private:
    Scalar combined(const Scalar& a, const Scalar& b) const {
        if (a.dtype.is_float()) {
            if (op_ == ReduceOp::Sum) return scalar_float(a.f + b.f, a.dtype);
            return scalar_float(op_ == ReduceOp::Max ? std::max(a.f, b.f) : std::min(a.f, b.f),
                                a.dtype);
        }
        if (op_ == ReduceOp::Sum) return scalar_int(a.i + b.i).to(a.dtype);
        if (op_ == ReduceOp::Any) return scalar_int(a.i | b.i).to(a.dtype);
        return scalar_int(op_ == ReduceOp::Max ? std::max(a.i, b.i) : std::min(a.i, b.i))
            .to(a.dtype);
    }
    std::shared_ptr<Mail> mail_;
    int rank_;
    ReduceOp op_;
    std::vector<int> group_;
};

}  // namespace firn
