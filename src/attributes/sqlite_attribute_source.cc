// Rows as resources.
#include "attributes/sqlite_attribute_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "base/utf8.h"
#include "database/sqlite_database.h"

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

/// A cell as Long or String; nothing for NULL.
Result<std::optional<access::AttributeValue>> attribute_of(const database::Cell& cell,
                                                           const std::string& column) {
  using Attribute = std::optional<access::AttributeValue>;
  if (std::holds_alternative<std::monostate>(cell)) return Attribute{};
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) return Attribute{*integer};
  const auto* text = std::get_if<std::string>(&cell);
  if (text == nullptr) {
    return Error{ErrorCode::kDataLoss,
                 fmt::format("{} is neither an integer nor a text", quoted(column))};
  }
  if (first_invalid_utf8(*text)) {
    return Error{ErrorCode::kDataLoss, fmt::format("{} is not UTF-8", quoted(column))};
  }
  return Attribute{*text};
}

/// An id, a tenant or a revision as text; empty for NULL.
std::string text_of(const std::optional<access::AttributeValue>& value) {
  if (!value) return {};
  if (const auto* integer = std::get_if<std::int64_t>(&*value)) return std::to_string(*integer);
  return std::get<std::string>(*value);
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
    REMIT_TRY_ASSIGN(std::optional<access::AttributeValue> value,
                     attribute_of(answer.rows.front()[i], column));
    if (column == "id") {
      out.id = text_of(value);
    } else if (column == "tenant") {
      has_tenant = true;
      out.tenant = text_of(value);
    } else if (column == "revision") {
      out.revision = text_of(value);
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

Result<std::unique_ptr<SqliteAttributeSource>> SqliteAttributeSource::open(
    const SqliteSourceOptions& options, const Clock& clock, MonotonicTime deadline) {
  auto opened =
      std::make_unique<database::SqliteDatabase>(options.path, database::Access::kReadOnly, clock);
  REMIT_TRY_ASSIGN(const database::StatementShape shape, opened->describe(options.query, deadline));
  if (Status fits = check_shape(shape); !fits) {
    return in_place(options.path, std::move(fits).error());
  }
  return std::unique_ptr<SqliteAttributeSource>(
      new SqliteAttributeSource(options, std::move(opened)));
}

Result<access::Resource> SqliteAttributeSource::resolve(const ResourceQuery& query) const {
  const bool is_text = !first_invalid_utf8(query.reference);
  if (query.type != options_.type || query.reference.size() > kMaxReferenceBytes || !is_text) {
    return Error{ErrorCode::kNotFound, "no such resource", options_.source};
  }
  const database::Parameter reference{kReference, std::string(query.reference)};
  REMIT_TRY_ASSIGN(
      const database::Answer answer,
      database_->run(options_.query, {&reference, 1}, {.deadline = query.deadline, .max_rows = 2}));
  if (answer.rows.empty()) return Error{ErrorCode::kNotFound, "no such resource", options_.source};
  if (answer.rows.size() > 1) {
    return Error{ErrorCode::kDataLoss, "more than one row for one reference", options_.source};
  }
  Result<access::Resource> resource = resource_of(answer);
  if (!resource) return in_place(options_.source, std::move(resource).error());
  resource->type = options_.type;
  resource->source = options_.source;
  return resource;
}

}  // namespace remit::attributes
