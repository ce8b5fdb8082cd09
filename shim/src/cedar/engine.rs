//! A loaded set of policies with its schema: immutable, shared by all threads.

use std::collections::HashSet;
use std::sync::Arc;

use cedar_policy_core::ast::{
    Context, Eid, Entity, EntityType, EntityUID, EntityUIDEntry, Expr, PartialValue, Request, SlotEnv,
};
use cedar_policy_core::entities::{Entities, TCComputation};
use cedar_policy_core::evaluator::{EvaluationError, Evaluator};
use cedar_policy_core::extensions::Extensions;
use cedar_policy_core::validator::CoreSchema;

use super::index::{Index, Standing};
use super::request::{Attributes, Part};
use super::shape::{id_fits, Record};
use crate::abi::{Failure, Outcome};

pub struct PolicyEntry {
    pub id: String,
    pub reason: Option<String>,
    pub forbids: bool,
    pub source: u32,
    pub offset: usize,
    /// Scope and condition as one expression, which Cedar would otherwise build anew on each evaluation.
    pub condition: Expr,
    pub slots: SlotEnv,
}

pub struct ActionEntry {
    pub uid: EntityUID,
    /// The action and the groups above it.
    pub store: Entities,
    pub principals: HashSet<EntityType>,
    pub resources: HashSet<EntityType>,
    pub context: Record,
}

pub struct EntityEntry {
    pub name: String,
    pub entity_type: EntityType,
    pub attributes: Record,
    pub ids: Option<Arc<[Eid]>>,
    pub ancestors: HashSet<EntityType>,
    pub has_tags: bool,
}

pub struct Engine {
    /// Ascending by id, so that ascending numbers are sorted ids.
    pub policies: Vec<PolicyEntry>,
    pub actions: Vec<ActionEntry>,
    pub entities: Vec<EntityEntry>,
    pub index: Index,
    /// By number of the action.
    pub standings: Vec<Standing>,
    /// What the schema declares, as JSON.
    pub description: String,
}

/// What the policies said: numbers of satisfied permits and forbids, and of policies that failed, each ascending.
#[derive(Default, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub permits: Vec<u32>,
    pub forbids: Vec<u32>,
    pub errors: Vec<(u32, &'static str)>,
}

impl Verdict {
    /// INVARIANT (no allow with errors): at least one permit, no forbid, and no policy that failed.
    pub fn allows(&self) -> bool {
        !self.permits.is_empty() && self.forbids.is_empty() && self.errors.is_empty()
    }
}

/// What kind of error it was. Cedar's own text quotes values, so it stays here.
fn error_kind(error: &EvaluationError) -> &'static str {
    match error {
        EvaluationError::EntityDoesNotExist(_) => "an entity does not exist",
        EvaluationError::EntityAttrDoesNotExist(_) => "an entity lacks an attribute",
        EvaluationError::RecordAttrDoesNotExist(_) => "a record lacks an attribute",
        EvaluationError::FailedExtensionFunctionLookup(_) => "an extension function does not exist",
        EvaluationError::TypeError(_) => "a value has the wrong type",
        EvaluationError::WrongNumArguments(_) => "an extension function has the wrong arguments",
        EvaluationError::IntegerOverflow(_) => "an integer overflows",
        EvaluationError::UnlinkedSlot(_) => "a template slot is not linked",
        EvaluationError::FailedExtensionFunctionExecution(_) => "an extension function failed",
        EvaluationError::NonValue(_) => "a value is unknown",
        EvaluationError::RecursionLimit(_) => "the recursion limit is reached",
    }
}

impl Engine {
    /// Checks one entity of a request against its type and makes it; `role` opens error messages.
    fn entity(&self, part: Part, role: &str) -> Outcome<Entity> {
        let declared = &self.entities[part.entity_type as usize];
        let misfit = |what: String| Failure::refused(what);
        if !id_fits(&declared.ids, &part.uid) {
            return Err(misfit(format!("{role}: not an id that its enumeration has")));
        }
        for above in &part.ancestors {
            if !declared.ancestors.contains(above.entity_type()) {
                return Err(misfit(format!("{role}: an ancestor's type is not in the schema")));
            }
            if !self.ancestor_id_fits(above) {
                return Err(misfit(format!("{role}: an ancestor is not one that its enumeration has")));
            }
        }
        declared.attributes.check(part.attributes.iter()).map_err(|m| misfit(m.message(role)))?;
        let attributes = part.attributes.into_iter().map(|(k, v)| (k, PartialValue::Value(v)));
        // Every ancestor is given as a parent, which is the transitive closure.
        let parents = part.ancestors.into_iter().collect();
        let none = HashSet::new();
        Ok(Entity::new_with_attr_partial_value(part.uid, attributes, none, parents, []))
    }

    fn ancestor_id_fits(&self, uid: &EntityUID) -> bool {
        let found = self.entities.binary_search_by(|e| e.entity_type.cmp(uid.entity_type()));
        found.is_ok_and(|number| id_fits(&self.entities[number].ids, uid))
    }

    /// Evaluates every policy that can matter.
    ///
    /// INVARIANT (principal and resource are present): both are in the store by construction; without them Cedar
    /// silently makes `in` and `has` false.
    pub fn decide(
        &self,
        action: u32,
        principal: Part,
        resource: Part,
        context: Attributes,
    ) -> Outcome<Verdict> {
        let declared =
            self.actions.get(action as usize).ok_or_else(|| Failure::misuse("no action has this number"))?;
        if !declared.principals.contains(principal.uid.entity_type()) {
            return Err(Failure::refused("principal: the action does not apply to its type"));
        }
        if !declared.resources.contains(resource.uid.entity_type()) {
            return Err(Failure::refused("resource: the action does not apply to its type"));
        }
        declared.context.check(context.iter()).map_err(|m| Failure::refused(m.message("context")))?;
        let candidates = self.index.candidates(
            action,
            std::iter::once(&principal.uid).chain(&principal.ancestors),
            std::iter::once(&resource.uid).chain(&resource.ancestors),
        );
        let request = Request::new_unchecked(
            EntityUIDEntry::known(principal.uid.clone(), None),
            EntityUIDEntry::known(declared.uid.clone(), None),
            EntityUIDEntry::known(resource.uid.clone(), None),
            Some(Context::Value(Arc::new(context))),
        );
        let entities =
            [self.entity(principal, "principal")?, self.entity(resource, "resource")?].map(Arc::new);
        let store = declared
            .store
            .clone()
            .add_entities(
                entities,
                None::<&CoreSchema<'_>>,
                TCComputation::AssumeAlreadyComputed,
                Extensions::all_available(),
            )
            .map_err(|_| Failure::refused("principal and resource are one entity with two sets of facts"))?;
        Ok(self.evaluate(&candidates, request, &store))
    }

    /// The semantics of Cedar's authorizer: each policy is satisfied, not satisfied, or fails.
    pub(super) fn evaluate(&self, candidates: &[u32], request: Request, store: &Entities) -> Verdict {
        let evaluator = Evaluator::new(request, store, Extensions::all_available());
        let mut verdict = Verdict::default();
        for &number in candidates {
            let policy = &self.policies[number as usize];
            let value = evaluator.interpret(&policy.condition, &policy.slots);
            match value.as_ref().map(as_bool) {
                Ok(Some(true)) if policy.forbids => verdict.forbids.push(number),
                Ok(Some(true)) => verdict.permits.push(number),
                Ok(Some(false)) => {}
                Ok(None) => verdict.errors.push((number, "a condition is not a boolean")),
                Err(error) => verdict.errors.push((number, error_kind(error))),
            }
        }
        verdict
    }
}

fn as_bool(value: &cedar_policy_core::ast::Value) -> Option<bool> {
    use cedar_policy_core::ast::{Literal, ValueKind};
    match value.value_kind() {
        ValueKind::Lit(Literal::Bool(truth)) => Some(*truth),
        _ => None,
    }
}
