//! How large a schema's types become when common types are replaced by what they stand for.
//!
//! Cedar replaces them while it reads a schema, and types that name each other twice double at each step: forty
//! lines of text would never finish. The check runs on the schema's JSON form, which has the names still.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// Parts that one declared type may have, and all of them together.
const MAX_PARTS: u64 = 100_000;
const MAX_TOTAL_PARTS: u64 = 1_000_000;
/// Nesting of one type.
const MAX_DEPTH: usize = 64;

struct Expansion<'s> {
    /// By full name, with the namespace that it stands in.
    common: HashMap<String, (&'s str, &'s Value)>,
    sizes: HashMap<String, u64>,
}

fn qualified(namespace: &str, name: &str) -> String {
    if namespace.is_empty() {
        return name.to_owned();
    }
    format!("{namespace}::{name}")
}

impl<'s> Expansion<'s> {
    fn named(&mut self, namespace: &str, name: &str, depth: usize) -> Result<u64, String> {
        // A name means its own namespace's type before the empty one's; the larger is right for a bound.
        let mut size = 0;
        for full in [qualified(namespace, name), name.to_owned()] {
            if let Some(&known) = self.sizes.get(&full) {
                size = size.max(known);
            } else if let Some(&(home, declared)) = self.common.get(&full) {
                let found = self.value(home, declared, depth + 1)?;
                self.sizes.insert(full, found);
                size = size.max(found);
            }
        }
        Ok(size)
    }

    /// Parts of the types in a piece of schema JSON.
    fn value(&mut self, namespace: &str, value: &Value, depth: usize) -> Result<u64, String> {
        if depth > MAX_DEPTH {
            return Err(format!("a type is nested deeper than {MAX_DEPTH}"));
        }
        let mut size: u64 = 1;
        if let Some(object) = value.as_object() {
            for field in ["type", "name"] {
                if let Some(name) = object.get(field).and_then(Value::as_str) {
                    size = size.saturating_add(self.named(namespace, name, depth)?);
                }
            }
            let inner = object.get("attributes").and_then(Value::as_object).into_iter().flat_map(Map::values);
            for part in inner.chain(object.get("element")) {
                size = size.saturating_add(self.value(namespace, part, depth + 1)?);
            }
        }
        if size > MAX_PARTS {
            return Err(format!("types expand to more than {MAX_PARTS} parts"));
        }
        Ok(size)
    }
}

/// How many parts the types of a schema (in JSON form) have once expanded, contexts of actions apart; refuses one
/// whose types are too large or too deep.
pub fn expanded_parts(schema: &Value) -> Result<u64, String> {
    let mut expansion = Expansion { common: HashMap::new(), sizes: HashMap::new() };
    let namespaces = || schema.as_object().into_iter().flatten();
    for (namespace, body) in namespaces() {
        let common = body.get("commonTypes").and_then(Value::as_object).into_iter().flatten();
        expansion
            .common
            .extend(common.map(|(name, ty)| (qualified(namespace, name), (namespace.as_str(), ty))));
    }
    let (mut shared, mut contextual) = (0u64, 0u64);
    for (namespace, body) in namespaces() {
        let types = body.get("commonTypes").and_then(Value::as_object).into_iter().flat_map(Map::values);
        let entities = body.get("entityTypes").and_then(Value::as_object).into_iter().flat_map(Map::values);
        let shapes = entities.flat_map(|entity| [entity.get("shape"), entity.get("tags")]).flatten();
        let actions = body.get("actions").and_then(Value::as_object).into_iter().flat_map(Map::values);
        let contexts = actions.filter_map(|action| action.get("appliesTo")?.get("context"));
        for ty in types.chain(shapes) {
            shared = shared.saturating_add(expansion.value(namespace, ty, 0)?);
        }
        for ty in contexts {
            contextual = contextual.saturating_add(expansion.value(namespace, ty, 0)?);
        }
        if shared.saturating_add(contextual) > MAX_TOTAL_PARTS {
            return Err(format!("types expand to more than {MAX_TOTAL_PARTS} parts"));
        }
    }
    Ok(shared)
}
