// Host memory, and graphs evaluated on it.
#include "compiler/frontend/oracle.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "compiler/base/error.h"
#include "compiler/base/physical_memory.h"

namespace firn {
namespace {

class HostMemory : public Memory {
  public:
    explicit HostMemory(uint64_t bytes) : data(bytes) {}
    uint64_t bytes() const override { return data.size(); }
    std::vector<std::byte> data;
};

class HostExecutor : public Executor {
  public:
    const DeviceProfile& profile() const override { return profile_; }
    std::shared_ptr<Memory> allocate(uint64_t bytes, const std::string& name) override {
        try {
            if (bytes <= physical_memory()) return std::make_shared<HostMemory>(bytes);
        } catch (const std::bad_alloc&) {
        }
        throw DeviceError("out of memory: " + std::to_string(bytes) + " bytes were asked for '" +
                          name + "' and the host has " + std::to_string(physical_memory()) +
                          "; release tensors or use smaller ones");
    }
    void write(Memory& memory, uint64_t offset, std::span<const std::byte> data) override {
        auto& host = static_cast<HostMemory&>(memory);
        ensure(offset + data.size() <= host.data.size(), "a write stays inside its memory");
        std::copy(data.begin(), data.end(), host.data.begin() + static_cast<long>(offset));
    }
    void read(const Memory& memory, uint64_t offset, std::span<std::byte> data) override {
        auto& host = static_cast<const HostMemory&>(memory);
        ensure(offset + data.size() <= host.data.size(), "a read stays inside its memory");
        std::copy_n(host.data.begin() + static_cast<long>(offset), data.size(), data.begin());
    }
    const std::byte* mapped(const Memory& memory) override {
        return static_cast<const HostMemory&>(memory).data.data();
    }
    std::byte* map_for_writing(Memory& memory) override {
        return static_cast<HostMemory&>(memory).data.data();
    }
    void run(const std::shared_ptr<const Program>&, const Call&) override {
        throw InternalError("internal error: the oracle evaluates graphs and runs no programs");
    }
    void wait() override {}

  private:
    DeviceProfile profile_ = cpu_profile();
};

std::vector<int64_t> concrete(const Shape& shape, const SizeEnv& env) {
    std::vector<int64_t> out;
    for (const Size& size : shape) out.push_back(size.evaluate(env));
    return out;
}

/// The symbols of the call, and the values of data symbols that arguments hold.
SizeEnv with_given_counts(Executor& executor, const Graph& graph, const Call& call) {
    SizeEnv env = call.symbols;
    for (size_t k = 0; k < graph.data_sizes.size(); ++k) {
        const Node& count = *graph.results[k];
        if (count.op != Op::Input) continue;
        const SizeAtom symbol = data_symbols(graph.data_sizes[k]).at(0);
        int32_t value = 0;
        executor.read(*call.arguments[static_cast<size_t>(count.as<InputAttr>().index)], 0,
                      std::as_writable_bytes(std::span(&value, 1)));
        env[symbol.name] = std::clamp<int64_t>(value, 0, symbol.args[0].evaluate(env));
    }
    return env;
}

}  // namespace

std::shared_ptr<Executor> make_host_executor() { return std::make_shared<HostExecutor>(); }

OracleCall oracle_call(Executor& executor, const Graph& graph, const Call& call) {
    OracleCall out{with_given_counts(executor, graph, call), {}};
    for (size_t k = 0; k < graph.args.size(); ++k) {
        const Node& input = *graph.args[k];
        out.args.push_back(HostTensor::make(input.dtype, concrete(input.shape, out.symbols)));
        if (call.arguments[k])
            executor.read(*call.arguments[k], 0, out.args.back().data);
        else
            out.args.back().set(0, call.scalars[k]);
    }
    return out;
}

void run_oracle(Executor& executor, const Graph& graph, const Call& call) {
    const OracleCall given = oracle_call(executor, graph, call);
    std::vector<HostTensor> results = interpret(graph, given.args, given.symbols);
    for (size_t k = 0; k < results.size(); ++k)
        if (call.results[k]) executor.write(*call.results[k], 0, results[k].data);
}

}  // namespace firn
