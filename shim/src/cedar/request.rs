//! One request, built by typed calls: principal, resource and context, each a record of values.

use std::collections::BTreeMap;
use std::sync::Arc;

use cedar_policy_core::ast::{Eid, EntityUID, Name, RestrictedExpr, Value};
use cedar_policy_core::evaluator::RestrictedEvaluator;
use cedar_policy_core::extensions::Extensions;
use smol_str::SmolStr;

use super::engine::{Engine, Verdict};
use crate::abi::{Failure, Outcome};

/// Values in one request, and how deep they may nest; the caller's arguments are bounded before, these hold anyway.
const MAX_VALUES: usize = 100_000;
const MAX_DEPTH: usize = 64;
const MAX_ANCESTORS: usize = 1_000;

pub type Attributes = BTreeMap<SmolStr, Value>;

/// The principal or the resource as given.
pub struct Part {
    pub entity_type: u32,
    pub uid: EntityUID,
    pub ancestors: Vec<EntityUID>,
    pub attributes: Attributes,
}

/// `remit_cedar_extension`.
#[derive(Clone, Copy, Debug)]
pub enum Extension {
    Decimal,
    Datetime,
    Duration,
    IpAddress,
}

impl Extension {
    pub fn from_code(code: u32) -> Option<Self> {
        Some(match code {
            0 => Extension::Decimal,
            1 => Extension::Datetime,
            2 => Extension::Duration,
            3 => Extension::IpAddress,
            _ => return None,
        })
    }

    fn function(self) -> &'static str {
        match self {
            Extension::Decimal => "decimal",
            Extension::Datetime => "datetime",
            Extension::Duration => "duration",
            Extension::IpAddress => "ip",
        }
    }
}

/// A container that is open: a record or a set under the key it will have in the one around it.
enum Frame {
    Record(SmolStr, Attributes),
    Set(SmolStr, Vec<Value>),
}

/// Which part the next attributes belong to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Target {
    None,
    Principal,
    Resource,
    Context,
}

/// A builder for one thread; a failed call spoils it, so that the decision reports the first failure.
pub struct Request {
    engine: Arc<Engine>,
    principal: Option<Part>,
    resource: Option<Part>,
    context: Option<Attributes>,
    target: Target,
    frames: Vec<Frame>,
    values: usize,
    spoiled: Option<Failure>,
    pub verdict: Verdict,
}

impl Request {
    pub fn new(engine: Arc<Engine>) -> Self {
        Request {
            engine,
            principal: None,
            resource: None,
            context: None,
            target: Target::None,
            frames: Vec::new(),
            values: 0,
            spoiled: None,
            verdict: Verdict::default(),
        }
    }

    /// Runs one building step, remembering its failure.
    pub fn step(&mut self, step: impl FnOnce(&mut Self) -> Outcome<()>) -> Outcome<()> {
        if let Some(failure) = &self.spoiled {
            return Err(failure.clone());
        }
        step(self).inspect_err(|failure| self.spoiled = Some(failure.clone()))
    }

    fn uid(&self, entity_type: u32, id: &str) -> Outcome<EntityUID> {
        let declared = self.engine.entities.get(entity_type as usize);
        let declared = declared.ok_or_else(|| Failure::misuse("no entity type has this number"))?;
        Ok(EntityUID::from_components(declared.entity_type.clone(), Eid::new(id), None))
    }

    /// Begins the principal or the resource.
    pub fn begin(&mut self, target: Target, entity_type: u32, id: &str) -> Outcome<()> {
        self.closed()?;
        let uid = self.uid(entity_type, id)?;
        let part = Part { entity_type, uid, ancestors: Vec::new(), attributes: Attributes::new() };
        let slot = match target {
            Target::Principal => &mut self.principal,
            Target::Resource => &mut self.resource,
            Target::Context | Target::None => return Err(Failure::misuse("not an entity")),
        };
        if slot.replace(part).is_some() {
            return Err(Failure::misuse("a part is begun twice"));
        }
        self.target = target;
        Ok(())
    }

    pub fn begin_context(&mut self) -> Outcome<()> {
        self.closed()?;
        if self.context.replace(Attributes::new()).is_some() {
            return Err(Failure::misuse("a part is begun twice"));
        }
        self.target = Target::Context;
        Ok(())
    }

    fn closed(&self) -> Outcome<()> {
        if self.frames.is_empty() {
            return Ok(());
        }
        Err(Failure::misuse("a record or a set is still open"))
    }

    /// Adds an ancestor to the entity begun last; all of them are given, not only the direct ones.
    pub fn ancestor(&mut self, entity_type: u32, id: &str) -> Outcome<()> {
        self.closed()?;
        let uid = self.uid(entity_type, id)?;
        let part = match self.target {
            Target::Principal => self.principal.as_mut(),
            Target::Resource => self.resource.as_mut(),
            Target::Context | Target::None => None,
        };
        let part = part.ok_or_else(|| Failure::misuse("no entity is begun"))?;
        if part.uid == uid {
            return Err(Failure::refused("an entity is its own ancestor"));
        }
        if part.ancestors.len() >= MAX_ANCESTORS {
            return Err(Failure::limit(format!("an entity has more than {MAX_ANCESTORS} ancestors")));
        }
        if !part.ancestors.contains(&uid) {
            part.ancestors.push(uid);
        }
        Ok(())
    }

    fn count(&mut self, values: usize) -> Outcome<()> {
        self.values += values;
        if self.values > MAX_VALUES {
            return Err(Failure::limit(format!("a request has more than {MAX_VALUES} values")));
        }
        Ok(())
    }

    /// Puts a value under `key`, or adds it to the open set, where the key must be empty.
    pub fn put(&mut self, key: &str, value: Value) -> Outcome<()> {
        self.count(1)?;
        let record = match self.frames.last_mut() {
            Some(Frame::Record(_, record)) => record,
            Some(Frame::Set(_, elements)) if key.is_empty() => {
                elements.push(value);
                return Ok(());
            }
            Some(Frame::Set(..)) => return Err(Failure::misuse("an element of a set has a key")),
            None => match self.target {
                Target::Principal => self.principal.as_mut().map(|part| &mut part.attributes),
                Target::Resource => self.resource.as_mut().map(|part| &mut part.attributes),
                Target::Context => self.context.as_mut(),
                Target::None => None,
            }
            .ok_or_else(|| Failure::misuse("no part is begun"))?,
        };
        if record.insert(SmolStr::new(key), value).is_some() {
            return Err(Failure::refused("an attribute is given twice"));
        }
        Ok(())
    }

    pub fn put_entity(&mut self, key: &str, entity_type: u32, id: &str) -> Outcome<()> {
        let uid = self.uid(entity_type, id)?;
        self.put(key, Value::new(Arc::new(uid), None))
    }

    pub fn put_extension(&mut self, key: &str, kind: Extension, text: &str) -> Outcome<()> {
        let refuse = |_| Failure::refused(format!("a text is no {}", kind.function()));
        let name: Name = kind.function().parse().map_err(|_| Failure::misuse("no such extension"))?;
        let call = RestrictedExpr::call_extension_fn(name, [RestrictedExpr::val(text)]);
        let evaluator = RestrictedEvaluator::new(Extensions::all_available());
        let value = evaluator.interpret(call.as_borrowed()).map_err(refuse)?;
        self.put(key, value)
    }

    pub fn open(&mut self, key: &str, set: bool) -> Outcome<()> {
        if self.frames.len() >= MAX_DEPTH {
            return Err(Failure::limit(format!("values are nested deeper than {MAX_DEPTH}")));
        }
        if self.target == Target::None {
            return Err(Failure::misuse("no part is begun"));
        }
        let key = SmolStr::new(key);
        self.frames.push(if set {
            Frame::Set(key, Vec::new())
        } else {
            Frame::Record(key, Attributes::new())
        });
        Ok(())
    }

    pub fn close(&mut self) -> Outcome<()> {
        match self.frames.pop() {
            Some(Frame::Record(key, record)) => self.put(&key, Value::record_arc(Arc::new(record), None)),
            Some(Frame::Set(key, elements)) => self.put(&key, Value::set(elements, None)),
            None => Err(Failure::misuse("nothing is open")),
        }
    }

    /// Decides and forgets the parts; the verdict stays until the next decision.
    pub fn decide(&mut self, action: u32) -> Outcome<()> {
        self.verdict = Verdict::default();
        let spoiled = self.spoiled.take();
        let closed = self.closed();
        let parts = (self.principal.take(), self.resource.take(), self.context.take());
        self.frames.clear();
        (self.target, self.values) = (Target::None, 0);
        if let Some(failure) = spoiled {
            return Err(failure);
        }
        closed?;
        let (Some(principal), Some(resource), Some(context)) = parts else {
            return Err(Failure::refused("principal, resource or context is missing"));
        };
        self.verdict = self.engine.decide(action, principal, resource, context)?;
        Ok(())
    }
}
