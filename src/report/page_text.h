// The style sheet and the script of pages (src/report/page), as CMake builds them in.
#pragma once

#include <string_view>

namespace remit::report {

extern const std::string_view kPageCSS;
extern const std::string_view kPageJS;

}  // namespace remit::report
