// Programs on the device give what the oracle gives, and validation says nothing.
#pragma once
#include <functional>
#include <memory>

#include "engine/firn/device_session.h"
#include "tests/algorithms/agreement.h"

namespace firn {

struct DeviceCase {
    const char* name;
    std::function<Tensor()> run;
    double tolerance = 0;
    friend std::ostream& operator<<(std::ostream& out, const DeviceCase& test) {
        return out << test.name;
    }
};

/// All cases of a suite share one device.
class OnDevice : public ::testing::TestWithParam<DeviceCase> {
  protected:
    static void SetUpTestSuite() {
        try {
            session() = std::make_unique<Session>(
                device_session({.validation = true, .fill_memory = true}));
        } catch (const DeviceError&) {
        }
    }
    static void TearDownTestSuite() { session().reset(); }
    static std::unique_ptr<Session>& session() {
        static std::unique_ptr<Session> session;
        return session;
    }
};

/// Returns whether an error is only that the device lacks types or lanes.
inline bool lacks_features(const DeviceProfile& profile) {
    return !profile.has_f64 || !profile.has_i64 || !profile.subgroup_shuffle;
}

inline std::string name_of(const ::testing::TestParamInfo<DeviceCase>& info) {
    return info.param.name;
}

}  // namespace firn
