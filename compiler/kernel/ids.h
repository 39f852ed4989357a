// Ids of kernel code. Nodes, regions and ranges have ids of different types: an id converts neither
// to a number nor to an id of another kind.
#pragma once
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace firn {

/// The place of a thing among the others of its kind, or none.
template <class Kind>
class Id {
  public:
    constexpr Id() = default;  // none
    template <std::integral Place>
    constexpr explicit Id(Place place) : number_(static_cast<int32_t>(place)) {}

    /// Returns whether it names a thing.
    constexpr explicit operator bool() const { return number_ >= 0; }
    /// The number that texts print; -1: none.
    constexpr int number() const { return number_; }
    constexpr size_t place() const { return static_cast<size_t>(number_); }
    constexpr Id next() const { return Id(number_ + 1); }
    friend constexpr auto operator<=>(const Id&, const Id&) = default;

  private:
    int32_t number_ = -1;
};

struct KernelNode;
struct KernelRegion;
struct Range;
using NodeId = Id<KernelNode>;
using RegionId = Id<KernelRegion>;
using RangeId = Id<Range>;

/// The ids from `first` up to, but without, `last`.
template <class Key>
struct Ids {
    Key first, last;
    struct Iterator {
        Key id;
        Key operator*() const { return id; }
        Iterator& operator++() {
            id = id.next();
            return *this;
        }
        friend bool operator==(const Iterator&, const Iterator&) = default;
    };
    Iterator begin() const { return {first}; }
    Iterator end() const { return {last}; }
};

/// A table with a value for each id from the first on. Only ids of its kind are indices.
template <class Key, class Value>
struct ById : std::vector<Value> {
    using Values = std::vector<Value>;
    using Values::Values;
    typename Values::reference operator[](Key id) { return Values::operator[](id.place()); }
    typename Values::const_reference operator[](Key id) const {
        return Values::operator[](id.place());
    }
    /// The ids that have a value.
    Ids<Key> ids() const { return {Key(0), end_id()}; }
    /// The id of the next value that is added.
    Key end_id() const { return Key(this->size()); }
};
template <class Value>
using ByNode = ById<NodeId, Value>;
template <class Value>
using ByRegion = ById<RegionId, Value>;
template <class Value>
using ByRange = ById<RangeId, Value>;

}  // namespace firn

template <class Kind>
struct std::hash<firn::Id<Kind>> {
    size_t operator()(const firn::Id<Kind>& id) const { return std::hash<int>()(id.number()); }
};
