// Rows as resources.
#include "attributes/row_resource.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "base/utf8.h"

namespace remit::attributes {
namespace {

constexpr std::string_view kReference = ":ref";

/// A name that stands twice in a list, if one does.
std::optional<std::string> repeated(const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) !=
        names.begin() + static_cast<std::ptrdiff_t>(i)) {
      return names[i];
    }
  }
  return std::nullopt;
}

Status check_shape(const database::StatementShape& shape) {
  if (shape.parameters != std::vector<std::string>{std::string(kReference)}) {
    return Error{ErrorCode::kInvalidInput, "the query must have the parameter :ref and no other"};
  }
  for (const char* const needed : {"id", "tenant"}) {
    if (std::find(shape.columns.begin(), shape.columns.end(), needed) == shape.columns.end()) {
      return Error{ErrorCode::kInvalidInput,
                   fmt::format("the query gives no column \"{}\"", needed)};
    }
  }
  if (const std::optional<std::string> twice = repeated(shape.columns)) {
    return Error{ErrorCode::kInvalidInput,
                 fmt::format("the query gives two columns {}", quoted(*twice))};
  }
  return {};
}

/// The elements of a one-dimensional array of texts as the server writes it, `{a,"b c"}`; nothing
/// for one that has a NULL or further dimensions (PostgreSQL, 8.15.6).
std::optional<std::vector<std::string>> elements_of(std::string_view text) {
  if (text.size() < 2 || text.front() != '{' || text.back() != '}') return std::nullopt;
  text = text.substr(1, text.size() - 2);
  std::vector<std::string> out;
  std::size_t at = 0;
  while (at < text.size()) {
    std::string element;
    const bool is_quoted = text[at] == '"';
    if (is_quoted) ++at;
    for (const char end = is_quoted ? '"' : ','; at < text.size() && text[at] != end; ++at) {
      if (!is_quoted && (text[at] == '{' || text[at] == '}')) return std::nullopt;
      if (text[at] == '\\') ++at;
      if (at == text.size()) return std::nullopt;
      element += text[at];
    }
    if (is_quoted) {
      if (at == text.size()) return std::nullopt;
      ++at;
    } else if (element.empty() || element == "NULL") {
      return std::nullopt;
    }
    out.push_back(std::move(element));
    if (at == text.size()) return out;
    if (text[at] != ',') return std::nullopt;
    ++at;
    if (at == text.size()) return std::nullopt;
  }
  return out;
}

/// A cell as Long, String, Bool or Set<String>; nothing for NULL.
Result<std::optional<access::AttributeValue>> attribute_of(const database::Cell& cell,
                                                           database::ColumnType type,
                                                           const std::string& column) {
  using Attribute = std::optional<access::AttributeValue>;
  if (type == database::ColumnType::kOther) {
    return Error{ErrorCode::kDataLoss,
                 fmt::format("{} is of a type that is no attribute", quoted(column))};
  }
  if (std::holds_alternative<std::monostate>(cell)) return Attribute{};
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) {
    if (type == database::ColumnType::kTruth) return Attribute{*integer != 0};
    return Attribute{*integer};
  }
  const auto* text = std::get_if<std::string>(&cell);
  if (text == nullptr) {
    return Error{ErrorCode::kDataLoss,
                 fmt::format("{} is neither an integer nor a text", quoted(column))};
  }
  if (first_invalid_utf8(*text)) {
    return Error{ErrorCode::kDataLoss, fmt::format("{} is not UTF-8", quoted(column))};
  }
  if (type != database::ColumnType::kTexts) return Attribute{*text};
  std::optional<std::vector<std::string>> elements = elements_of(*text);
  if (!elements) {
    return Error{ErrorCode::kDataLoss,
                 fmt::format("{} is an array with NULL or several dimensions", quoted(column))};
  }
  return Attribute{*std::move(elements)};
}

/// An id, a tenant or a revision as text; empty for NULL.
Result<std::string> text_of(const std::optional<access::AttributeValue>& value,
                            const std::string& column) {
  if (!value) return std::string();
  if (const auto* integer = std::get_if<std::int64_t>(&*value)) return std::to_string(*integer);
  if (const auto* text = std::get_if<std::string>(&*value)) return *text;
  return Error{ErrorCode::kDataLoss,
               fmt::format("{} is neither an integer nor a text", quoted(column))};
}

Result<access::Resource> resource_of(const database::Answer& answer) {
  access::Resource out;
  bool has_tenant = false;
  // The table may have changed since the query was checked, and with it what `*` stands for.
  if (const std::optional<std::string> twice = repeated(answer.columns)) {
    return Error{ErrorCode::kDataLoss, fmt::format("two columns {} by now", quoted(*twice))};
  }
  for (std::size_t i = 0; i < answer.columns.size(); ++i) {
    const std::string& column = answer.columns[i];
    const database::ColumnType type =
        i < answer.types.size() ? answer.types[i] : database::ColumnType::kPlain;
    REMIT_TRY_ASSIGN(std::optional<access::AttributeValue> value,
                     attribute_of(answer.rows.front()[i], type, column));
    if (column == "id") {
      REMIT_TRY_ASSIGN(out.id, text_of(value, column));
    } else if (column == "tenant") {
      has_tenant = true;
      REMIT_TRY_ASSIGN(out.tenant, text_of(value, column));
    } else if (column == "revision") {
      REMIT_TRY_ASSIGN(out.revision, text_of(value, column));
    } else if (value) {
      out.attributes.emplace_back(column, *std::move(value));
    }
  }
  if (out.id.empty()) return Error{ErrorCode::kDataLoss, "the row has no id"};
  if (!has_tenant) return Error{ErrorCode::kDataLoss, "the row has no tenant column any more"};
  if (out.id.size() > kMaxIdBytes) {
    return Error{ErrorCode::kLimitExceeded,
                 fmt::format("an id of more than {} bytes", kMaxIdBytes)};
  }
  std::sort(out.attributes.begin(), out.attributes.end(),
            [](const auto& left, const auto& right) { return left.first < right.first; });
  return out;
}

}  // namespace

Status check_query(database::Database& database, const RowQuery& asked, MonotonicTime deadline) {
  REMIT_TRY_ASSIGN(const database::StatementShape shape, database.describe(asked.query, deadline));
  return check_shape(shape);
}

Result<access::Resource> resolve_row(database::Database& database, const RowQuery& asked,
                                     const ResourceQuery& question) {
  const bool is_text = !first_invalid_utf8(question.reference);
  if (question.type != asked.type || question.reference.size() > kMaxReferenceBytes || !is_text) {
    return Error{ErrorCode::kNotFound, "no such resource", asked.source};
  }
  const database::Parameter reference{kReference, std::string(question.reference)};
  REMIT_TRY_ASSIGN(
      const database::Answer answer,
      database.run(asked.query, {&reference, 1}, {.deadline = question.deadline, .max_rows = 2}));
  if (answer.rows.empty()) return Error{ErrorCode::kNotFound, "no such resource", asked.source};
  if (answer.rows.size() > 1) {
    return Error{ErrorCode::kDataLoss, "more than one row for one reference", asked.source};
  }
  Result<access::Resource> resource = resource_of(answer);
  if (!resource) return in_place(asked.source, std::move(resource).error());
  resource->type = asked.type;
  resource->source = asked.source;
  return resource;
}

}  // namespace remit::attributes
