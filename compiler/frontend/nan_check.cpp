// Reads results back; a graph whose results hold nan is evaluated again by the oracle.
#include "compiler/frontend/nan_check.h"

#include "compiler/frontend/data_size.h"
#include "compiler/frontend/environment.h"
#include "compiler/frontend/oracle.h"
#include "compiler/frontend/record.h"
#include "compiler/ir/find_nan.h"

namespace firn {
namespace {

/// Reads a buffer whose number of rows only the device knows: as many rows as it has. Returns
/// nothing if other axes have such a size.
std::optional<HostTensor> read_back(SessionState& session, const Node& buffer) {
    std::vector<int64_t> shape;
    for (const Size& size : buffer.shape) {
        SizeEnv known;
        for (const SizeAtom& symbol : data_symbols(size)) {
            if (&size != &buffer.shape[0]) return std::nullopt;
            known[symbol.name] = read_size(session, symbol);
        }
        shape.push_back(size.evaluate(known));
    }
    HostTensor out = HostTensor::make(buffer.dtype, std::move(shape));
    executor_of(session).read(*buffer.as<BufferAttr>().storage, 0, out.data);
    return out;
}

std::string place_text(const HostTensor& value, int64_t element) {
    std::string out;
    for (int64_t at : place_of(element, value.shape))
        out += (out.empty() ? "" : ", ") + std::to_string(at);
    return value.shape.empty() ? "" : " at (" + out + ")";
}

}  // namespace

bool finds_nan(SessionState& session) {
    if (!session.finds_nan) session.finds_nan = environment_number("FIRN_FIND_NAN", 0) != 0;
    return *session.finds_nan;
}

std::optional<Call> kept_for_nan(SessionState& session, const Call& call) {
    return finds_nan(session) ? std::optional(call) : std::nullopt;
}

void refuse_nan(SessionState& session, const Graph& graph, const Call& call,
                const std::vector<Ref>& results, const std::string& what, SourceLine line) {
    Executor& executor = executor_of(session);
    for (size_t k = 0; k < results.size(); ++k) {
        if (!results[k]->dtype.is_float()) continue;
        const std::optional<HostTensor> value = read_back(session, *results[k]);
        const int64_t element = value ? first_nan(*value) : -1;
        if (element < 0) continue;
        const OracleCall same = oracle_call(executor, graph, call);
        const std::optional<NanSource> source = find_nan(graph, same.args, same.symbols);
        const std::string why = source ? text(*source)
                                       : "the oracle computes numbers from the same arguments, so "
                                         "the nan comes from the order in which kernels round";
        fail_at(line, what + ": result " + std::to_string(k + 1) + " is not a number" +
                          place_text(*value, element) + ": " + why);
    }
}

}  // namespace firn
