// Blanks: places in a file that Remit wrote for a person to fill in, and that no reader takes.
#pragma once

#include <string_view>

#include "yaml/yaml.h"

namespace remit::grading {

/// Stands where a person has to write. No text of a manifest or a baseline may be this.
inline constexpr std::string_view kBlank = "___";

/// Adds a problem at each value beneath `root` that is a blank; true if there is one. Whoever reads
/// the file then has nothing else to say of it.
bool find_blanks(const yaml::Node& root, yaml::Problems& problems);

}  // namespace remit::grading
