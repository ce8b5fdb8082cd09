//! Cedar's own integration tests and a part of its generated corpus, answered as they state: which sets validate,
//! and for each request the decision, the determining policies and those that fail.
//!
//! Each request is put twice. `with_entities` gives the engine the suite's whole entity store, and evaluates the
//! policies that the index finds as well as all of them. `typed` fills a request as the C++ side does, which knows
//! principal and resource only; where it answers otherwise there must be a further entity that explains it.
//! What is said otherwise is counted by class, and the counts stand in tests/suites/cedar.json.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;
use std::sync::Arc;

use cedar_policy::{Context, Entities, EntityId, EntityTypeName, EntityUid, PolicySet, Schema};
use cedar_policy_core::ast::{self, Eid, EntityUID, EntityUIDEntry, PartialValue};
use cedar_policy_core::entities::Dereference;
use serde_json::Value;

use super::engine::{Engine, Verdict};
use super::load::{build, list_actions, load, parse_policies, parse_schema};
use super::report::{Finding, FindingKind, Report};
use super::request::{Request, Target};
use super::text::Limits;
use crate::abi::{on_loading_stack, Outcome};

/// The bounds of the product, but for the length of a policy: a few of the generated ones are longer.
fn wide() -> Limits {
    Limits { max_policy_bytes: 1 << 16, max_operators: 4_096, max_nesting: 256, ..Limits::default() }
}

/// What a request is answered with, in the words of the suite.
#[derive(Debug, PartialEq, Eq)]
struct Answer {
    allows: bool,
    reason: BTreeSet<String>,
    errors: BTreeSet<String>,
}

impl Answer {
    fn stated(request: &Value) -> Self {
        let set = |name: &str| {
            let names = request[name].as_array().into_iter().flatten().filter_map(Value::as_str);
            names.map(str::to_owned).collect()
        };
        Answer { allows: request["decision"] == "allow", reason: set("reason"), errors: set("errors") }
    }

    /// Cedar's reading of what the policies said. It skips those that fail; `Verdict::allows` does not.
    fn of(engine: &Engine, verdict: &Verdict) -> Self {
        let ids = |numbers: &mut dyn Iterator<Item = u32>| -> BTreeSet<String> {
            numbers.map(|number| engine.policies[number as usize].id.clone()).collect()
        };
        let determining = if verdict.forbids.is_empty() { &verdict.permits } else { &verdict.forbids };
        Answer {
            allows: !verdict.permits.is_empty() && verdict.forbids.is_empty(),
            reason: ids(&mut determining.iter().copied()),
            errors: ids(&mut verdict.errors.iter().map(|(number, _)| *number)),
        }
    }
}

/// What was judged, what is answered otherwise for a reason that is listed, and what is wrong.
#[derive(Default)]
struct Judge {
    counts: BTreeMap<&'static str, u64>,
    exceptions: BTreeMap<&'static str, u64>,
    faults: Vec<String>,
}

impl Judge {
    fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    fn except(&mut self, class: &'static str) {
        *self.exceptions.entry(class).or_default() += 1;
    }

    fn expect(&mut self, right: bool, fault: impl FnOnce() -> String) {
        if !right && self.faults.len() < 20 {
            self.faults.push(fault());
        }
    }
}

/// Gives each policy the name by which the suite knows it: its number in the text.
fn with_ids(text: &str) -> String {
    let parsed = PolicySet::from_str(text).unwrap();
    let mut places: Vec<(usize, String)> = parsed
        .policies()
        .map(|policy| {
            let ast_policy: &ast::Policy = policy.as_ref();
            (ast_policy.loc().unwrap().start(), policy.id().to_string())
        })
        .collect();
    places.sort();
    let mut out = text.to_owned();
    for (offset, id) in places.iter().rev() {
        out.insert_str(*offset, &format!("@id(\"{id}\") "));
    }
    out
}

/// A set, loaded as the product loads it, or built all the same where validation refuses it.
struct Loaded {
    engine: Engine,
    validates: bool,
    within_limits: bool,
    /// Whether validation warns of a policy whose scope no request can meet.
    never_applies: bool,
}

/// The suite's Cedar refused such a policy; the one that we have warns.
const NEVER_APPLIES: &str = "unable to find an applicable action given the policy scope constraints";

fn never_applies(report: &Report) -> bool {
    let is_it = |f: &Finding| f.kind == FindingKind::Warning && f.message.contains(NEVER_APPLIES);
    report.findings().iter().any(is_it)
}

fn loaded(policies: &str, schema: &str) -> Result<Loaded, String> {
    let mut report = Report::default();
    let valid = |engine, report: &Report, within_limits| Loaded {
        engine,
        validates: true,
        within_limits,
        never_applies: never_applies(report),
    };
    if let Some(engine) = load(&[policies], schema, &Limits::default(), &mut report) {
        return Ok(valid(engine, &report, true));
    }
    let within_limits = !report.findings().iter().any(|f| f.kind == FindingKind::Limit);
    if !within_limits {
        report = Report::default();
        if let Some(engine) = load(&[policies], schema, &wide(), &mut report) {
            return Ok(valid(engine, &report, false));
        }
    }
    let is_other = |f: &&Finding| !matches!(f.kind, FindingKind::Warning | FindingKind::Validation);
    if let Some(other) = report.findings().iter().find(is_other) {
        return Err(format!("{other:?}"));
    }
    let mut report = Report::default();
    let parsed = parse_schema(schema, &wide(), &mut report);
    let named = parse_policies(&[policies], &wide(), &mut report);
    let built = parsed.and_then(|parsed| {
        let validator_schema = parsed.schema.as_ref();
        build(validator_schema, list_actions(validator_schema), named, &mut report)
    });
    let engine = built.ok_or_else(|| format!("{:?}", report.findings()))?;
    Ok(Loaded { engine, validates: false, within_limits, never_applies: false })
}

/// Names a principal, a resource or an action of a request.
fn uid(entity: &Value) -> EntityUid {
    let name = EntityTypeName::from_str(entity["type"].as_str().unwrap()).unwrap();
    EntityUid::from_type_name_and_id(name, EntityId::new(entity["id"].as_str().unwrap()))
}

fn type_number(engine: &Engine, entity: &Value) -> Option<u32> {
    engine.entities.iter().position(|e| entity["type"] == e.name.as_str()).map(|number| number as u32)
}

fn core_uid(engine: &Engine, entity: &Value) -> Option<EntityUID> {
    let declared = &engine.entities[type_number(engine, entity)? as usize];
    let id = Eid::new(entity["id"].as_str()?);
    Some(EntityUID::from_components(declared.entity_type.clone(), id, None))
}

fn action_number(engine: &Engine, action: &Value) -> Option<u32> {
    let named = |entry: &super::engine::ActionEntry| {
        let id: &str = entry.uid.eid().as_ref();
        action["id"] == id && action["type"] == entry.uid.entity_type().to_string().as_str()
    };
    engine.actions.iter().position(named).map(|number| number as u32)
}

/// One request with the store of its set.
struct Question<'a> {
    engine: &'a Arc<Engine>,
    store: &'a cedar_policy_core::entities::Entities,
    request: &'a Value,
    context: Arc<ast::Context>,
    action: u32,
    principal: EntityUID,
    resource: EntityUID,
}

impl Question<'_> {
    fn entity(&self, uid: &EntityUID) -> Option<&ast::Entity> {
        match self.store.entity(uid) {
            Dereference::Data(entity) => Some(entity),
            Dereference::NoSuchEntity | Dereference::Residual(_) => None,
        }
    }

    /// With the whole store: by the policies that the index finds, and by all of them.
    fn with_entities(&self) -> (Verdict, Verdict) {
        let request = || {
            let action = self.engine.actions[self.action as usize].uid.clone();
            ast::Request::new_unchecked(
                EntityUIDEntry::known(self.principal.clone(), None),
                EntityUIDEntry::known(action, None),
                EntityUIDEntry::known(self.resource.clone(), None),
                Some(ast::Context::clone(&self.context)),
            )
        };
        let and_above = |uid: &EntityUID| {
            let above = self.entity(uid).into_iter().flat_map(ast::Entity::ancestors).cloned();
            std::iter::once(uid.clone()).chain(above).collect::<Vec<_>>()
        };
        let (principals, resources) = (and_above(&self.principal), and_above(&self.resource));
        let index = &self.engine.index;
        let sliced = index.candidates(self.action, principals.iter(), resources.iter());
        let all: Vec<u32> = (0..self.engine.policies.len() as u32).collect();
        let answer = |candidates: &[u32]| self.engine.evaluate(candidates, request(), self.store);
        (answer(&sliced), answer(&all))
    }

    fn put_entity(&self, request: &mut Request, target: Target, uid: &EntityUID) -> Outcome<()> {
        let name = uid.entity_type().to_string();
        let number = |name: &str| self.engine.entities.iter().position(|e| e.name == name).unwrap() as u32;
        request.begin(target, number(&name), uid.eid().as_ref())?;
        let Some(entity) = self.entity(uid) else { return Ok(()) };
        for above in entity.ancestors() {
            request.ancestor(number(&above.entity_type().to_string()), above.eid().as_ref())?;
        }
        for (key, value) in entity.attrs() {
            let PartialValue::Value(value) = value else { unreachable!("nothing is unknown here") };
            request.put(key, value.clone())?;
        }
        Ok(())
    }

    /// As the product asks: principal and resource as they are, and no other entity.
    fn typed(&self) -> Outcome<Verdict> {
        let mut request = Request::new(self.engine.clone());
        self.put_entity(&mut request, Target::Principal, &self.principal)?;
        self.put_entity(&mut request, Target::Resource, &self.resource)?;
        request.begin_context()?;
        let ast::Context::Value(values) = &*self.context else { unreachable!("nothing is unknown here") };
        for (key, value) in values.iter() {
            request.put(key, value.clone())?;
        }
        request.decide(self.action)?;
        Ok(std::mem::take(&mut request.verdict))
    }

    /// What of the store the typed path does not take, as the class of an exception.
    fn beyond_typed(&self) -> Option<&'static str> {
        let ends = [&self.principal, &self.resource];
        let known: Vec<_> = ends.iter().filter_map(|uid| self.entity(uid)).collect();
        if self.entity(&self.principal).is_none() {
            return Some("typed: the principal is no entity");
        }
        if self.entity(&self.resource).is_none() {
            return Some("typed: the resource is no entity");
        }
        if known.iter().any(|entity| entity.tags_len() > 0) {
            return Some("typed: principal or resource has tags");
        }
        let others = || self.store.iter().filter(|entity| !ends.contains(&entity.uid()));
        if others().any(|entity| entity.attrs_len() + entity.tags_len() > 0) {
            return Some("typed: another entity has attributes or tags");
        }
        others()
            .any(|entity| entity.ancestors().next().is_some())
            .then_some("typed: another entity has parents")
    }

    fn judge(&self, judge: &mut Judge, place: &str) {
        let stated = Answer::stated(self.request);
        let (sliced, whole) = self.with_entities();
        for (form, verdict) in [("sliced", &sliced), ("whole", &whole)] {
            let ours = Answer::of(self.engine, verdict);
            judge.expect(ours == stated, || format!("{place} {form}: {ours:?} for {stated:?}"));
            let denied_for_error = ours.allows && !ours.errors.is_empty();
            judge.expect(verdict.allows() == (ours.allows && ours.errors.is_empty()), || {
                format!("{place} {form}: an allow that does not count as one, or the other way round")
            });
            if denied_for_error && form == "whole" {
                judge.except("requests that Cedar allows beside an error, and we deny");
            }
        }
        judge.count("requests");
        judge.count(if stated.allows { "requests to allow" } else { "requests to deny" });
        if !stated.errors.is_empty() {
            judge.count("requests with errors");
        }
        let typed = self.typed();
        if typed.as_ref().is_ok_and(|verdict| Answer::of(self.engine, verdict) == stated) {
            judge.count("typed: requests");
            return;
        }
        match self.beyond_typed() {
            Some(class) => judge.except(class),
            None => judge.expect(false, || format!("{place} typed: {typed:?} for {stated:?}")),
        }
    }
}

/// Judges one set: whether it validates, and all of its requests.
fn judge_set(judge: &mut Judge, set: &Value, name: &str, read: &dyn Fn(&str) -> String) {
    let text = |key: &str| read(set[key].as_str().unwrap());
    let schema_text = text("schema");
    let set_loaded = match loaded(&with_ids(&text("policies")), &schema_text) {
        Ok(set_loaded) => set_loaded,
        Err(why) => return judge.expect(false, || format!("{name}: {why}")),
    };
    judge.count("sets");
    if set_loaded.validates {
        judge.count("sets that validate");
    }
    if !set_loaded.within_limits {
        judge.except("sets with a policy beyond our limits");
    }
    if set["shouldValidate"] == false && set_loaded.never_applies {
        judge.except("sets with a policy that never applies, of which we warn");
    } else {
        judge.expect(set["shouldValidate"] == set_loaded.validates, || {
            format!("{name}: validates: {}", set_loaded.validates)
        });
    }
    let schema = Schema::from_cedarschema_str(&schema_text).unwrap().0;
    let entities = Entities::from_json_str(&text("entities"), Some(&schema)).unwrap();
    let engine = Arc::new(set_loaded.engine);
    for (number, request) in set["requests"].as_array().unwrap().iter().enumerate() {
        let place = format!("{name} request {number}");
        let named = action_number(&engine, &request["action"])
            .zip(core_uid(&engine, &request["principal"]).zip(core_uid(&engine, &request["resource"])));
        let Some((action, (principal, resource))) = named else {
            judge.expect(false, || format!("{place}: names what the schema lacks"));
            continue;
        };
        let action_uid = uid(&request["action"]);
        let context = Context::from_json_value(request["context"].clone(), Some((&schema, &action_uid)));
        let context: ast::Context = AsRef::<ast::Context>::as_ref(&context.unwrap()).clone();
        let store = entities.as_ref();
        Question { engine: &engine, store, request, context: Arc::new(context), action, principal, resource }
            .judge(judge, &place);
    }
}

/// The folder of published data; none (and a line that says so) where there is none.
fn shared_data() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    let root = std::env::var_os("REMIT_SHARED_DATA").map_or_else(beside, PathBuf::from);
    if root.is_dir() {
        return Some(root);
    }
    say("not run, no shared data");
    None
}

/// Prints past the test runner, which keeps what `println` prints to itself.
fn say(line: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}

/// What tests/suites/cedar.json states for a suite: counts and exceptions, each class of these with its reason.
fn stated(suite: &str) -> (BTreeMap<String, u64>, BTreeMap<String, u64>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/suites/cedar.json");
    let data: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let counts = |value: &Value| serde_json::from_value::<BTreeMap<String, u64>>(value.clone()).unwrap();
    let exceptions = counts(&data[suite]["exceptions"]);
    for class in exceptions.keys() {
        assert!(data["why"][class].is_string(), "no reason for: {class}");
    }
    (counts(&data[suite]["judged"]), exceptions)
}

/// Judges the sets that `files` describe, relative to `root`, and holds the counts to those stated.
fn judge_all(suite: &str, root: &Path, mut files: Vec<PathBuf>) {
    files.sort();
    let mut judge = Judge::default();
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap_or_else(|e| panic!("{path}: {e}"));
    let run = || {
        for file in &files {
            let set: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
            let name = file.file_stem().unwrap().to_string_lossy();
            judge_set(&mut judge, &set, &name, &read);
        }
        Ok(())
    };
    on_loading_stack(run).unwrap();
    for (what, count) in &judge.counts {
        say(&format!("cedar {suite}: judged {count} {what}"));
    }
    for (class, count) in &judge.exceptions {
        say(&format!("cedar {suite}: {count} exceptions: {class}"));
    }
    assert_eq!(judge.faults, Vec::<String>::new());
    let owned = |counts: BTreeMap<&str, u64>| counts.into_iter().map(|(k, v)| (k.to_owned(), v)).collect();
    assert_eq!((owned(judge.counts), owned(judge.exceptions)), stated(suite));
}

fn json_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.to_string_lossy().ends_with(".json")).collect()
}

#[test]
fn hand_written_tests_of_cedar() {
    let Some(data) = shared_data() else { return };
    let root = data.join("cedar-integration-tests");
    let groups = ["decimal", "example_use_cases", "ip", "multi"];
    let files = groups.iter().flat_map(|group| json_files(&root.join("tests").join(group))).collect();
    judge_all("hand written", &root, files);
}

/// A folder that goes when it is dropped.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn generated_corpus_of_cedar() {
    let Some(data) = shared_data() else { return };
    let archive = data.join("cedar-integration-tests/corpus-quarter.tar.gz");
    assert!(archive.is_file(), "{} is missing", archive.display());
    let folder = std::env::temp_dir().join(format!("remit-cedar-corpus-{}", std::process::id()));
    fs::create_dir(&folder).unwrap();
    let scratch = Scratch(folder);
    let unpacked = Command::new("tar").arg("-xzf").arg(&archive).arg("-C").arg(&scratch.0).status();
    assert!(unpacked.unwrap().success());
    let all = json_files(&scratch.0.join("corpus-tests"));
    let sets = all.into_iter().filter(|path| !path.to_string_lossy().ends_with(".entities.json"));
    judge_all("corpus", &scratch.0, sets.collect());
}

#[test]
fn the_judge_tells_what_is_wrong() {
    let files = BTreeMap::from([
        ("p", "permit(principal, action, resource) when { principal.level > 3 };\n// and\nforbid(principal, action, resource) when { principal.level + 9223372036854775807 > 0 };"),
        ("s", "entity U { level: Long }; action \"a\" appliesTo { principal: U, resource: U, context: {} };"),
        ("e", r#"[{"uid": {"type": "U", "id": "u"}, "attrs": {"level": 4}, "parents": []}]"#),
    ]);
    let read = |path: &str| files[path].to_owned();
    let faults = |validates: bool, decision: &str, reason: &[&str], errors: &[&str]| {
        let u = serde_json::json!({"type": "U", "id": "u"});
        let set = serde_json::json!({"policies": "p", "schema": "s", "entities": "e",
            "shouldValidate": validates, "requests": [{"principal": u, "resource": u, "context": {},
            "action": {"type": "Action", "id": "a"}, "decision": decision, "reason": reason, "errors": errors}]});
        let mut judge = Judge::default();
        judge_set(&mut judge, &set, "set", &read);
        (
            judge.faults.len(),
            judge.exceptions.contains_key("requests that Cedar allows beside an error, and we deny"),
        )
    };
    // Cedar allows although the forbid fails; we deny, and the judge counts it.
    assert_eq!(faults(true, "allow", &["policy0"], &["policy1"]), (0, true));
    assert_eq!(faults(false, "allow", &["policy0"], &["policy1"]).0, 1);
    // Sliced, whole and typed.
    assert_eq!(faults(true, "deny", &["policy0"], &["policy1"]).0, 3);
    assert_eq!(faults(true, "allow", &[], &["policy1"]).0, 3);
    assert_eq!(faults(true, "allow", &["policy0"], &[]).0, 3);
}
