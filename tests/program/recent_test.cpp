// A cache of bounded size.
#include "compiler/base/recent.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace firn {
namespace {

std::vector<std::string> keys(const Recent<std::string, int>& cache) {
    std::vector<std::string> out;
    for (const auto& [key, value] : cache) out.push_back(key);
    return out;
}

TEST(Recent, ErasesWhatIsOver) {
    Recent<std::string, int> cache(5);
    for (const char* key : {"a", "b", "c", "d"}) cache.put(key, key[0] - 'a');
    cache.erase_if([](const auto& entry) { return entry.second % 2 == 1; });
    EXPECT_EQ(keys(cache), (std::vector<std::string>{"c", "a"}));
    EXPECT_EQ(cache.find("b"), nullptr);
    EXPECT_EQ(*cache.find("a"), 0);
}
TEST(Recent, TheOldestGoesFirst) {
    Recent<std::string, int> cache(2);
    cache.put("a", 1);
    cache.put("b", 2);
    cache.put("c", 3);
    EXPECT_EQ(keys(cache), (std::vector<std::string>{"c", "b"}));
    EXPECT_EQ(cache.find("a"), nullptr);
}

TEST(Recent, FindingMakesNew) {
    Recent<std::string, int> cache(2);
    cache.put("a", 1);
    cache.put("b", 2);
    EXPECT_EQ(*cache.find("a"), 1);
    cache.put("c", 3);
    EXPECT_EQ(keys(cache), (std::vector<std::string>{"c", "a"}));
}

TEST(Recent, PuttingAgainReplaces) {
    Recent<std::string, int> cache(2);
    cache.put("a", 1);
    EXPECT_EQ(cache.put("a", 5), 5);
    EXPECT_EQ(cache.size(), 1u);
}

TEST(Recent, WhatGoesIsDestroyed) {
    Recent<int, std::shared_ptr<int>> cache(3);
    const auto value = std::make_shared<int>(7);
    for (int k = 0; k < 100; ++k) cache.put(k, value);
    EXPECT_EQ(value.use_count(), 4);
    cache.erase(99);
    EXPECT_EQ(value.use_count(), 3);
    cache.clear();
    EXPECT_EQ(value.use_count(), 1);
}

}  // namespace
}  // namespace firn
