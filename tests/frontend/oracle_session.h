// Fixture: every test has a fresh session that evaluates by the oracle.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compiler/base/error.h"
#include "compiler/ir/graph.h"
#include "compiler/language.h"
#include "compiler/program/executor.h"

namespace firn {

class OracleTest : public ::testing::Test {
  protected:
    Session session = Session::oracle();
    SessionScope scope{session};
};

/// The message of the UserError that `body` throws; empty when it throws none.
template <class Body>
std::string user_error(const Body& body) {
    try {
        body();
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

/// Expects that `message` contains every part.
inline void expect_parts(const std::string& message, const std::vector<std::string>& parts) {
    for (const std::string& part : parts)
        EXPECT_NE(message.find(part), std::string::npos)
            << "'" << part << "' is not in: " << message;
}

using Floats = std::vector<float>;
using Ints = std::vector<int>;

}  // namespace firn
