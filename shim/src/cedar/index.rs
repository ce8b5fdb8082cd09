//! Which policies can matter for a request, found by its action and by the entities its scope names.
//!
//! Cedar's authorizer walks every policy, one to two microseconds each even where the scope cannot match. A policy
//! whose scope names a principal or resource literal can be satisfied, or fail, only if the request's principal or
//! resource is that entity or below it, since the scope is evaluated before the condition.

use std::collections::HashMap;

use cedar_policy_core::ast::{
    ActionConstraint, Effect, EntityReference, EntityUID, Policy, PrincipalOrResourceConstraint,
};

/// Policies by the literal of their scope, as indices into the engine's list.
#[derive(Default, Debug)]
pub struct Buckets {
    unnamed: Vec<u32>,
    by_principal: HashMap<EntityUID, Vec<u32>>,
    by_resource: HashMap<EntityUID, Vec<u32>>,
}

/// The entity that a scope constraint names, if it names one.
fn named(constraint: &PrincipalOrResourceConstraint) -> Option<&EntityUID> {
    use PrincipalOrResourceConstraint::{Eq, In, Is, IsIn};
    match constraint {
        Eq(EntityReference::EUID(uid))
        | In(EntityReference::EUID(uid))
        | IsIn(_, EntityReference::EUID(uid)) => Some(uid),
        // A template's slot cannot occur: templates are refused when loaded. Unnamed is right for it all the same.
        Eq(_) | In(_) | IsIn(..) | Is(_) | PrincipalOrResourceConstraint::Any => None,
    }
}

impl Buckets {
    fn add(&mut self, policy: &Policy, index: u32) {
        let principal = policy.principal_constraint();
        let resource = policy.resource_constraint();
        // The resource comes first: resources are many, so its buckets are the smaller ones.
        if let Some(uid) = named(resource.as_inner()) {
            self.by_resource.entry(uid.clone()).or_default().push(index);
        } else if let Some(uid) = named(principal.as_inner()) {
            self.by_principal.entry(uid.clone()).or_default().push(index);
        } else {
            self.unnamed.push(index);
        }
    }

    /// Appends every policy that can matter; each entity stands before its ancestors, none twice.
    fn collect<'a>(
        &self,
        principal: impl Iterator<Item = &'a EntityUID>,
        resource: impl Iterator<Item = &'a EntityUID>,
        found: &mut Vec<u32>,
    ) {
        found.extend_from_slice(&self.unnamed);
        let mut add = |map: &HashMap<EntityUID, Vec<u32>>, uid| {
            found.extend_from_slice(map.get(uid).map_or(&[][..], Vec::as_slice));
        };
        if !self.by_principal.is_empty() {
            principal.for_each(|uid| add(&self.by_principal, uid));
        }
        if !self.by_resource.is_empty() {
            resource.for_each(|uid| add(&self.by_resource, uid));
        }
    }
}

/// The actions of a schema by number, and who is below whom.
#[derive(Default, Debug)]
pub struct Actions {
    numbers: HashMap<EntityUID, u32>,
    /// For each action and group, the numbers of the actions that are it or below it.
    members: HashMap<EntityUID, Vec<u32>>,
}

impl Actions {
    /// Takes each action, in order of number, with its ancestors.
    pub fn build<'a, A: Iterator<Item = &'a EntityUID>>(
        actions: impl Iterator<Item = (&'a EntityUID, A)>,
    ) -> Self {
        let mut all = Actions::default();
        for (number, (uid, ancestors)) in (0u32..).zip(actions) {
            all.numbers.insert(uid.clone(), number);
            for below in std::iter::once(uid).chain(ancestors) {
                all.members.entry(below.clone()).or_default().push(number);
            }
        }
        all
    }

    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    pub fn number(&self, uid: &EntityUID) -> Option<u32> {
        self.numbers.get(uid).copied()
    }

    /// The actions that a policy's scope admits, ascending; none if it admits any action.
    pub fn in_scope(&self, constraint: &ActionConstraint) -> Option<Vec<u32>> {
        let mut numbers: Vec<u32> = match constraint {
            ActionConstraint::Any => return None,
            ActionConstraint::Eq(uid) => self.number(uid).into_iter().collect(),
            ActionConstraint::In(uids) => {
                uids.iter().filter_map(|uid| self.members.get(uid.as_ref())).flatten().copied().collect()
            }
        };
        numbers.sort_unstable();
        numbers.dedup();
        Some(numbers)
    }

    /// For each action, by number, what the policies can say of it at all.
    pub fn standings<'a>(&self, policies: impl Iterator<Item = &'a Policy>) -> Vec<Standing> {
        let mut standings = vec![Standing::default(); self.len()];
        for policy in policies {
            let admitted = self.in_scope(policy.action_constraint());
            if policy.effect() == Effect::Permit {
                match admitted {
                    None => standings.iter_mut().for_each(|each| each.permitted = true),
                    Some(some) => some.iter().for_each(|&action| standings[action as usize].permitted = true),
                }
            } else if is_unconditional(policy) {
                for action in admitted.into_iter().flatten() {
                    standings[action as usize].forbidden = true;
                }
            }
        }
        standings
    }
}

/// Whether nothing but the action decides.
fn is_unconditional(policy: &Policy) -> bool {
    let is_any =
        |constraint: &PrincipalOrResourceConstraint| matches!(constraint, PrincipalOrResourceConstraint::Any);
    policy.non_scope_constraints().is_none()
        && is_any(policy.principal_constraint().as_inner())
        && is_any(policy.resource_constraint().as_inner())
}

/// What the policies can say of an action, whoever asks and whatever for.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The scope of a permit admits it; its condition is not looked at.
    pub permitted: bool,
    /// A forbid without a condition names it.
    pub forbidden: bool,
}

/// All policies: those for any action, and those for each action.
#[derive(Default, Debug)]
pub struct Index {
    any_action: Buckets,
    by_action: Vec<Buckets>,
}

impl Index {
    /// Takes the policies in the order of their numbers.
    pub fn build<'a>(policies: impl Iterator<Item = &'a Policy>, actions: &Actions) -> Self {
        let mut index = Index::default();
        index.by_action.resize_with(actions.len(), Buckets::default);
        for (number, policy) in (0u32..).zip(policies) {
            let Some(admitted) = actions.in_scope(policy.action_constraint()) else {
                index.any_action.add(policy, number);
                continue;
            };
            for action in admitted {
                index.by_action[action as usize].add(policy, number);
            }
        }
        index
    }

    /// The policies that can matter for a request, ascending; `principal` and `resource` are the entity and its
    /// ancestors, without repeats.
    pub fn candidates<'a>(
        &self,
        action: u32,
        principal: impl Iterator<Item = &'a EntityUID> + Clone,
        resource: impl Iterator<Item = &'a EntityUID> + Clone,
    ) -> Vec<u32> {
        let mut found = Vec::with_capacity(16);
        self.any_action.collect(principal.clone(), resource.clone(), &mut found);
        self.by_action[action as usize].collect(principal, resource, &mut found);
        found.sort_unstable();
        found
    }
}
