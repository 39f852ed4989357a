// Functions that run in another session, as steps of the programs of this one.
#include "compiler/frontend/on_session.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/error.h"
#include "compiler/frontend/create.h"
#include "compiler/frontend/function.h"
#include "compiler/frontend/grad.h"
#include "compiler/frontend/host_call.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/movement.h"
#include "compiler/frontend/realize.h"
#include "compiler/frontend/record.h"
#include "compiler/ir/substitute.h"
#include "compiler/ir/text.h"

namespace firn {
namespace {

/// Equal names would be equal operations, so that each has a number of its own.
std::string next_name(const Session& session) {
    static std::atomic<uint64_t> count{0};
    return "on('" + session.profile().name + "', " + std::to_string(++count) + ")";
}

/// A function with one tensor of `session`, as an operation of others.
class SessionOperation : public HostOperation {
  public:
    SessionOperation(Session session, Function function, ArgSpec spec, SourceLine line)
        : session_(std::move(session)),
          function_(std::move(function)),
          spec_(std::move(spec)),
          line_(line),
          name_(next_name(session_)) {
        const Graph& graph = function_.graph();
        const Node& result = *graph.results[graph.data_sizes.size()];
        if (!graph.data_sizes.empty())
            fail_at(line, "on: the function makes a tensor of shape " + text(result.shape) +
                              ", which only the device knows; keep room for all, as "
                              "compact_padded does");
        if (result.dtype != spec_.dtype)
            fail_at(line,
                    std::string("on: the function takes ") + spec_.dtype.name() + " and makes " +
                        result.dtype.name() +
                        "; both must be of one type: convert by .as(..) inside of it or after");
        result_shape_ = result.shape;
    }

    std::string name() const override { return name_; }

    Shape output_shape(const Shape& input) const override {
        SizeMap map;
        for (size_t axis = 0; axis < input.size(); ++axis)
            if (const auto symbols = spec_.shape[axis].symbols(); !symbols.empty())
                map.emplace(symbols[0], input[axis]);
        return substituted(result_shape_, map);
    }

    std::unique_ptr<HostWork> begin(const HostCall& call) const override {
        return at_device([&]() -> std::unique_ptr<HostWork> {
            const SessionScope scope(session_);
            const Shape shape(call.input_shape.begin(), call.input_shape.end());
            Tensor x = tensor_from_bytes(call.input, shape, call.dtype, line_);
            const Arg given(std::move(x), line_);
            return std::make_unique<Work>(*this, function_.call({given})[0], call.output);
        });
    }

  private:
    /// A call whose result is being computed.
    class Work : public HostWork {
      public:
        Work(const SessionOperation& of, Tensor result, std::span<std::byte> output)
            : of_(of), result_(std::move(result)), output_(output) {}
        void finish() override {
            if (output_.empty()) return;
            of_.at_device([&] {
                const SessionScope scope(of_.session_);
                const TensorMemory held = memory_of(result_, of_.line_);
                of_.session_.executor().read(*held.memory, 0, output_);
            });
        }

      private:
        const SessionOperation& of_;
        Tensor result_;
        std::span<std::byte> output_;
    };

    /// Errors of the device say which it is.
    template <class Body>
    auto at_device(const Body& body) const -> decltype(body()) {
        try {
            return body();
        } catch (const DeviceError& error) {
            throw DeviceError(name_ + ": " + error.what());
        }
    }

    Session session_;
    Function function_;
    ArgSpec spec_;
    Shape result_shape_;
    SourceLine line_;
    std::string name_;
};

/// The shape as an argument of another session declares it: sizes that are not numbers are symbols
/// of its own.
Shape declared(const Shape& shape, SourceLine line) {
    Shape out;
    std::vector<Size> named;
    for (const Size& size : shape) {
        if (!data_symbols(size).empty())
            fail_at(line, "on: a tensor of shape " + text(shape) +
                              " has a size that only the device knows; keep room for all, as "
                              "compact_padded does");
        if (size.is_constant()) {
            out.push_back(size);
            continue;
        }
        const auto at = std::find(named.begin(), named.end(), size);
        out.push_back(Size::symbol("size" + std::to_string(at - named.begin())));
        if (at == named.end()) named.push_back(size);
    }
    return out;
}

}  // namespace

struct OnSession::State {
    struct Operations {
        std::shared_ptr<const HostOperation> forward, reverse;  // null: not made yet
    };
    Session session;
    Callback<Tensor(const Tensor&)> fn;
    SourceLine line;
    std::map<std::string, Operations> made;  // by type and shape

    std::shared_ptr<const HostOperation> operation(
        const ArgSpec& spec, const Callback<Tensor(const Tensor&)>& recorded) const {
        const SessionScope scope(session);
        const Function function =
            compile([&](const std::vector<Tensor>& x) { return recorded(x[0]); },
                    std::vector<ArgSpec>{spec}, line);
        return std::make_shared<SessionOperation>(session, function, spec, line);
    }

    std::shared_ptr<const HostOperation> forward(const ArgSpec& spec) {
        auto& found = made[spec.dtype.name() + text(spec.shape)].forward;
        if (!found) found = operation(spec, fn);
        return found;
    }

    /// Makes a cotangent of the input from the input and a cotangent of the output, which are one
    /// tensor: (2, ..).
    std::shared_ptr<const HostOperation> reverse(const ArgSpec& spec) {
        auto& found = made[spec.dtype.name() + text(spec.shape)].reverse;
        if (found) return found;
        ArgSpec both = spec;
        both.shape.insert(both.shape.begin(), Size(2));
        found = operation(both, [this](const Tensor& given) {
            const Tensor x = given(0), cotangent = given(1);
            return vjp(fn(x), {x}, cotangent, {}, line)[0];
        });
        return found;
    }
};

OnSession::OnSession(const Session& session, Callback<Tensor(const Tensor&)> fn, SourceLine line)
    : state_(std::make_shared<State>(State{session, std::move(fn), line, {}})) {}

Tensor OnSession::operator()(const Operand& x) const {
    const LineScope at(x.line());
    State& state = *state_;
    if (state.session.state() == current_state()) return state.fn(x.tensor());
    if (&state.session.executor() == &current_session().executor())
        fail_at(x.line(),
                "on: the session runs on the executor of the current one; call the "
                "function itself");
    const Ref node = x.node();
    const ArgSpec spec{node->dtype, declared(node->shape, x.line())};
    const auto forward = state.forward(spec);
    const Tensor out = host_call(forward, x);
    if (!node->dtype.is_float() || out.node()->shape != node->shape) return out;
    const SourceLine line = x.line();
    const auto call = [&](const std::vector<Tensor>& xs) {
        return host_call(forward, Operand(xs[0], line));
    };
    const auto rule = [kept = state_, spec, line](const std::vector<Tensor>& xs, const Tensor&,
                                                  const Tensor& cotangent) {
        const Tensor both = stack({xs[0], cotangent}, {}, line);
        return std::vector<Tensor>{host_call(kept->reverse(spec), Operand(both, line))};
    };
    return custom_gradient(call, {x.tensor()}, rule, line);
}

}  // namespace firn
