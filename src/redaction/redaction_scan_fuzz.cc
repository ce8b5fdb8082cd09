// Any bytes as a line: inspected without harm, every place within it, and a canary that is put
// into it found.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "redaction/inspector.h"
#include "redaction/layers.h"

namespace {

using namespace remit::redaction;

const Scanner& scanner() {
  static const Scanner made = [] {
    return std::move(
               Scanner::make({{"long", "s3cr3t-Canary/7f+Q?>x", 1}, {"short", "k9-Zq!4w", 2}}))
        .value();
  }();
  return made;
}

void check_layers_of(std::string_view line) {
  std::string resolved;
  for (const Layer layer : {Layer::kJson, Layer::kPercent}) {
    resolve(line, layer, resolved);
    REMIT_CHECK(resolved.size() <= line.size());
    REMIT_CHECK(has_escape(line, layer) || resolved == line);
    std::size_t last = 0;
    for (std::size_t at = 0; at < std::min<std::size_t>(resolved.size(), 64); ++at) {
      const std::size_t before = offset_before(line, layer, at);
      REMIT_CHECK(before >= last && before < line.size());
      last = before;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  check_layers_of(line);
  static Scanner::Scratch scratch = std::move(scanner().make_scratch()).value();
  std::vector<Leak> leaks;
  scanner().scan_line(line, scratch, leaks);
  for (const Leak& leak : leaks) REMIT_CHECK(leak.canary < 2 && leak.at < line.size());
  const std::size_t middle = size / 2;
  const std::string planted = std::string(line.substr(0, middle)) + scanner().canaries()[0].value +
                              std::string(line.substr(middle));
  leaks.clear();
  scanner().scan_line(planted, scratch, leaks);
  REMIT_CHECK(!leaks.empty() && leaks[0].canary == 0 && leaks[0].extent == Extent::kWhole);
  REMIT_CHECK(scanner().shown_by(planted, scratch) == 0U);
  static const FieldRules rules =
      std::move(FieldRules::make({"prompt", "x_*", "requested_ref"})).value();
  std::string buffer;
  std::vector<ForbiddenField> fields;
  rules.find(line, buffer, fields);
  for (const ForbiddenField& one : fields) REMIT_CHECK(one.entry < 3 && one.at <= line.size());
  return 0;
}
