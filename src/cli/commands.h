// The commands' entry points; each stands in a file of its own, and commands.cc is their one table.
#pragma once

#include "cli/command.h"
#include "cli/world.h"

namespace remit::cli {

int run_stdio(const Arguments& arguments, World& world);
int run_grade(const Arguments& arguments, World& world);
int run_baseline_check(const Arguments& arguments, World& world);
int run_baseline_shrink(const Arguments& arguments, World& world);
int run_baseline_suggest(const Arguments& arguments, World& world);
int run_contract_check(const Arguments& arguments, World& world);
int run_manifest_check(const Arguments& arguments, World& world);
int run_case_from_trace(const Arguments& arguments, World& world);
int run_conform_run(const Arguments& arguments, World& world);
int run_conform_list(const Arguments& arguments, World& world);
int run_conform_self_test(const Arguments& arguments, World& world);
int run_conform_plan(const Arguments& arguments, World& world);
int run_conform_spy(const Arguments& arguments, World& world);
int run_replay(const Arguments& arguments, World& world);
int run_rollout_report(const Arguments& arguments, World& world);
int run_routes_check(const Arguments& arguments, World& world);
int run_policy_check(const Arguments& arguments, World& world);
int run_evidence_verify(const Arguments& arguments, World& world);
int run_evidence_show(const Arguments& arguments, World& world);
int run_init(const Arguments& arguments, World& world);
int run_explain(const Arguments& arguments, World& world);
int run_explain_code(const Arguments& arguments, World& world);
int run_generate(const Arguments& arguments, World& world);
int run_version(const Arguments& arguments, World& world);

}  // namespace remit::cli
