// A rollout report as remit.rollout-report/1.
#include <string>

#include "base/rfc3339.h"
#include "report/json_writer.h"
#include "rollout/json_parts.h"
#include "rollout/report_forms.h"

namespace remit::rollout {
namespace {

using report::JsonWriter;

void write_reasons(std::string_view name, const std::map<std::string_view, Examples>& reasons,
                   const Row* row, JsonWriter& json) {
  json.open_member(name, '[');
  for (const auto& [reason, calls] : reasons) {
    json.item();
    json.open('{');
    json.member("reason", reason);
    if (row != nullptr) {
      const auto expected = row->expected.find(reason);
      json.plain_member("expected", expected == row->expected.end() ? 0 : expected->second);
    }
    write_ids(calls, json);
    json.close('}');
  }
  json.close(']');
}

void write_policies(const Tally& tally, JsonWriter& json) {
  json.open_member("policies", '[');
  for (const auto& [policy, calls] : tally.policies) {
    json.item();
    json.open('{');
    json.member("version", policy.version);
    json.member("digest", policy.digest);
    json.plain_member("calls", calls);
    json.close('}');
  }
  json.close(']');
  json.plain_member("policies_left_out", tally.policies_left_out);
}

void write_time(std::string_view name, const std::optional<WallTime>& time, JsonWriter& json) {
  json.key(name);
  json.text_or_null(time ? std::optional<std::string>(format_rfc3339(*time)) : std::nullopt);
}

void write_row(const Row& row, RowsBy by, JsonWriter& json) {
  const Tally& tally = row.tally;
  json.open('{');
  if (by != RowsBy::kTool) json.member("route", row.route);
  if (by != RowsBy::kRoute) json.member("tool", row.tool);
  json.member("verdict", verdict_name(row.verdict));
  write_texts("why", row.why, json);
  json.plain_member("calls", tally.calls());
  json.plain_member("compared", tally.compared());
  json.plain_member("agreed_allow", tally.of(Sort::kAgreedAllow).calls());
  json.plain_member("agreed_deny", tally.of(Sort::kAgreedDeny).calls());
  write_reasons("would_deny", tally.would_deny, &row, json);
  json.open_member("would_allow", '[');
  for (const auto& [refusal, calls] : tally.would_allow) {
    json.item();
    json.open('{');
    json.member("refused", refusal_name(refusal));
    write_ids(calls, json);
    json.close('}');
  }
  json.close(']');
  for (const Sort sort : {Sort::kUnsettled, Sort::kUndecided, Sort::kAgainstDenial,
                          Sort::kOtherPolicy, Sort::kEnforcedAllow, Sort::kEnforcedDeny}) {
    write_calls(sort_name(sort), tally.of(sort), json);
  }
  write_reasons("denied", tally.denied, nullptr, json);
  json.open_member("effects", '{');
  json.plain_member("observed", tally.effects);
  json.plain_member("unexplained", tally.unexplained_effects);
  write_ids(tally.unexplained, json);
  json.close('}');
  write_policies(tally, json);
  json.plain_member("principals", tally.principals.count());
  json.plain_member("more_principals", tally.principals.is_more());
  write_time("first", tally.first, json);
  write_time("last", tally.last, json);
  json.close('}');
}

void write_record(const Seen& seen, JsonWriter& json) {
  json.open_member("record", '{');
  json.plain_member("events", seen.events);
  json.plain_member("calls", seen.calls);
  json.plain_member("malformed", seen.malformed);
  json.plain_member("losses", seen.losses);
  json.plain_member("contradicted", seen.contradicted);
  json.plain_member("left_out", seen.left_out);
  write_texts("altered", seen.altered, json);
  write_texts("problems", seen.problems, json);
  write_texts("observers", {seen.observers.begin(), seen.observers.end()}, json);
  json.close('}');
}

}  // namespace

void write_json(const Report& report, RowsBy by, report::Outlet& outlet) {
  JsonWriter json(outlet.text());
  json.open('{');
  json.member("schema", "remit.rollout-report/1");
  json.member("verdict", verdict_name(report.verdict));
  json.plain_member("exit_code", exit_code_of(report.verdict));
  write_texts("why", report.why, json);
  json.break_line();
  write_record(report.seen, json);
  json.break_line();
  json.open_member("rows", '[');
  for (const Row& row : rows_by(report, by)) {
    json.item_on_line("  ");
    write_row(row, by, json);
    outlet.drain();
  }
  json.close(']');
  json.break_line();
  json.open_member("early_refusals", '[');
  for (const auto& [route, reasons] : report.seen.early) {
    json.item();
    json.open('{');
    json.member("route", route);
    write_reasons("reasons", reasons, nullptr, json);
    json.close('}');
  }
  json.close(']');
  json.break_line();
  json.open_member("expected_denials", '[');
  for (const ExpectedUse& use : report.expected) {
    json.item();
    json.open('{');
    json.plain_member("line", use.entry.line);
    json.member("reason", access::reason_name(use.entry.reason));
    json.member("owner", use.entry.owner);
    json.member("expires", use.entry.expires);
    json.plain_member("expired", use.is_expired);
    json.plain_member("calls", use.calls);
    json.close('}');
  }
  json.close(']');
  json.break_line();
  write_texts("scope", report.scope, json);
  json.close('}');
  outlet.text() += '\n';
}

}  // namespace remit::rollout
