// Closing loops: carried values take the broadcast shape of all that is assigned to them; internal.
#pragma once
#include <unordered_map>
#include <vector>

#include "compiler/ir/builder.h"

namespace firn {

struct RecordedLoop {
    Ref begin, end, step;
    std::vector<Ref> inits;
    Region body;  // the induction value and one argument per init; one result per init
    int active = -1;
    MustEnd must_end = MustEnd::No;
    std::vector<Size> sizes = {};  // sizes that belong to an iteration, see LoopAttr
    int64_t checkpoint = 0;        // see LoopAttr
};

/// Values whose shape the user's code has read, with the line.
using Asked = std::vector<std::pair<Ref, SourceLine>>;

/// Makes `roots` again with the nodes in `replace` exchanged; shapes may be wider. Only nodes that
/// are not older than `oldest` can depend on the exchanged ones.
std::vector<Ref> infer_again(Builder b, const std::vector<Ref>& roots,
                             std::unordered_map<const Node*, Ref> replace, const Ref& oldest);

/// Makes the Loop node. If a result is wider than its argument, the argument is widened and the
/// body inferred again until nothing grows. `replace` are nodes that the body must not keep. Throws
/// UserError if the narrow shape was already read, or used by anything but elementwise operations,
/// reads of one element and stores.
Ref make_loop(Builder b, RecordedLoop parts, const std::unordered_map<const Node*, Ref>& replace,
              const Asked& asked);

}  // namespace firn
