// Pages that tests write, so that they show code that runs.
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace firn {

/// The page at `path`, from the root of the sources, is `made`; FIRN_WRITE_README=1 writes it anew.
inline void expect_page(const std::string& path, const std::string& made) {
    const std::string whole = FIRN_SOURCE_DIR "/" + path;
    if (std::getenv("FIRN_WRITE_README")) std::ofstream(whole) << made;
    std::ifstream in(whole);
    std::ostringstream is;
    is << in.rdbuf();
    EXPECT_EQ(is.str(), made) << "FIRN_WRITE_README=1 writes it anew";
}

}  // namespace firn
