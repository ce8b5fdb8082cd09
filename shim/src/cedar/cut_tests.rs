//! Validation against a part of the schema against Cedar's own validation against all of it: the same policies
//! pass, on random schemas, scopes and conditions.

use std::collections::BTreeSet;
use std::str::FromStr;

use cedar_policy::{PolicySet, Schema, ValidationMode, Validator};

use super::load::load;
use super::report::{FindingKind, Report};
use super::tests::Random;
use super::text::Limits;
use crate::abi::on_loading_stack;

const ACTIONS: u64 = 16;
const GROUPS: u64 = 4;
const POLICIES: usize = 12;

/// Sixteen actions in four groups, some of these in one another, whose contexts, principals and resources differ.
fn random_schema(random: &mut Random) -> String {
    let mut schema = String::from(
        "namespace N { entity R9 { v: Long }; action \"far\" appliesTo { principal: [P0], resource: [R9], context: {} }; }\n\
         entity Folder; entity E enum [\"on\", \"off\"]; entity P0 in [Folder] { t: String };\n\
         entity P1 { t: Long, e?: E }; entity R0 in [Folder] { v: Long, o?: String };\n\
         entity R1 { v: String } tags Long; entity R2;\n",
    );
    for group in 0..GROUPS {
        let above =
            if group > 0 && random.one_in(2) { format!(" in [\"g{}\"]", group - 1) } else { String::new() };
        schema += &format!("action \"g{group}\"{above};\n");
    }
    for action in 0..ACTIONS {
        let group =
            if random.one_in(3) { String::new() } else { format!(" in [\"g{}\"]", random.below(GROUPS)) };
        let principals = random.pick(&["[P0]", "[P1]", "[P0, P1]"]);
        let resources = random.pick(&["[R0]", "[R1]", "[R0, R2]", "[R0, R1, R2]"]);
        let context = random.pick(&["{}", "{ x: Long }", "{ x: String }", "{ x?: Long, y: { z: Bool } }"]);
        schema += &format!(
            "action \"a{action}\"{group} appliesTo {{ principal: {principals}, resource: {resources}, context: {context} }};\n"
        );
    }
    schema
}

fn random_scope(random: &mut Random) -> String {
    let principal = random.pick(&[
        "principal",
        "principal is P0",
        "principal == P1::\"p\"",
        "principal in Folder::\"f\"",
    ]);
    let (n, m, g) = (random.below(ACTIONS), random.below(ACTIONS), random.below(GROUPS));
    let action = match random.below(6) {
        0 => format!("action == Action::\"a{n}\""),
        1 => format!("action in [Action::\"a{n}\", Action::\"a{m}\"]"),
        2 => format!("action in Action::\"g{g}\""),
        3 => format!("action in [Action::\"a{n}\", Action::\"g{g}\"]"),
        4 => "action == N::Action::\"far\"".into(),
        _ => format!("action == Action::\"g{g}\""),
    };
    let resource =
        random.pick(&["resource", "resource is R0", "resource == R1::\"r\"", "resource in Folder::\"f\""]);
    format!("{principal}, {action}, {resource}")
}

fn random_condition(random: &mut Random) -> String {
    let (n, g) = (random.below(ACTIONS), random.below(GROUPS));
    let basic = |random: &mut Random| {
        random
            .pick(&[
                "true",
                "context.x > 1",
                "context.x == \"s\"",
                "context has x && context.x > 1",
                "context has y && context.y.z",
                "resource.v == 1",
                "resource.v == \"s\"",
                "resource is R0 && resource.v > 1",
                "resource is R1 && resource.hasTag(\"k\")",
                "principal.t == 1",
                "principal is P0 && principal.t == \"s\"",
                "principal is P1 && principal has e && principal.e == E::\"on\"",
                "principal == P0::\"x\"",
                "resource == R9::\"x\"",
                "principal is N::R9",
                "E::\"up\" == E::\"on\"",
                "principal == resource",
            ])
            .to_owned()
    };
    match random.below(6) {
        0 => format!("action == Action::\"a{n}\" && {}", basic(random)),
        1 => format!("action in Action::\"g{g}\" && {}", basic(random)),
        2 => format!("if action == Action::\"a{n}\" then {} else {}", basic(random), basic(random)),
        3 => format!("action in [Action::\"a{n}\", N::Action::\"far\"] || {}", basic(random)),
        4 => format!("{} && {}", basic(random), basic(random)),
        _ => basic(random),
    }
}

#[test]
fn what_passes_a_part_of_the_schema_passes_all_of_it() {
    let mut random = Random(41);
    let (mut passed, mut failed, mut named) = (0, 0, 0);
    for _ in 0..200 {
        let schema_text = random_schema(&mut random);
        let schema = Schema::from_cedarschema_str(&schema_text).unwrap().0;
        let mut policies = String::new();
        for number in 0..POLICIES {
            let effect = random.pick(&["permit", "forbid"]);
            let (scope, condition) = (random_scope(&mut random), random_condition(&mut random));
            policies += &format!("@id(\"p{number:02}\") {effect}({scope}) when {{ {condition} }};\n");
        }
        let set = PolicySet::from_str(&policies).unwrap();
        let whole = Validator::new(schema).validate(&set, ValidationMode::Strict);
        let name = |id| set.annotation(id, "id").unwrap().to_owned();
        let theirs: BTreeSet<String> = whole.validation_errors().map(|e| name(e.policy_id())).collect();

        let mut report = Report::default();
        let run = || Ok(load(&[&policies], &schema_text, &Limits::default(), &mut report).is_some());
        let loaded = on_loading_stack(run).unwrap();
        assert_eq!(loaded, theirs.is_empty(), "{schema_text}\n{policies}");
        // A report keeps a bounded number of findings.
        let errors = report.findings().iter().filter(|f| f.kind == FindingKind::Validation);
        let ours: BTreeSet<String> = errors.map(|f| f.policy.clone()).collect();
        if report.omitted() == 0 {
            assert_eq!(ours, theirs, "{schema_text}\n{policies}");
            named += 1;
        }
        failed += theirs.len();
        passed += POLICIES - theirs.len();
    }
    assert!(passed > 500 && failed > 500 && named > 100, "{passed} {failed} {named}");
}
