// Outside text within an XML document.
#pragma once

#include <string>
#include <string_view>

namespace remit::report {

/// `text` for the content of an element or attribute. What XML 1.0 cannot write at all, and what is
/// no UTF-8, is written out (`\\x07`).
std::string xml_escaped(std::string_view text);

}  // namespace remit::report
