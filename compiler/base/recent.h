// A cache of bounded size: drops the least recently used entry first.
#pragma once
#include <cstddef>
#include <functional>
#include <iterator>
#include <list>
#include <map>
#include <utility>

namespace firn {

/// Keeps at most `most` values by key (at least 1). Finding or putting a value makes it the newest;
/// beyond `most` the oldest is dropped. A value does not move while it is kept.
template <class Key, class Value>
class Recent {
  public:
    explicit Recent(size_t most) : most_(most) {}
    Recent(Recent&&) = default;
    Recent& operator=(Recent&&) = default;

    /// Null where there is none.
    Value* find(const Key& key) {
        const auto at = index_.find(key);
        if (at == index_.end()) return nullptr;
        entries_.splice(entries_.begin(), entries_, at->second);
        return &entries_.front().second;
    }
    /// Replaces the value of the key.
    Value& put(Key key, Value value) {
        erase(key);
        entries_.emplace_front(std::move(key), std::move(value));
        index_.emplace(entries_.front().first, entries_.begin());
        if (entries_.size() > most_) erase(entries_.back().first);
        return entries_.front().second;
    }
    void erase(const Key& key) {
        const auto at = index_.find(key);
        if (at == index_.end()) return;
        const auto entry = at->second;
        index_.erase(at);
        entries_.erase(entry);
    }
    /// Erases the pairs of which `is_over` is true.
    template <class Predicate>
    void erase_if(const Predicate& is_over) {
        for (auto at = entries_.begin(); at != entries_.end();) {
            const auto next = std::next(at);
            if (is_over(*at)) index_.erase(at->first), entries_.erase(at);
            at = next;
        }
    }
    void clear() {
        index_.clear();
        entries_.clear();
    }
    size_t size() const { return entries_.size(); }
    /// Pairs of key and value, the newest first.
    auto begin() { return entries_.begin(); }
    auto end() { return entries_.end(); }
    auto begin() const { return entries_.begin(); }
    auto end() const { return entries_.end(); }

  private:
    using Entries = std::list<std::pair<const Key, Value>>;
    size_t most_;
    Entries entries_;
    std::map<std::reference_wrapper<const Key>, typename Entries::iterator, std::less<Key>> index_;
};

}  // namespace firn
