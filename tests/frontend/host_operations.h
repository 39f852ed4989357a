// Operations of the host for tests.
#pragma once
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiler/language.h"

namespace firn {

/// What happened, in its order: `begin`, `finish`.
using CallLog = std::vector<std::string>;

/// Multiplies floats by a number, or repeats the rows of its input: linear. The output is written
/// when it is finished.
class Scaling : public HostOperation {
  public:
    explicit Scaling(float by, std::shared_ptr<CallLog> log = nullptr)
        : by_(by), log_(std::move(log)) {}
    std::string name() const override { return "scaling(" + std::to_string(by_) + ")"; }
    bool takes_batches() const override { return true; }
    std::shared_ptr<const HostOperation> adjoint() const override {
        return std::make_shared<Scaling>(by_, log_);
    }
    std::unique_ptr<HostWork> begin(const HostCall& call) const override {
        if (log_) log_->push_back("begin " + std::to_string(by_));
        return std::make_unique<Work>(*this, call);
    }

  private:
    class Work : public HostWork {
      public:
        Work(const Scaling& by, const HostCall& call)
            : by_(by.by_), log_(by.log_), input_(call.input), output_(call.output) {}
        void finish() override {
            if (log_) log_->push_back("finish " + std::to_string(by_));
            for (size_t at = 0; at < input_.size(); at += 4) {
                float value = 0;
                std::memcpy(&value, input_.data() + at, 4);
                value *= by_;
                std::memcpy(output_.data() + at, &value, 4);
            }
        }

      private:
        float by_;
        std::shared_ptr<CallLog> log_;
        std::span<const std::byte> input_;
        std::span<std::byte> output_;
    };
    float by_;
    std::shared_ptr<CallLog> log_;
};

/// The bytes of the input `times` times, along the first axis; or, as its adjoint, the sum of so
/// many parts of f32.
class Repeating : public HostOperation {
  public:
    explicit Repeating(int64_t times, bool sums = false) : times_(times), sums_(sums) {}
    std::string name() const override {
        return (sums_ ? "summing(" : "repeating(") + std::to_string(times_) + ")";
    }
    Shape output_shape(const Shape& input) const override {
        if (input.empty()) throw UserError(name() + " takes no number");
        Shape out = input;
        out[0] = sums_ ? floor_div(out[0], times_) : out[0] * Size(times_);
        return out;
    }
    std::shared_ptr<const HostOperation> adjoint() const override {
        return std::make_shared<Repeating>(times_, !sums_);
    }
    std::unique_ptr<HostWork> begin(const HostCall& call) const override {
        if (sums_) {
            std::vector<float> sum(call.output.size() / 4), part(sum.size());
            for (int64_t k = 0; k < times_; ++k) {
                std::memcpy(part.data(),
                            call.input.data() + static_cast<size_t>(k) * call.output.size(),
                            call.output.size());
                for (size_t j = 0; j < sum.size(); ++j) sum[j] += part[j];
            }
            std::memcpy(call.output.data(), sum.data(), call.output.size());
        } else {
            for (size_t at = 0; at < call.output.size(); at += call.input.size())
                std::memcpy(call.output.data() + at, call.input.data(), call.input.size());
        }
        struct Done : HostWork {
            void finish() override {}
        };
        return std::make_unique<Done>();
    }

  private:
    int64_t times_;
    bool sums_;
};

}  // namespace firn
