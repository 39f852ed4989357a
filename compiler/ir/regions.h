// Places every node of a Graph in the innermost region that holds all its uses; loops outside of
// kernels by hand that they do not depend on.
#pragma once
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/node_map.h"

namespace firn {

/// A body with the nodes that belong to it, operands first. Region arguments are in no order;
/// Inputs belong to the root.
struct PlacedRegion {
    int parent = -1;
    int depth = 0;
    const Node* owner = nullptr;     // the Loop or If; null for the root
    const Region* region = nullptr;  // null for the root
    std::vector<Ref> order;
};

struct Placement {
    std::vector<PlacedRegion> regions;  // [0] is the root
    NodeMap<int> region_of;             // of every node, region arguments too
    std::unordered_map<const Node*, int>
        first_region;  // of a Loop its body; of an If `then`, +1 `else`
};

/// Throws InternalError where a region argument is used outside its region or belongs to two.
/// Deterministic: the order depends on structure alone.
Placement place(const std::vector<Ref>& results);
/// Places `results` of a kernel by hand, which stand inside regions of a larger graph: those
/// regions' arguments belong to the root. Reads and stores of arrays move out of loops that they do
/// not depend on, although only those use them: inside they would run in every iteration.
Placement place_by_hand(const std::vector<Ref>& results);

/// The bodies of a Loop or an If; none of any other node.
std::vector<const Region*> regions_of(const Node& node);

/// The nodes of the body of a loop or of a kernel by hand, operands first: all that need its
/// arguments, and those of the loops inside. Loops and kernels whose results it reads are not among
/// them.
class OwnNodes {
  public:
    explicit OwnNodes(const Region& body);
    std::vector<Ref> order;
    bool contains(const Node& node) const { return seen_.contains(&node); }

  private:
    bool is_own(const Node& node) const;
    void visit(const Ref& root);
    void enter(const Region& region, std::vector<Ref>& needed);

    std::unordered_set<uint64_t> args_;
    std::unordered_set<const Node*> seen_;
};

}  // namespace firn
