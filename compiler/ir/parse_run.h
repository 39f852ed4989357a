// The state of one run of parse(), over which the functions that read its text work.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace firn {

struct GraphParseRun {
    NodeTable& table;
    const std::string& text;
    size_t at = 0;   // the next character of the text
    int nested = 0;  // bodies around

    // The parts that have been read.
    Graph graph;
    std::vector<Ref> nodes;                               // by their numbers
    std::map<int64_t, std::shared_ptr<Memory>> memories;  // by number
};

}  // namespace firn
