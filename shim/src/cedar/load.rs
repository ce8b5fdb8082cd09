//! From texts to an engine, or to a report of what is wrong with them: parse, name, validate, index.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::str::FromStr;

use cedar_policy::{
    Effect, Policy, PolicyId, PolicySet, Schema, SchemaFragment, ValidationMode, ValidationResult, Validator,
};
use cedar_policy_core::ast::{self, EntityType};
use cedar_policy_core::entities::{Dereference, Entities, TCComputation};
use cedar_policy_core::extensions::Extensions;
use cedar_policy_core::validator::{CoreSchema, ValidatorSchema};
use serde_json::{json, Map, Value};

use super::engine::{ActionEntry, Engine, EntityEntry, PolicyEntry};
use super::expansion::expanded_parts;
use super::index::{Actions, Index};
use super::report::{Finding, FindingKind, Report, SCHEMA_SOURCE};
use super::shape::{enumerated, Compiler};
use super::text::{check_policies, check_schema, Limits};

const MAX_ID_BYTES: usize = 128;
/// Pairs of a policy and a request type that validation may look at, some microseconds each.
const MAX_TYPE_CHECKS: u64 = 10_000_000;
/// Parts of schemas that validation may build to check policies against their own actions only.
const MAX_CUT_PARTS: u64 = 50_000_000;

/// A policy with its name and its place.
pub(super) struct Named {
    policy: Policy,
    source: u32,
    offset: usize,
    length: usize,
}

pub(super) struct ParsedSchema {
    pub(super) schema: Schema,
    /// The same declarations as JSON, for cutting an action's own part out.
    json: Value,
    /// Parts of its types, common types expanded and contexts of actions apart.
    parts: u64,
}

/// Builds an engine; the report holds at least one finding above a warning if and only if there is none.
pub fn load(sources: &[&str], schema: &str, limits: &Limits, report: &mut Report) -> Option<Engine> {
    let engine = parse_and_build(sources, schema, limits, report);
    report.sort();
    if report.failed() {
        return None;
    }
    engine
}

fn parse_and_build(sources: &[&str], schema: &str, limits: &Limits, report: &mut Report) -> Option<Engine> {
    let schema = parse_schema(schema, limits, report);
    let policies = parse_policies(sources, limits, report);
    if report.failed() {
        return None;
    }
    let (schema, policies) = (schema?, policies);
    let validator_schema: &ValidatorSchema = schema.schema.as_ref();
    let actions = list_actions(validator_schema);
    let request_types: usize = validator_schema
        .action_ids()
        .map(|a| a.applies_to_principals().count().saturating_mul(a.applies_to_resources().count()))
        .fold(0, usize::saturating_add);
    if request_types > limits.max_request_types as usize {
        let message = format!("schema has more than {} request types", limits.max_request_types);
        report.add(Finding::new(FindingKind::Limit, message));
        return None;
    }
    validate(&schema, &actions, &policies, request_types as u64, report);
    if report.failed() {
        return None;
    }
    build(validator_schema, actions, policies, report)
}

pub(super) fn parse_schema(text: &str, limits: &Limits, report: &mut Report) -> Option<ParsedSchema> {
    if let Err(finding) = check_schema(text, limits) {
        report.add(finding);
        return None;
    }
    let refuse = |report: &mut Report, error: &dyn miette::Diagnostic| {
        report.add(Finding::from_diagnostic(FindingKind::Schema, SCHEMA_SOURCE, error));
        None
    };
    let fragment = match SchemaFragment::from_cedarschema_str(text) {
        Ok((fragment, warnings)) => {
            for w in warnings {
                report.add(Finding::from_diagnostic(FindingKind::Warning, SCHEMA_SOURCE, &w));
            }
            fragment
        }
        Err(error) => return refuse(report, &error),
    };
    let json = match fragment.clone().to_json_value() {
        Ok(json) => json,
        Err(error) => return refuse(report, &error),
    };
    let parts = match expanded_parts(&json) {
        Ok(parts) => parts,
        Err(message) => {
            report.add(Finding::new(FindingKind::Limit, message));
            return None;
        }
    };
    let schema: Schema = match fragment.try_into() {
        Ok(schema) => schema,
        Err(error) => return refuse(report, &error),
    };
    if !schema.is_complete() {
        report.add(Finding::new(FindingKind::Schema, "schema declares external types or actions"));
        return None;
    }
    Some(ParsedSchema { schema, json, parts })
}

/// Parses every source, names its policies by `@id` and puts them in order of id.
pub(super) fn parse_policies(sources: &[&str], limits: &Limits, report: &mut Report) -> Vec<Named> {
    let mut policies: BTreeMap<String, Named> = BTreeMap::new();
    let mut counted = 0;
    for (source, text) in (0u32..).zip(sources) {
        if let Err(finding) = check_policies(source, text, limits, &mut counted) {
            report.add(finding);
            continue;
        }
        let parsed = match PolicySet::from_str(text) {
            Ok(parsed) => parsed,
            Err(errors) => {
                for error in errors.iter() {
                    report.add(Finding::from_diagnostic(FindingKind::Syntax, source, error));
                }
                continue;
            }
        };
        for template in parsed.templates() {
            let template: &ast::Template = template.as_ref();
            let (offset, length) = place(template.loc());
            let message = "templates are not supported: a policy has a slot";
            report.add(Finding::new(FindingKind::Syntax, message).at(source, offset, length));
        }
        for policy in parsed.policies() {
            name_policy(policy, source, &mut policies, report);
        }
    }
    policies.into_values().collect()
}

fn place(loc: Option<&cedar_policy_core::parser::Loc>) -> (usize, usize) {
    loc.map_or((0, 0), |loc| (loc.start(), loc.end() - loc.start()))
}

fn id_problem(id: Option<&str>) -> Option<String> {
    match id {
        None | Some("") => Some("policy has no @id".into()),
        Some(id) if id.len() > MAX_ID_BYTES => {
            Some(format!("policy's @id is longer than {MAX_ID_BYTES} bytes"))
        }
        Some(id) if id.chars().any(char::is_control) => Some("policy's @id has a control character".into()),
        Some(_) => None,
    }
}

fn name_policy(policy: &Policy, source: u32, policies: &mut BTreeMap<String, Named>, report: &mut Report) {
    let ast_policy: &ast::Policy = policy.as_ref();
    let (offset, length) = place(ast_policy.loc());
    let id = policy.annotation("id");
    if let Some(message) = id_problem(id) {
        report.add(Finding::new(FindingKind::Annotation, message).at(source, offset, length));
        return;
    }
    let id = id.unwrap_or_default().to_owned();
    if policies.contains_key(&id) {
        let finding = Finding::new(FindingKind::Annotation, "policy's @id is already used").about(&id);
        report.add(finding.at(source, offset, length));
        return;
    }
    let policy = policy.new_id(PolicyId::new(&id));
    policies.insert(id, Named { policy, source, offset, length });
}

fn found<'a>(entities: &'a Entities, uid: &ast::EntityUID) -> Option<&'a ast::Entity> {
    match entities.entity(uid) {
        Dereference::Data(entity) => Some(entity),
        Dereference::NoSuchEntity | Dereference::Residual(_) => None,
    }
}

/// The schema's actions with their numbers: ascending by name, so that the same text gives the same numbers.
pub(super) fn list_actions(schema: &ValidatorSchema) -> (Vec<ast::EntityUID>, Actions) {
    let mut uids: Vec<_> = schema.actions().cloned().collect();
    uids.sort();
    let entities = schema.action_entities().unwrap_or_default();
    let ancestors = |uid: &ast::EntityUID| -> Vec<ast::EntityUID> {
        found(&entities, uid).map(|e| e.ancestors().cloned().collect()).unwrap_or_default()
    };
    let all: Vec<_> = uids.iter().map(|uid| (uid, ancestors(uid))).collect();
    let actions = Actions::build(all.iter().map(|(uid, above)| (*uid, above.iter())));
    (uids, actions)
}

/// Strict validation of every policy.
///
/// Cedar checks each policy against each request type. A policy whose scope admits few actions is trivially well
/// typed for all others, so it is checked against the part of the schema with those actions only; what does not
/// pass there (it may name another action in its condition) is checked against the whole.
fn validate(
    schema: &ParsedSchema,
    actions: &(Vec<ast::EntityUID>, Actions),
    policies: &[Named],
    request_types: u64,
    report: &mut Report,
) {
    let by_id: HashMap<&str, &Named> =
        policies.iter().map(|n| (AsRef::<str>::as_ref(n.policy.id()), n)).collect();
    let mut groups: BTreeMap<Vec<u32>, Vec<&Named>> = BTreeMap::new();
    let mut rest: Vec<&Named> = Vec::new();
    for named in policies {
        let ast_policy: &ast::Policy = named.policy.as_ref();
        match actions.1.in_scope(ast_policy.action_constraint()) {
            Some(admitted) if !admitted.is_empty() && admitted.len() * 4 <= actions.0.len() => {
                groups.entry(admitted).or_default().push(named);
            }
            _ => rest.push(named),
        }
    }
    let affordable = schema.parts.saturating_mul(groups.len() as u64) <= MAX_CUT_PARTS;
    for (admitted, group) in groups {
        if !affordable {
            rest.extend(group);
            continue;
        }
        let uids = admitted.iter().map(|&number| &actions.0[number as usize]);
        let part = sub_schema(&schema.json, uids);
        match part.map(|part| strictly(part, &group)) {
            Some(result) if result.validation_passed() => warn(&result, &by_id, report),
            _ => rest.extend(group),
        }
    }
    if request_types.saturating_mul(rest.len() as u64) > MAX_TYPE_CHECKS {
        let message = format!(
            "{} policies for more than a few actions, on {request_types} request types: validation would take \
             too long",
            rest.len()
        );
        report.add(Finding::new(FindingKind::Limit, message));
        return;
    }
    let result = strictly(schema.schema.clone(), &rest);
    for error in result.validation_errors() {
        report.add(validation_finding(FindingKind::Validation, error, error.policy_id(), &by_id));
    }
    warn(&result, &by_id, report);
}

fn strictly(schema: Schema, policies: &[&Named]) -> ValidationResult {
    // Ids are unique here, so no addition can fail; a policy left out would only fail to be validated as a
    // duplicate of itself.
    let set = PolicySet::from_policies(policies.iter().map(|n| n.policy.clone())).unwrap_or_default();
    Validator::new(schema).validate(&set, ValidationMode::Strict)
}

fn warn(result: &ValidationResult, by_id: &HashMap<&str, &Named>, report: &mut Report) {
    for warning in result.validation_warnings() {
        report.add(validation_finding(FindingKind::Warning, warning, warning.policy_id(), by_id));
    }
}

fn validation_finding(
    kind: FindingKind,
    error: &dyn miette::Diagnostic,
    id: &PolicyId,
    by_id: &HashMap<&str, &Named>,
) -> Finding {
    let id: &str = id.as_ref();
    let Some(named) = by_id.get(id) else {
        return Finding::new(kind, error.to_string()).about(id);
    };
    let finding = Finding::from_diagnostic(kind, named.source, error).about(id);
    if finding.length > 0 {
        return finding;
    }
    finding.at(named.source, named.offset, named.length)
}

/// The schema with only these actions and the groups above them; none if it cannot be cut out (a group of another
/// namespace, say), which costs time and not correctness.
fn sub_schema<'a>(whole: &Value, uids: impl Iterator<Item = &'a ast::EntityUID>) -> Option<Schema> {
    let mut wanted: HashMap<String, Vec<String>> = HashMap::new();
    for uid in uids {
        let name: &ast::InternalName = uid.entity_type().name().as_ref();
        let namespace = name.namespace();
        let id: &str = uid.eid().as_ref();
        wanted.entry(namespace).or_default().push(id.to_owned());
    }
    let mut out = Map::new();
    for (namespace, declarations) in whole.as_object()? {
        let declarations = declarations.as_object()?;
        let mut kept: Map<String, Value> = declarations
            .iter()
            .filter(|(k, _)| *k != "actions")
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect();
        let mut actions = Map::new();
        let mut pending = wanted.remove(namespace.as_str()).unwrap_or_default();
        while let Some(id) = pending.pop() {
            let action = declarations.get("actions")?.get(&id)?;
            for group in action.get("memberOf").and_then(Value::as_array).into_iter().flatten() {
                pending.push(group.get("id")?.as_str()?.to_owned());
            }
            actions.insert(id, action.clone());
        }
        kept.insert("actions".into(), Value::Object(actions));
        out.insert(namespace.clone(), Value::Object(kept));
    }
    if !wanted.is_empty() {
        return None;
    }
    Schema::from_json_value(Value::Object(out)).ok()
}

pub(super) fn build(
    schema: &ValidatorSchema,
    actions: (Vec<ast::EntityUID>, Actions),
    policies: Vec<Named>,
    report: &mut Report,
) -> Option<Engine> {
    let entries = action_entries(schema, &actions.0).and_then(|a| Ok((a, entity_entries(schema)?)));
    let (action_entries, entity_entries) = match entries {
        Ok(entries) => entries,
        Err(message) => {
            report.add(Finding::new(FindingKind::Schema, message));
            return None;
        }
    };
    let index = Index::build(policies.iter().map(|n| n.policy.as_ref()), &actions.1);
    let standings = actions.1.standings(policies.iter().map(|n| n.policy.as_ref()));
    let policies = policies.into_iter().map(policy_entry).collect();
    let description = describe(&action_entries, &entity_entries).to_string();
    Some(Engine {
        policies,
        actions: action_entries,
        entities: entity_entries,
        index,
        standings,
        description,
    })
}

fn policy_entry(named: Named) -> PolicyEntry {
    let ast_policy: &ast::Policy = named.policy.as_ref();
    PolicyEntry {
        id: AsRef::<str>::as_ref(named.policy.id()).to_owned(),
        reason: named.policy.annotation("reason").map(str::to_owned),
        forbids: named.policy.effect() == Effect::Forbid,
        source: named.source,
        offset: named.offset,
        condition: ast_policy.condition(),
        slots: ast_policy.env().clone(),
    }
}

fn action_entries(schema: &ValidatorSchema, uids: &[ast::EntityUID]) -> Result<Vec<ActionEntry>, String> {
    let compiler = Compiler::new(schema);
    let entities = schema.action_entities().map_err(|e| e.to_string())?;
    let entry = |uid: &ast::EntityUID| {
        let action = schema.get_action_id(uid).ok_or("an action is not declared")?;
        let context = action.context_type().ok_or("an action is external")?;
        let own = found(&entities, uid).into_iter();
        let above = own.clone().flat_map(ast::Entity::ancestors).filter_map(|g| found(&entities, g));
        // The action and its groups are all that `action in Group` can need; the schema proved them closed.
        let store = Entities::from_entities(
            own.chain(above).cloned(),
            None::<&CoreSchema<'_>>,
            TCComputation::AssumeAlreadyComputed,
            Extensions::all_available(),
        );
        Ok(ActionEntry {
            uid: uid.clone(),
            store: store.map_err(|e| e.to_string())?,
            principals: action.applies_to_principals().cloned().collect(),
            resources: action.applies_to_resources().cloned().collect(),
            context: compiler.context(context)?,
        })
    };
    uids.iter().map(entry).collect()
}

fn entity_entries(schema: &ValidatorSchema) -> Result<Vec<EntityEntry>, String> {
    let compiler = Compiler::new(schema);
    let mut types: Vec<_> = schema.entity_types().collect();
    types.sort_by(|a, b| a.name().cmp(b.name()));
    let ancestors = |below: &EntityType| -> HashSet<EntityType> {
        let above = schema.entity_types().filter(|t| t.descendants.contains(below));
        above.map(|t| t.name().clone()).collect()
    };
    let entry = |declared: &&cedar_policy_core::validator::ValidatorEntityType| {
        Ok(EntityEntry {
            name: declared.name().to_string(),
            entity_type: declared.name().clone(),
            attributes: compiler.record(declared.attributes())?,
            ids: enumerated(schema, declared.name()),
            ancestors: ancestors(declared.name()),
            has_tags: declared.tag_type().is_some(),
        })
    };
    types.iter().map(entry).collect()
}

/// What the schema declares, for the caller's own checks: see `remit_cedar_engine_description` in the header.
fn describe(actions: &[ActionEntry], entities: &[EntityEntry]) -> Value {
    let names = |types: &HashSet<EntityType>| {
        let mut names: Vec<_> = types.iter().map(ToString::to_string).collect();
        names.sort();
        names
    };
    let action = |entry: &ActionEntry| {
        let id: &str = entry.uid.eid().as_ref();
        json!({
            "type": entry.uid.entity_type().to_string(),
            "id": id,
            "principals": names(&entry.principals),
            "resources": names(&entry.resources),
            "context": entry.context.to_json(),
        })
    };
    let entity = |entry: &EntityEntry| {
        json!({
            "type": entry.name,
            "attributes": entry.attributes.to_json(),
            "ancestors": names(&entry.ancestors),
            "has_tags": entry.has_tags,
        })
    };
    json!({
        "actions": actions.iter().map(action).collect::<Vec<_>>(),
        "entities": entities.iter().map(entity).collect::<Vec<_>>(),
    })
}
