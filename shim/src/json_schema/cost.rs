//! How many schema checks a value can cost, so that a schema cannot make validation endless or exponential.
//!
//! Two kinds of subschema: those applied to the same value (`allOf`, `$ref`, ...) and those applied to a child of it
//! (`properties`, `items`, ...). A cycle of the first kind never ends and is refused. What remains is a finite number
//! of checks for a chain of values of each depth, computed here once per schema.

use std::collections::HashMap;

use jsonschema::Draft;
use serde_json::{Map, Value};

use crate::abi::{Failure, Outcome};

/// Depth of values that reach a validator, as the JSON parser bounds it.
const MAX_DEPTH: usize = 64;
const MAX_SUBSCHEMAS: usize = 50_000;
/// Checks of one value that holds no other.
const MAX_CHECKS_IN_PLACE: u64 = 100_000;

const IN_PLACE_ONE: [&str; 4] = ["not", "if", "then", "else"];
const IN_PLACE_LIST: [&str; 3] = ["allOf", "anyOf", "oneOf"];
const IN_PLACE_MAP: [&str; 2] = ["dependentSchemas", "dependencies"];
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];
const CHILD_ONE: [&str; 7] = [
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "items",
    "additionalItems",
    "unevaluatedItems",
    "contains",
];
/// Of these lists and maps one member at most applies to one child.
const CHILD_LIST: [&str; 2] = ["prefixItems", "items"];
const CHILD_MAP: [&str; 1] = ["properties"];

#[derive(Default)]
struct Node {
    own: u64,
    in_place: Vec<usize>,
    /// All of these can apply to one child.
    children: Vec<usize>,
    /// In each of these groups one at most applies to one child.
    choices: Vec<Vec<usize>>,
}

struct Graph<'s> {
    root: &'s Value,
    anchors: HashMap<&'s str, &'s Value>,
    numbers: HashMap<*const Value, usize>,
    nodes: Vec<Node>,
    pending: Vec<(usize, &'s Value)>,
}

fn schemas<'s>(object: &'s Map<String, Value>, keyword: &str) -> impl Iterator<Item = &'s Value> {
    object.get(keyword).into_iter().filter(|v| v.is_object() || v.is_boolean())
}

fn list<'s>(object: &'s Map<String, Value>, keyword: &str) -> impl Iterator<Item = &'s Value> {
    object.get(keyword).and_then(Value::as_array).into_iter().flatten()
}

fn map<'s>(object: &'s Map<String, Value>, keyword: &str) -> impl Iterator<Item = &'s Value> {
    let members = object.get(keyword).and_then(Value::as_object).into_iter().flat_map(Map::values);
    members.filter(|v| v.is_object() || v.is_boolean())
}

impl<'s> Graph<'s> {
    fn of(root: &'s Value) -> Outcome<Self> {
        let mut graph = Graph {
            root,
            anchors: HashMap::new(),
            numbers: HashMap::new(),
            nodes: Vec::new(),
            pending: Vec::new(),
        };
        graph.find_anchors(root, true)?;
        graph.number(root)?;
        while let Some((number, value)) = graph.pending.pop() {
            let node = graph.node(value)?;
            graph.nodes[number] = node;
        }
        Ok(graph)
    }

    /// Finds the names that references may use, and refuses resources within the document: they change what `#`
    /// means below them.
    fn find_anchors(&mut self, value: &'s Value, root: bool) -> Outcome<()> {
        let inner: &mut dyn Iterator<Item = &'s Value> = match value {
            Value::Array(items) => &mut items.iter(),
            Value::Object(members) => {
                for keyword in ["$anchor", "$dynamicAnchor", "$id", "id"] {
                    let Some(name) = members.get(keyword).and_then(Value::as_str) else { continue };
                    let anchor = if keyword.ends_with("nchor") { Some(name) } else { name.strip_prefix('#') };
                    match anchor {
                        // Which of two the validator means is its own affair, and the cost hangs on it.
                        Some(anchor) if self.anchors.insert(anchor, value).is_some() => {
                            return Err(Failure::unsupported("an anchor is given twice"));
                        }
                        Some(_) => {}
                        None if keyword == "$id" && !root => {
                            return Err(Failure::unsupported("a $id inside the document"));
                        }
                        None => {}
                    }
                }
                &mut members.values()
            }
            _ => return Ok(()),
        };
        for value in inner {
            self.find_anchors(value, false)?;
        }
        Ok(())
    }

    fn number(&mut self, value: &'s Value) -> Outcome<usize> {
        let next = self.nodes.len();
        let number = *self.numbers.entry(value).or_insert(next);
        if number == next {
            if next >= MAX_SUBSCHEMAS {
                return Err(Failure::limit(format!("more than {MAX_SUBSCHEMAS} subschemas")));
            }
            self.nodes.push(Node::default());
            self.pending.push((number, value));
        }
        Ok(number)
    }

    fn numbers(&mut self, values: impl Iterator<Item = &'s Value>) -> Outcome<Vec<usize>> {
        values.map(|value| self.number(value)).collect()
    }

    fn node(&mut self, value: &'s Value) -> Outcome<Node> {
        let mut node = Node { own: 1, ..Node::default() };
        let Some(object) = value.as_object() else { return Ok(node) };
        let listed = ["enum", "required", "dependentRequired"].into_iter().filter_map(|k| object.get(k));
        node.own += listed.map(|v| v.as_array().map_or(0, Vec::len) as u64 / 8).sum::<u64>();
        for keyword in REFERENCES {
            if let Some(reference) = object.get(keyword).and_then(Value::as_str) {
                let target = self.resolve(reference)?;
                node.in_place.push(self.number(target)?);
            }
        }
        for keyword in IN_PLACE_ONE {
            node.in_place.extend(self.numbers(schemas(object, keyword))?);
        }
        for keyword in IN_PLACE_LIST {
            node.in_place.extend(self.numbers(list(object, keyword))?);
        }
        for keyword in IN_PLACE_MAP {
            node.in_place.extend(self.numbers(map(object, keyword))?);
        }
        for keyword in CHILD_ONE {
            node.children.extend(self.numbers(schemas(object, keyword))?);
        }
        node.children.extend(self.numbers(map(object, "patternProperties"))?);
        for keyword in CHILD_LIST {
            node.choices.push(self.numbers(list(object, keyword))?);
        }
        for keyword in CHILD_MAP {
            node.choices.push(self.numbers(map(object, keyword))?);
        }
        Ok(node)
    }

    /// What stands behind the document's own name in a reference, if that is what it begins with. A published
    /// meta-schema's name is never the document's own: the validator knows that one itself.
    fn behind_own_name<'r>(&self, reference: &'r str) -> Option<&'r str> {
        let name = self.root.get("$id").and_then(Value::as_str)?;
        let name = name.strip_suffix('#').unwrap_or(name);
        if name.is_empty() || name.contains('#') || Draft::from_schema_uri(name) != Draft::Unknown {
            return None;
        }
        reference.strip_prefix(name).filter(|rest| rest.is_empty() || rest.starts_with('#'))
    }

    /// What a reference means: the root, a JSON pointer into it or one of its anchors.
    fn resolve(&self, reference: &str) -> Outcome<&'s Value> {
        let leaves = || Failure::unsupported("a reference leaves the document");
        let local = self.behind_own_name(reference).unwrap_or(reference);
        if local.is_empty() && !reference.is_empty() {
            return Ok(self.root);
        }
        let fragment = local.strip_prefix('#').ok_or_else(leaves)?;
        if fragment.is_empty() {
            return Ok(self.root);
        }
        let target = if fragment.starts_with('/') {
            self.root.pointer(&percent_decoded(fragment))
        } else {
            self.anchors.get(fragment).copied()
        };
        target.ok_or_else(|| Failure::unsupported("a reference has no target in the document"))
    }

    /// Numbers in an order in which every node stands behind those that it applies in place.
    fn order(&self) -> Outcome<Vec<usize>> {
        #[derive(Clone, Copy, PartialEq)]
        enum Mark {
            New,
            Open,
            Done,
        }
        let mut marks = vec![Mark::New; self.nodes.len()];
        let mut order = Vec::with_capacity(self.nodes.len());
        for start in 0..self.nodes.len() {
            let mut path = vec![(start, 0)];
            while let Some((number, next)) = path.pop() {
                if next == 0 {
                    if marks[number] == Mark::Done {
                        continue;
                    }
                    marks[number] = Mark::Open;
                }
                match self.nodes[number].in_place.get(next) {
                    None => {
                        marks[number] = Mark::Done;
                        order.push(number);
                    }
                    Some(&inner) => {
                        if marks[inner] == Mark::Open {
                            return Err(Failure::unsupported(
                                "a schema that applies itself to the same value",
                            ));
                        }
                        path.push((number, next + 1));
                        path.push((inner, 0));
                    }
                }
            }
        }
        Ok(order)
    }
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let hex = |b: u8| (b as char).to_digit(16);
        let pair = tail.first().and_then(|&h| hex(h)).zip(tail.get(1).and_then(|&l| hex(l)));
        match pair {
            Some((high, low)) if first == b'%' => {
                bytes.push((high * 16 + low) as u8);
                rest = &tail[2..];
            }
            _ => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Checks that one chain of values can cost, by its depth.
pub struct Cost(Vec<u64>);

impl Cost {
    /// Refuses a schema that refers out of itself, applies itself to the same value, or checks one value too often.
    pub fn of(schema: &Value) -> Outcome<Cost> {
        let graph = Graph::of(schema)?;
        let order = graph.order()?;
        let mut below: Vec<u64> = vec![0; graph.nodes.len()];
        let mut costs = Vec::with_capacity(MAX_DEPTH + 1);
        for _ in 0..=MAX_DEPTH {
            let mut here: Vec<u64> = vec![0; graph.nodes.len()];
            for &number in &order {
                let node = &graph.nodes[number];
                // A validator may visit a combinator's parts again to say what is wrong or what is unevaluated.
                let in_place = node.in_place.iter().fold(0u64, |sum, &n| sum.saturating_add(here[n]));
                let children = node.children.iter().fold(0u64, |sum, &n| sum.saturating_add(below[n]));
                let chosen = node.choices.iter().fold(0u64, |sum, group| {
                    sum.saturating_add(group.iter().map(|&n| below[n]).max().unwrap_or(0))
                });
                here[number] = in_place
                    .saturating_mul(2)
                    .saturating_add(children)
                    .saturating_add(chosen)
                    .saturating_add(node.own);
            }
            costs.push(here[0]);
            below = here;
        }
        if costs[0] > MAX_CHECKS_IN_PLACE {
            return Err(Failure::limit("the schema checks one value too often"));
        }
        Ok(Cost(costs))
    }

    /// Checks for one chain of values nested this deep, at most.
    pub fn checks(&self, depth: usize) -> u64 {
        self.0.get(depth).copied().unwrap_or(u64::MAX)
    }
}
