// A check of routes as text and JSON.
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "report/finding_words.h"
#include "report/json_writer.h"
#include "rollout/json_parts.h"
#include "rollout/routes.h"

namespace remit::rollout {
namespace {

using report::counted;
using report::JsonWriter;

std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t i = 0; i < names.size() && i < kMaxNamesTold; ++i) {
    out += (out.empty() ? "" : ", ") + quoted(names[i]);
  }
  if (names.size() > kMaxNamesTold) {
    out += fmt::format(" and {} more", names.size() - kMaxNamesTold);
  }
  return out;
}

void write_ids(std::string_view what, const Examples& calls, std::string& out) {
  if (calls.calls() == 0) return;
  out += fmt::format("    {}: {}", what, counted(calls.calls(), "call", "calls"));
  const char* before = ", such as ";
  for (const std::string& id : calls.ids()) {
    out += before + quoted(id);
    before = ", ";
  }
  out += '\n';
}

void write_route(const RouteUse& route, std::string& out) {
  const char* const state = route.is_declared    ? (route.calls > 0 ? "declared" : "never seen")
                            : route.name.empty() ? "not recorded"
                                                 : "NOT DECLARED";
  out += fmt::format("  {}: {}, {}", route.name.empty() ? "-" : quoted(route.name), state,
                     counted(route.calls, "call", "calls"));
  if (route.refused_early > 0) {
    out += fmt::format(", {} refused before a tool was looked up", route.refused_early);
  }
  out += '\n';
  write_ids("without a decision", route.undecided, out);
  write_ids("denied, and ran", route.against_denial, out);
  write_ids("with effects that no decision explains", route.unexplained, out);
  write_ids("of tools that the catalogue has not", route.undeclared_tools, out);
  if (!route.tools_undeclared.empty()) {
    out += fmt::format("    those tools: {}\n", listed(route.tools_undeclared));
  }
  if (route.is_declared && !route.unseen_tools.empty()) {
    out += fmt::format("    never called here: {}\n", listed(route.unseen_tools));
  }
}

void write_route(const RouteUse& route, JsonWriter& json) {
  json.open('{');
  json.member("route", route.name);
  json.plain_member("declared", route.is_declared);
  json.plain_member("calls", route.calls);
  json.plain_member("refused_early", route.refused_early);
  json.plain_member("decided", route.decided);
  write_calls("undecided", route.undecided, json);
  write_calls("against_denial", route.against_denial, json);
  json.plain_member("unexplained_effects", route.unexplained_effects);
  write_calls("unexplained", route.unexplained, json);
  write_calls("undeclared_tools", route.undeclared_tools, json);
  write_texts("tools_undeclared", route.tools_undeclared, json);
  write_texts("never_called", route.unseen_tools, json);
  json.close('}');
}

}  // namespace

void write_text(const RoutesReport& report, report::Outlet& outlet) {
  std::string& out = outlet.text();
  out += fmt::format("routes: {}\n", verdict_name(report.verdict));
  for (const auto* list : {&report.failed, &report.undetermined, &report.unexercised}) {
    for (const std::string& sentence : *list) out += fmt::format("  - {}\n", sentence);
  }
  for (const std::string& problem : report.seen.problems) out += fmt::format("    {}\n", problem);
  out += fmt::format("{}, {}, {} decided by the bundle {} ({})\n\n",
                     counted(report.seen.events, "event", "events"),
                     counted(report.seen.calls, "call", "calls"), report.decided_by_bundle,
                     quoted(report.version), report.digest);
  for (const RouteUse& route : report.routes) {
    write_route(route, out);
    outlet.drain();
  }
  if (!report.unseen_tools.empty()) {
    out += fmt::format("\nnever called by any route: {}\n", listed(report.unseen_tools));
  }
  if (!report.seen.observers.empty()) {
    out += fmt::format("\nobservers: {}\n",
                       listed({report.seen.observers.begin(), report.seen.observers.end()}));
  }
  out += "\nscope\n";
  for (const std::string& sentence : report.scope) out += fmt::format("  - {}\n", sentence);
}

void write_json(const RoutesReport& report, report::Outlet& outlet) {
  JsonWriter json(outlet.text());
  json.open('{');
  json.member("schema", "remit.routes-check/1");
  json.member("verdict", verdict_name(report.verdict));
  json.plain_member("exit_code", exit_code_of(report.verdict));
  write_texts("failed", report.failed, json);
  write_texts("undetermined", report.undetermined, json);
  write_texts("not_exercised", report.unexercised, json);
  json.break_line();
  json.open_member("bundle", '{');
  json.member("version", report.version);
  json.member("digest", report.digest);
  json.plain_member("decided", report.decided_by_bundle);
  json.close('}');
  json.plain_member("events", report.seen.events);
  json.plain_member("calls", report.seen.calls);
  write_texts("problems", report.seen.problems, json);
  json.break_line();
  json.open_member("routes", '[');
  for (const RouteUse& route : report.routes) {
    json.item_on_line("  ");
    write_route(route, json);
    outlet.drain();
  }
  json.close(']');
  json.break_line();
  write_texts("never_called", report.unseen_tools, json);
  write_texts("observers", {report.seen.observers.begin(), report.seen.observers.end()}, json);
  json.break_line();
  write_texts("scope", report.scope, json);
  json.close('}');
  outlet.text() += '\n';
}

}  // namespace remit::rollout
