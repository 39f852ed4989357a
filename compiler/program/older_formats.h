// Older formats of saved programs become the present one; internal.
#pragma once
#include <nlohmann/json_fwd.hpp>

namespace firn {

/// Gives the fields of a file of format 2 their present names. Leaves what is not as it should be
/// to the reader, which says where that is.
void rename_from_format_2(nlohmann::json& file);

}  // namespace firn
