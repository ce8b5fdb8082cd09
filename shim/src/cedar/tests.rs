//! The engine against Cedar's own authorizer and conformance checks, and what loading refuses.

use std::collections::BTreeSet;
use std::str::FromStr;
use std::sync::Arc;

use cedar_policy::{
    Authorizer, Context, Decision, Entities, Entity, EntityId, EntityTypeName, EntityUid, PolicySet,
    RestrictedExpression, Schema,
};

use super::engine::{Engine, Verdict};
use super::index::Standing;
use super::load::load;
use super::report::{Finding, FindingKind, Report};
use super::request::{Extension, Request, Target};
use super::text::Limits;
use crate::abi::{on_loading_stack, Outcome, Status};
use cedar_policy_core::ast::Value;

const SCHEMA: &str = r#"
entity Group;
entity Color enum ["red", "blue"];
entity Principal in [Group] { tenant: String, level: Long, scopes: Set<String>, boss?: Principal };
entity Folder;
entity Invoice in [Folder] { tenant: String, amount: Long, paid: Bool, color?: Color, seen?: datetime };
action "reading";
action "read" in ["reading"] appliesTo { principal: [Principal], resource: [Invoice],
  context: { route: String, arguments: { limit?: Long, tags?: Set<String>, nested?: { x: Long } } } };
action "list" in ["reading"] appliesTo { principal: [Principal], resource: [Invoice],
  context: { route: String, arguments: {} } };
action "pay" appliesTo { principal: [Principal], resource: [Invoice], context: { route: String, arguments: {} } };
"#;

/// A small generator (splitmix64), so that every run tries the same cases.
pub(super) struct Random(pub(super) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    pub(super) fn one_in(&mut self, bound: u64) -> bool {
        self.below(bound) == 0
    }

    pub(super) fn pick<'a, T: ?Sized>(&mut self, items: &[&'a T]) -> &'a T {
        items[self.below(items.len() as u64) as usize]
    }
}

fn try_load(sources: &[&str], schema: &str) -> (Option<Engine>, Vec<Finding>) {
    let mut report = Report::default();
    let engine = on_loading_stack(|| Ok(load(sources, schema, &Limits::default(), &mut report)));
    (engine.unwrap(), report.findings().to_vec())
}

fn engine(policies: &str) -> Arc<Engine> {
    let (engine, findings) = try_load(&[policies], SCHEMA);
    Arc::new(engine.unwrap_or_else(|| panic!("{findings:?}")))
}

fn type_number(engine: &Engine, name: &str) -> u32 {
    engine.entities.iter().position(|e| e.name == name).unwrap() as u32
}

fn action_number(engine: &Engine, id: &str) -> u32 {
    engine.actions.iter().position(|a| AsRef::<str>::as_ref(a.uid.eid()) == id).unwrap() as u32
}

/// One request in a form from which both sides are built.
#[derive(Debug, Clone)]
struct Question {
    principal: String,
    groups: Vec<String>,
    resource: String,
    folders: Vec<String>,
    action: &'static str,
    tenant: &'static str,
    owner: &'static str,
    level: i64,
    amount: i64,
    scopes: Vec<&'static str>,
}

fn question(random: &mut Random) -> Question {
    let names = |random: &mut Random, stem: &str| {
        (0..random.below(3)).map(|_| format!("{stem}{}", random.below(4))).collect::<BTreeSet<_>>()
    };
    Question {
        principal: format!("p{}", random.below(4)),
        groups: names(random, "g").into_iter().collect(),
        resource: format!("i{}", random.below(6)),
        folders: names(random, "f").into_iter().collect(),
        action: random.pick(&["read", "list", "pay"]),
        tenant: random.pick(&["a", "b"]),
        owner: random.pick(&["a", "b"]),
        level: if random.one_in(8) { i64::MAX } else { random.below(5) as i64 },
        amount: random.below(10) as i64,
        scopes: ["x", "y", "z"].into_iter().filter(|_| random.one_in(2)).collect(),
    }
}

fn ours(engine: &Arc<Engine>, q: &Question) -> Outcome<Verdict> {
    let mut request = Request::new(engine.clone());
    let number = |name: &str| type_number(engine, name);
    request.begin(Target::Principal, number("Principal"), &q.principal)?;
    for group in &q.groups {
        request.ancestor(number("Group"), group)?;
    }
    request.put("tenant", Value::new(q.tenant, None))?;
    request.put("level", Value::new(q.level, None))?;
    request.open("scopes", true)?;
    for scope in &q.scopes {
        request.put("", Value::new(*scope, None))?;
    }
    request.close()?;
    request.begin(Target::Resource, number("Invoice"), &q.resource)?;
    for folder in &q.folders {
        request.ancestor(number("Folder"), folder)?;
    }
    request.put("tenant", Value::new(q.owner, None))?;
    request.put("amount", Value::new(q.amount, None))?;
    request.put("paid", Value::new(q.amount > 5, None))?;
    request.begin_context()?;
    request.put("route", Value::new("agent", None))?;
    request.open("arguments", false)?;
    request.close()?;
    request.decide(action_number(engine, q.action))?;
    Ok(request.verdict)
}

fn uid(name: &str, id: &str) -> EntityUid {
    EntityUid::from_type_name_and_id(EntityTypeName::from_str(name).unwrap(), EntityId::new(id))
}

/// Cedar's own answer on the whole set: decision, determining policies, failed policies.
fn theirs(policies: &PolicySet, schema: &Schema, q: &Question) -> (bool, Vec<String>, Vec<String>) {
    let string = |text: &str| RestrictedExpression::new_string(text.into());
    let scopes = RestrictedExpression::new_set(q.scopes.iter().map(|s| string(s)));
    let principal = Entity::new_with_tags(
        uid("Principal", &q.principal),
        [
            ("tenant".into(), string(q.tenant)),
            ("level".into(), RestrictedExpression::new_long(q.level)),
            ("scopes".into(), scopes),
        ],
        q.groups.iter().map(|g| uid("Group", g)),
        [],
    );
    let resource = Entity::new_with_tags(
        uid("Invoice", &q.resource),
        [
            ("tenant".into(), string(q.owner)),
            ("amount".into(), RestrictedExpression::new_long(q.amount)),
            ("paid".into(), RestrictedExpression::new_bool(q.amount > 5)),
        ],
        q.folders.iter().map(|f| uid("Folder", f)),
        [],
    );
    let entities = Entities::from_entities([principal.unwrap(), resource.unwrap()], Some(schema)).unwrap();
    let arguments = RestrictedExpression::new_record([]).unwrap();
    let context = Context::from_pairs([("route".into(), string("agent")), ("arguments".into(), arguments)]);
    let request = cedar_policy::Request::new(
        uid("Principal", &q.principal),
        uid("Action", q.action),
        uid("Invoice", &q.resource),
        context.unwrap(),
        Some(schema),
    );
    let response = Authorizer::new().is_authorized(&request.unwrap(), policies, &entities);
    let id = |id: &cedar_policy::PolicyId| policies.annotation(id, "id").unwrap().to_owned();
    let mut reasons: Vec<_> = response.diagnostics().reason().map(id).collect();
    let mut errors: Vec<_> = response
        .diagnostics()
        .errors()
        .map(|cedar_policy::AuthorizationError::PolicyEvaluationError(e)| id(e.policy_id()))
        .collect();
    reasons.sort();
    errors.sort();
    (response.decision() == Decision::Allow, reasons, errors)
}

fn random_policy(random: &mut Random, number: u64) -> String {
    let effect = if random.one_in(3) { "forbid" } else { "permit" };
    let (n, m) = (random.below(5), random.below(7));
    let principal = match random.below(6) {
        0 => format!("principal == Principal::\"p{n}\""),
        1 => format!("principal in Group::\"g{n}\""),
        2 => format!("principal is Principal in Group::\"g{n}\""),
        3 => "principal is Principal".into(),
        _ => "principal".to_owned(),
    };
    let action = random.pick(&[
        "action",
        "action == Action::\"read\"",
        "action in Action::\"reading\"",
        "action in [Action::\"list\", Action::\"pay\"]",
        "action == Action::\"reading\"",
    ]);
    let resource = match random.below(6) {
        0 => format!("resource == Invoice::\"i{m}\""),
        1 => format!("resource in Folder::\"f{n}\""),
        2 => format!("resource is Invoice in Folder::\"f{n}\""),
        3 => "resource is Invoice".into(),
        _ => "resource".to_owned(),
    };
    let condition = random.pick(&[
        "",
        "when { principal.tenant == resource.tenant }",
        "unless { resource.paid }",
        "when { principal.level + 1 > resource.amount }",
        "when { principal.scopes.contains(\"x\") && resource.amount > 3 }",
        "when { principal.scopes.containsAny([\"y\", \"z\"]) }",
        "when { action in Action::\"reading\" && resource in Folder::\"f1\" }",
    ]);
    format!("@id(\"p{number:03}\") {effect}({principal}, {action}, {resource}) {condition};\n")
}

#[test]
fn agrees_with_the_authorizer_on_random_policies_and_requests() {
    let mut random = Random(7);
    let schema = Schema::from_str(SCHEMA).unwrap();
    let (mut allowed, mut denied, mut failed) = (0, 0, 0);
    for _ in 0..60 {
        let count = 1 + random.below(30);
        let text: String = (0..count).map(|n| random_policy(&mut random, n)).collect();
        let whole = PolicySet::from_str(&text).unwrap();
        // `action == Action::"reading"` can never hold, which is a warning and no error.
        let engine = engine(&text);
        for _ in 0..100 {
            let q = question(&mut random);
            let verdict = ours(&engine, &q).unwrap();
            let (allow, reasons, errors) = theirs(&whole, &schema, &q);
            let ids = |numbers: &[u32]| -> Vec<String> {
                numbers.iter().map(|&n| engine.policies[n as usize].id.clone()).collect()
            };
            let determining =
                if verdict.forbids.is_empty() { ids(&verdict.permits) } else { ids(&verdict.forbids) };
            let broken: Vec<_> = verdict.errors.iter().map(|e| e.0).collect();
            assert_eq!((determining, ids(&broken)), (reasons, errors.clone()), "{q:?}\n{text}");
            assert_eq!(verdict.allows(), allow && errors.is_empty(), "{q:?}\n{text}");
            allowed += u32::from(verdict.allows());
            denied += u32::from(!verdict.allows());
            failed += u32::from(!errors.is_empty());
        }
    }
    assert!(allowed > 500 && denied > 500 && failed > 100, "{allowed} {denied} {failed}");
}

/// A value for both sides, right or wrong for what the schema says.
#[derive(Clone, Debug)]
enum Any {
    Bool,
    Long,
    Text,
    Color(&'static str),
    Group,
    Boss,
    Strings,
    Longs,
    EmptySet,
    Record(Vec<(&'static str, Any)>),
    Datetime,
    Decimal,
}

fn any(random: &mut Random, depth: u32) -> Any {
    match random.below(if depth == 0 { 14 } else { 11 }) {
        0 => Any::Bool,
        1 | 2 => Any::Long,
        3 => Any::Text,
        4 => Any::Color(random.pick(&["red", "green"])),
        5 => Any::Group,
        6 => Any::Boss,
        7 => Any::Strings,
        8 => Any::Longs,
        9 => Any::EmptySet,
        10 => {
            if random.one_in(2) {
                Any::Datetime
            } else {
                Any::Decimal
            }
        }
        _ => Any::Record(
            ["x", "y"]
                .into_iter()
                .filter_map(|k| random.one_in(2).then(|| (k, any(random, depth + 1))))
                .collect(),
        ),
    }
}

fn put_any(request: &mut Request, engine: &Engine, key: &str, value: &Any) -> Outcome<()> {
    let set = |request: &mut Request, elements: Vec<Value>| {
        request.open(key, true)?;
        elements.into_iter().try_for_each(|e| request.put("", e))?;
        request.close()
    };
    match value {
        Any::Bool => request.put(key, Value::new(true, None)),
        Any::Long => request.put(key, Value::new(1, None)),
        Any::Text => request.put(key, Value::new("t", None)),
        Any::Color(id) => request.put_entity(key, type_number(engine, "Color"), id),
        Any::Group => request.put_entity(key, type_number(engine, "Group"), "g"),
        Any::Boss => request.put_entity(key, type_number(engine, "Principal"), "b"),
        Any::Strings => set(request, vec![Value::new("s", None), Value::new("t", None)]),
        Any::Longs => set(request, vec![Value::new(1, None)]),
        Any::EmptySet => set(request, vec![]),
        Any::Record(fields) => {
            request.open(key, false)?;
            fields.iter().try_for_each(|(k, v)| put_any(request, engine, k, v))?;
            request.close()
        }
        Any::Datetime => request.put_extension(key, Extension::Datetime, "2026-08-04"),
        Any::Decimal => request.put_extension(key, Extension::Decimal, "1.5"),
    }
}

fn expression(value: &Any) -> RestrictedExpression {
    use RestrictedExpression as E;
    match value {
        Any::Bool => E::new_bool(true),
        Any::Long => E::new_long(1),
        Any::Text => E::new_string("t".into()),
        Any::Color(id) => E::new_entity_uid(uid("Color", id)),
        Any::Group => E::new_entity_uid(uid("Group", "g")),
        Any::Boss => E::new_entity_uid(uid("Principal", "b")),
        Any::Strings => E::new_set([E::new_string("s".into()), E::new_string("t".into())]),
        Any::Longs => E::new_set([E::new_long(1)]),
        Any::EmptySet => E::new_set([]),
        Any::Record(fields) => {
            E::new_record(fields.iter().map(|(k, v)| ((*k).to_owned(), expression(v)))).unwrap()
        }
        Any::Datetime => E::new_datetime("2026-08-04"),
        Any::Decimal => E::new_decimal("1.5"),
    }
}

/// Starts from values that fit and spoils some of them.
fn attributes(
    random: &mut Random,
    good: &[(&'static str, Any)],
    spare: &[&'static str],
) -> Vec<(&'static str, Any)> {
    let mut out: Vec<_> = good.to_vec();
    if random.one_in(4) {
        let i = random.below(out.len() as u64) as usize;
        out[i].1 = any(random, 0);
    }
    if random.one_in(6) {
        out.remove(random.below(out.len() as u64) as usize);
    }
    for name in spare {
        if random.one_in(3) {
            out.push((name, any(random, 0)));
        }
    }
    out
}

#[test]
fn agrees_with_the_conformance_checks_on_random_values() {
    let engine = engine("@id(\"p\") permit(principal, action, resource);");
    let schema = Schema::from_str(SCHEMA).unwrap();
    let mut random = Random(11);
    let (mut fit, mut unfit) = (0, 0);
    for _ in 0..20_000 {
        let principal = attributes(
            &mut random,
            &[("tenant", Any::Text), ("level", Any::Long), ("scopes", Any::Strings)],
            &["boss"],
        );
        let resource = attributes(
            &mut random,
            &[("tenant", Any::Text), ("amount", Any::Long), ("paid", Any::Bool)],
            &["color", "seen"],
        );
        let arguments = if random.one_in(3) {
            any(&mut random, 0)
        } else {
            let good: Vec<_> = [
                ("limit", Any::Long),
                ("tags", Any::Strings),
                ("nested", Any::Record(vec![("x", Any::Long)])),
            ]
            .into_iter()
            .filter(|_| random.one_in(2))
            .collect();
            Any::Record(good)
        };
        let context = [("route", Any::Text), ("arguments", arguments)];
        let parent = random.pick(&["Folder", "Group", "Color"]);
        let with_parent = random.one_in(4);

        let answer = (|| {
            let mut request = Request::new(engine.clone());
            request.begin(Target::Principal, type_number(&engine, "Principal"), "p")?;
            principal.iter().try_for_each(|(k, v)| put_any(&mut request, &engine, k, v))?;
            request.begin(Target::Resource, type_number(&engine, "Invoice"), "i")?;
            if with_parent {
                request.ancestor(type_number(&engine, parent), "red")?;
            }
            resource.iter().try_for_each(|(k, v)| put_any(&mut request, &engine, k, v))?;
            request.begin_context()?;
            context.iter().try_for_each(|(k, v)| put_any(&mut request, &engine, k, v))?;
            request.decide(action_number(&engine, "read"))
        })();

        let pairs = |values: &[(&'static str, Any)]| -> Vec<(String, RestrictedExpression)> {
            values.iter().map(|(k, v)| ((*k).to_owned(), expression(v))).collect()
        };
        let parents = with_parent.then(|| uid(parent, "red"));
        let entities = Entities::from_entities(
            [
                Entity::new_with_tags(uid("Principal", "p"), pairs(&principal), [], []).unwrap(),
                Entity::new_with_tags(uid("Invoice", "i"), pairs(&resource), parents, []).unwrap(),
            ],
            Some(&schema),
        );
        let request = cedar_policy::Request::new(
            uid("Principal", "p"),
            uid("Action", "read"),
            uid("Invoice", "i"),
            Context::from_pairs(pairs(&context)).unwrap(),
            Some(&schema),
        );
        let expected = entities.is_ok() && request.is_ok();
        assert_eq!(
            answer.is_ok(),
            expected,
            "{answer:?}\n{principal:?}\n{resource:?}\n{context:?} {parents:?}",
            parents = (with_parent, parent)
        );
        if let Err(failure) = answer {
            assert_eq!(failure.status, Status::Refused, "{}", failure.message);
            unfit += 1;
        } else {
            fit += 1;
        }
    }
    assert!(fit > 1_000 && unfit > 1_000, "{fit} {unfit}");
}

#[test]
fn misfits_are_named_by_path_and_never_by_value() {
    let engine = engine("@id(\"p\") permit(principal, action, resource);");
    let mut q = question(&mut Random(1));
    q.tenant = "secret-tenant";
    let decide = |spoil: &dyn Fn(&mut Request) -> Outcome<()>| {
        let mut request = Request::new(engine.clone());
        request.begin(Target::Principal, type_number(&engine, "Principal"), "p").unwrap();
        spoil(&mut request).unwrap();
        request.begin(Target::Resource, type_number(&engine, "Invoice"), "i").unwrap();
        request.begin_context().unwrap();
        request.put("route", Value::new("r", None)).unwrap();
        request.open("arguments", false).unwrap();
        request.close().unwrap();
        request.decide(action_number(&engine, "read")).unwrap_err().message
    };
    assert_eq!(decide(&|r| r.put("tenant", Value::new(5, None))), "principal.tenant: expected String");
    assert_eq!(decide(&|r| r.put("who", Value::new("s3cret", None))), "principal.who: not in the schema");
    assert_eq!(decide(&|_| Ok(())), "principal: an attribute that the schema requires is missing");
}

#[test]
fn a_missing_part_or_a_foreign_type_is_refused() {
    let engine = engine("@id(\"p\") permit(principal, action, resource);");
    let mut request = Request::new(engine.clone());
    let missing = request.decide(action_number(&engine, "read")).unwrap_err();
    assert_eq!(missing.message, "principal, resource or context is missing");

    request.begin(Target::Principal, type_number(&engine, "Invoice"), "i").unwrap();
    request.begin(Target::Resource, type_number(&engine, "Invoice"), "i").unwrap();
    request.begin_context().unwrap();
    let foreign = request.decide(action_number(&engine, "read")).unwrap_err();
    assert_eq!(foreign.message, "principal: the action does not apply to its type");

    let group = ours(&engine, &Question { action: "reading", ..question(&mut Random(1)) }).unwrap_err();
    assert_eq!(group.message, "principal: the action does not apply to its type");
    assert_eq!(request.begin(Target::Principal, 99, "x").unwrap_err().status, Status::Misuse);
}

#[test]
fn a_spoiled_request_reports_its_first_failure_once() {
    let engine = engine("@id(\"p\") permit(principal, action, resource);");
    let mut request = Request::new(engine.clone());
    let first = request.step(|r| r.put("x", Value::new(true, None))).unwrap_err();
    assert_eq!(first.message, "no part is begun");
    assert!(request.step(Request::begin_context).is_err());
    assert_eq!(request.decide(0).unwrap_err().message, "no part is begun");
    request.step(Request::begin_context).unwrap();
    request.step(|r| r.open("a", false)).unwrap();
    assert_eq!(request.decide(0).unwrap_err().message, "a record or a set is still open");
}

#[test]
fn nesting_and_size_of_a_request_are_bounded() {
    let engine = engine("@id(\"p\") permit(principal, action, resource);");
    let mut request = Request::new(engine.clone());
    request.begin_context().unwrap();
    for _ in 0..64 {
        request.open("a", false).unwrap();
    }
    assert_eq!(request.open("a", false).unwrap_err().status, Status::Limit);
    let mut request = Request::new(engine);
    request.begin_context().unwrap();
    request.open("a", true).unwrap();
    let full = (0..200_000).try_for_each(|_| request.put("", Value::new(1, None)));
    assert_eq!(full.unwrap_err().status, Status::Limit);
}

#[test]
fn tells_what_the_policies_can_say_of_an_action() {
    type Pick = fn(Standing) -> bool;
    let (permitted, forbidden): (Pick, Pick) = (|s| s.permitted, |s| s.forbidden);
    let those = |pick: Pick, policies: &str| {
        let engine = engine(policies);
        let is = |id: &&str| pick(engine.standings[action_number(&engine, id) as usize]);
        ["reading", "read", "list", "pay"].into_iter().filter(is).collect::<Vec<_>>()
    };
    let policy = |effect: &str, action: &str, rest: &str| {
        format!(r#"@id("{effect}-{}") {effect} (principal, {action}, resource{rest};"#, action.len())
    };
    let nobody = r#") when { principal.tenant == "nobody" }"#;
    let group = r#"action in Action::"reading""#;
    let two = r#"action in [Action::"pay", Action::"list"]"#;
    let read = r#"action == Action::"read""#;
    assert_eq!(those(permitted, &policy("permit", read, nobody)), ["read"]);
    assert_eq!(those(permitted, &policy("permit", group, ")")), ["reading", "read", "list"]);
    assert_eq!(those(permitted, &policy("permit", two, ")")), ["list", "pay"]);
    assert_eq!(those(permitted, &policy("permit", "action", nobody)), ["reading", "read", "list", "pay"]);
    let both = policy("permit", read, ")") + &policy("forbid", two, ")");
    assert_eq!(those(permitted, &both), ["read"]);
    assert_eq!(those(forbidden, &both), ["list", "pay"]);
    for conditional in [nobody, r#" == Invoice::"i1")"#] {
        assert!(those(forbidden, &policy("forbid", two, conditional)).is_empty());
    }
    assert!(those(forbidden, &policy("forbid", "action", ")")).is_empty());
    assert!(those(forbidden, &policy("permit", two, ")")).is_empty());
}

#[test]
fn refuses_bad_texts_with_their_place() {
    let ok = "@id(\"ok\") permit(principal, action, resource);\n";
    let cases: &[(&[&str], FindingKind, u32, usize, &str)] = &[
        (&["permit(principal, action, resource);"], FindingKind::Annotation, 0, 0, "policy has no @id"),
        (&[ok, ok], FindingKind::Annotation, 1, 0, "policy's @id is already used"),
        (&["@id(\"\") permit(principal, action, resource);"], FindingKind::Annotation, 0, 0, "policy has no @id"),
        (&[ok, "@id(\"x\") permit(principal, action);"], FindingKind::Syntax, 1, 0, "this policy is missing the `resource` variable in the scope"),
        (&["@id(\"x\") permit(principal == ?principal, action, resource);"], FindingKind::Syntax, 0, 0, "templates are not supported: a policy has a slot"),
        (&[ok, "\n@id(\"x\") permit(principal, action, resource) when { resource.nope == 1 };"], FindingKind::Validation, 1, 0, ""),
        (&["@id(\"x\") permit(principal, action == Action::\"nope\", resource);"], FindingKind::Validation, 0, 0, ""),
        (&["@id(\"x\") permit(principal, action == Action::\"read\", resource) when { principal.tenant == 1 };"], FindingKind::Validation, 0, 0, ""),
    ];
    for (sources, kind, source, _, message) in cases {
        let (engine, findings) = try_load(sources, SCHEMA);
        assert!(engine.is_none());
        let found = findings.iter().find(|f| f.kind != FindingKind::Warning).unwrap();
        assert_eq!((found.kind, found.source), (*kind, *source), "{found:?}");
        assert!(found.message.contains(message), "{found:?}");
        assert!(found.length > 0 || found.kind == FindingKind::Syntax, "{found:?}");
    }
}

#[test]
fn a_validation_error_points_into_its_own_source() {
    let text = "// first line\n@id(\"x\") permit(principal, action, resource) when { resource.nope == 1 };";
    let (_, findings) = try_load(&["@id(\"ok\") permit(principal, action, resource);", text], SCHEMA);
    let found = &findings[0];
    assert_eq!(&text[found.offset..found.offset + found.length], "resource.nope");
    assert_eq!((found.policy.as_str(), found.source), ("x", 1));
}

#[test]
fn refuses_bad_schemas() {
    let policy = &["@id(\"ok\") permit(principal, action, resource);"];
    for schema in ["entity A {", "entity A { x: Nope };", "entity A; entity A;", "action \"a\" in [\"b\"];"] {
        let (engine, findings) = try_load(policy, schema);
        assert!(engine.is_none(), "{schema}");
        assert_eq!(findings[0].kind, FindingKind::Schema, "{findings:?}");
    }
}

#[test]
fn common_types_that_explode_are_refused() {
    let mut schema = String::from("type T0 = Long;\n");
    for i in 1..40 {
        schema += &format!("type T{i} = {{ a: T{p}, b: T{p} }};\n", p = i - 1);
    }
    schema += "entity A { x: T39 }; action \"a\" appliesTo { principal: [A], resource: [A], context: {} };";
    let (engine, findings) = try_load(&["@id(\"ok\") permit(principal, action, resource);"], &schema);
    assert!(engine.is_none(), "{findings:?}");
}

#[test]
fn condition_chains_at_the_limits_load_and_evaluate_on_an_ordinary_stack() {
    let at = |condition: String| {
        format!("@id(\"deep\") forbid(principal, action, resource) when {{ {condition} }};")
    };
    // Each stays just below 256 operators.
    let texts = [
        at(format!("{}true{}", "(".repeat(60), ")".repeat(60))),
        at(format!("true{}", " && true".repeat(250))),
        at(format!("{}true", "if true then true else ".repeat(250))),
        at(format!("1{} == 5", "+1".repeat(250))),
        at(format!("{o}1{c} == {o}1{c}", o = "[".repeat(60), c = "]".repeat(60))),
    ];
    let limits = Limits { max_policy_bytes: 1 << 16, ..Limits::default() };
    for text in texts {
        let mut report = Report::default();
        let loaded = on_loading_stack(|| Ok(load(&[&text], SCHEMA, &limits, &mut report))).unwrap();
        let engine = loaded.unwrap_or_else(|| panic!("{:?}", report.findings()));
        let engine = Arc::new(engine);
        let decide = move || ours(&engine, &question(&mut Random(3))).map(|v| v.errors);
        // 2 MiB is the smallest stack that threads of ours have.
        let small = std::thread::Builder::new().stack_size(2 << 20).spawn(decide).unwrap();
        assert_eq!(small.join().unwrap().unwrap(), vec![], "{text}");
    }
}

#[test]
fn ten_thousand_policies_over_a_thousand_actions_load() {
    let mut schema = String::from("entity P { t: String }; entity R { t: String };\n");
    let mut policies = String::new();
    for a in 0..1_000 {
        schema += &format!("action \"a{a}\" appliesTo {{ principal: [P], resource: [R], context: {{}} }};\n");
        for n in 0..10 {
            policies += &format!(
                "@id(\"p{a}-{n}\") permit(principal, action == Action::\"a{a}\", resource) when {{ principal.t == resource.t }};\n"
            );
        }
    }
    let (engine, findings) = try_load(&[&policies], &schema);
    let engine = engine.unwrap_or_else(|| panic!("{findings:?}"));
    assert_eq!(engine.policies.len(), 10_000);
    assert!(engine.policies.windows(2).all(|w| w[0].id < w[1].id));
}

#[test]
fn validation_that_would_take_minutes_is_refused() {
    let mut schema = String::from("entity P; entity R;\n");
    for a in 0..1_000 {
        schema += &format!("action \"a{a}\" appliesTo {{ principal: [P], resource: [R], context: {{}} }};\n");
    }
    let policies: String =
        (0..10_001).map(|n| format!("@id(\"p{n}\") permit(principal, action, resource);\n")).collect();
    let (engine, findings) = try_load(&[&policies], &schema);
    assert!(engine.is_none());
    assert_eq!(findings[0].kind, FindingKind::Limit, "{findings:?}");
}
