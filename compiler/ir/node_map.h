// A map from nodes for walks over large graphs: open addressing, no allocation per entry.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "compiler/base/error.h"
#include "compiler/ir/graph.h"

namespace firn {

/// Keys are never removed. It is for lookups alone: there is no order to iterate in.
template <class T>
class NodeMap {
  public:
    bool contains(const Node* node) const { return find(node) != nullptr; }

    /// The value of `node`, null where it has none. Valid until the next insertion.
    T* find(const Node* node) {
        Slot& slot = slots_[position(node)];
        return slot.first ? &slot.second : nullptr;
    }
    const T* find(const Node* node) const { return const_cast<NodeMap*>(this)->find(node); }

    /// The value of a node that has one; throws InternalError otherwise.
    const T& at(const Node* node) const {
        const T* found = find(node);
        ensure(found, "a node is missing in a map");
        return *found;
    }

    /// True where `node` was new; else its value stays.
    bool insert(const Node* node, T value) {
        if (2 * (size_ + 1) > slots_.size()) grow();
        Slot& slot = slots_[position(node)];
        if (slot.first) return false;
        slot = {node, std::move(value)};
        ++size_;
        return true;
    }
    size_t size() const { return size_; }

  private:
    using Slot = std::pair<const Node*, T>;

    /// Returns the slot of `node`, or the free slot for it.
    size_t position(const Node* node) const {
        size_t mask = slots_.size() - 1;
        size_t at = (reinterpret_cast<uintptr_t>(node) * 0x9e3779b97f4a7c15ull >> 20) & mask;
        while (slots_[at].first && slots_[at].first != node) at = (at + 1) & mask;
        return at;
    }

    void grow() {
        std::vector<Slot> old(2 * slots_.size());
        old.swap(slots_);
        for (Slot& slot : old)
            if (slot.first) slots_[position(slot.first)] = std::move(slot);
    }

    std::vector<Slot> slots_ = std::vector<Slot>(64);
    size_t size_ = 0;
};

}  // namespace firn
