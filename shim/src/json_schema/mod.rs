//! JSON Schema behind `remit_shim_json_schema.h`: compile once, validate from any thread.

mod cost;

use std::sync::Arc;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{Draft, PatternOptions, Retrieve, Uri, ValidationError, Validator};
use serde_json::Value;

use crate::abi::{guard, on_loading_stack, quietly, Failure, Outcome, Status, Str};
use cost::Cost;

/// Schema checks that one validation may take at most, as `cost` bounds them; roughly a second.
const MAX_CHECKS: u64 = 20_000_000;
/// Memory for one compiled pattern.
const MAX_PATTERN_BYTES: usize = 1 << 20;
const MAX_MISMATCHES: usize = 64;

/// A compiled schema, shared by all threads.
pub struct Schema {
    validator: Validator,
    cost: Cost,
}

/// Refuses every document that is not part of the schema itself.
struct NoRetrieval;

impl Retrieve for NoRetrieval {
    fn retrieve(&self, _: &Uri<String>) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        Err("a reference leaves the document".into())
    }
}

fn compile(text: &str) -> Outcome<Schema> {
    let schema: Value = parse(text)?;
    if let Some(declared) = schema.get("$schema") {
        let known = declared.as_str().is_some_and(|uri| Draft::from_schema_uri(uri) != Draft::Unknown);
        if !known {
            return Err(Failure::unsupported("$schema names no draft from 4 to 2020-12").at("/$schema"));
        }
    }
    let cost = Cost::of(&schema)?;
    let validator = jsonschema::options()
        .with_retriever(NoRetrieval)
        .with_pattern_options(PatternOptions::regex().size_limit(MAX_PATTERN_BYTES))
        .build(&schema)
        .map_err(|error| refusal(&error))?;
    Ok(Schema { validator, cost })
}

/// Why a schema does not compile. The library's text quotes the schema, so only kinds and places are told.
fn refusal(error: &ValidationError<'_>) -> Failure {
    match error.kind() {
        ValidationErrorKind::Referencing(_) => Failure::unsupported("a reference cannot be resolved here"),
        ValidationErrorKind::Pattern { .. } | ValidationErrorKind::Format { .. } => {
            Failure::refused("a pattern is no regular expression of the linear-time kind")
        }
        kind => Failure::refused(format!("the meta-schema refuses it ({})", kind.keyword())),
    }
    .at(error.instance_path().to_string())
}

fn parse(text: &str) -> Outcome<Value> {
    serde_json::from_str(text)
        .map_err(|e| Failure::refused("not JSON").at(format!("line {}, column {}", e.line(), e.column())))
}

/// One way in which an instance does not match: places and names, never values.
pub struct Mismatch {
    pointer: String,
    keyword: String,
    property: String,
}

impl Mismatch {
    fn of(error: &ValidationError<'_>) -> Self {
        let property = match error.kind() {
            ValidationErrorKind::Required { property } => property.as_str().unwrap_or_default().to_owned(),
            ValidationErrorKind::AdditionalProperties { unexpected }
            | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
                unexpected.first().cloned().unwrap_or_default()
            }
            _ => String::new(),
        };
        let keyword = error.kind().keyword().to_owned();
        Mismatch { pointer: error.instance_path().to_string(), keyword, property }
    }
}

/// Nodes of a value, and how deep it nests.
fn measure(value: &Value) -> (u64, usize) {
    let add = |(nodes, depth): (u64, usize), inner: &Value| {
        let (n, d) = measure(inner);
        (nodes + n, depth.max(d + 1))
    };
    match value {
        Value::Array(items) => items.iter().fold((1, 0), add),
        Value::Object(members) => members.values().fold((1, 0), add),
        _ => (1, 0),
    }
}

impl Schema {
    fn validate(&self, text: &str, max: usize) -> Outcome<Vec<Mismatch>> {
        let instance = parse(text)?;
        let (nodes, depth) = measure(&instance);
        if self.cost.checks(depth).saturating_mul(nodes) > MAX_CHECKS {
            return Err(Failure::limit("checking this value could take too long"));
        }
        if self.validator.is_valid(&instance) {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        for error in self.validator.iter_errors(&instance).take(max.clamp(1, MAX_MISMATCHES)) {
            if matches!(
                error.kind(),
                ValidationErrorKind::BacktrackLimitExceeded { .. }
                    | ValidationErrorKind::RegexEngineFailure { .. }
            ) {
                return Err(Failure::refused("a pattern could not be evaluated"));
            }
            found.push(Mismatch::of(&error));
        }
        if found.is_empty() {
            return Err(Failure::refused("the value does not match, and nothing says why"));
        }
        Ok(found)
    }
}

fn null() -> Failure {
    Failure::misuse("a handle or an out parameter is null")
}

// SAFETY of the functions below: the header states which pointers must be valid and for how long; each is checked
// for null, and every index for range.

#[no_mangle]
pub unsafe extern "C" fn remit_json_schema_compile(text: Str, out: *mut *const Schema) -> Status {
    guard(|| unsafe {
        *out.as_mut().ok_or_else(null)? = std::ptr::null();
        let text = text.get()?;
        let schema = on_loading_stack(|| compile(text))?;
        *out = Arc::into_raw(Arc::new(schema));
        Ok(())
    })
}

#[no_mangle]
pub unsafe extern "C" fn remit_json_schema_retain(schema: *const Schema) {
    quietly(|| {
        if !schema.is_null() {
            unsafe { Arc::increment_strong_count(schema) };
        }
    });
}

#[no_mangle]
pub unsafe extern "C" fn remit_json_schema_release(schema: *const Schema) {
    quietly(|| {
        if !schema.is_null() {
            drop(unsafe { Arc::from_raw(schema) });
        }
    });
}

#[no_mangle]
pub unsafe extern "C" fn remit_json_schema_validate(
    schema: *const Schema,
    instance: Str,
    max: u32,
    out: *mut *mut Vec<Mismatch>,
) -> Status {
    guard(|| unsafe {
        *out.as_mut().ok_or_else(null)? = std::ptr::null_mut();
        let found = schema.as_ref().ok_or_else(null)?.validate(instance.get()?, max as usize)?;
        if !found.is_empty() {
            *out = Box::into_raw(Box::new(found));
        }
        Ok(())
    })
}

#[no_mangle]
pub unsafe extern "C" fn remit_json_schema_mismatch_count(found: *const Vec<Mismatch>) -> u32 {
    unsafe { found.as_ref() }.map_or(0, |found| found.len() as u32)
}

/// `remit_json_schema_mismatch`.
#[repr(C)]
pub struct MismatchView {
    pointer: Str,
    keyword: Str,
    property: Str,
}

#[no_mangle]
pub unsafe extern "C" fn remit_json_schema_mismatch_get(
    found: *const Vec<Mismatch>,
    number: u32,
    out: *mut MismatchView,
) -> Status {
    guard(|| unsafe {
        let found = found.as_ref().ok_or_else(null)?.get(number as usize);
        let found = found.ok_or_else(|| Failure::misuse("a number is out of range"))?;
        *out.as_mut().ok_or_else(null)? = MismatchView {
            pointer: Str::of(&found.pointer),
            keyword: Str::of(&found.keyword),
            property: Str::of(&found.property),
        };
        Ok(())
    })
}

#[no_mangle]
pub unsafe extern "C" fn remit_json_schema_mismatches_free(found: *mut Vec<Mismatch>) {
    quietly(|| {
        if !found.is_null() {
            drop(unsafe { Box::from_raw(found) });
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn compiled(schema: &Value) -> Outcome<Schema> {
        on_loading_stack(|| compile(&schema.to_string()))
    }

    fn mismatches(schema: &Value, instance: &Value) -> Vec<(String, String, String)> {
        let schema = compiled(schema).unwrap();
        let found = schema.validate(&instance.to_string(), 16).unwrap();
        found.into_iter().map(|m| (m.pointer, m.keyword, m.property)).collect()
    }

    fn refused(schema: &Value) -> (Status, String, String) {
        let failure = compiled(schema).err().unwrap_or_else(|| panic!("{schema} compiles"));
        (failure.status, failure.message, failure.place)
    }

    #[test]
    fn names_places_and_keywords() {
        let schema = json!({"type": "object", "additionalProperties": false, "required": ["invoice"],
            "properties": {"invoice": {"type": "string"}, "list": {"items": {"type": "integer"}}}});
        assert_eq!(mismatches(&schema, &json!({"invoice": "i"})), vec![]);
        let of = |pointer: &str, keyword: &str, property: &str| {
            (pointer.to_owned(), keyword.to_owned(), property.to_owned())
        };
        assert_eq!(
            mismatches(&schema, &json!({"invoice": "i", "x": "secret"})),
            vec![of("", "additionalProperties", "x")]
        );
        assert_eq!(mismatches(&schema, &json!({})), vec![of("", "required", "invoice")]);
        assert_eq!(
            mismatches(&schema, &json!({"invoice": "i", "list": [1, "secret"]})),
            vec![of("/list/1", "type", "")]
        );
    }

    #[test]
    fn takes_drafts_4_to_2020_12() {
        for (draft, schema) in [
            ("http://json-schema.org/draft-04/schema#", json!({"maximum": 5, "exclusiveMaximum": true})),
            ("http://json-schema.org/draft-06/schema#", json!({"exclusiveMaximum": 5})),
            ("http://json-schema.org/draft-07/schema#", json!({"exclusiveMaximum": 5})),
            ("https://json-schema.org/draft/2019-09/schema", json!({"exclusiveMaximum": 5})),
            ("https://json-schema.org/draft/2020-12/schema", json!({"exclusiveMaximum": 5})),
        ] {
            let mut schema = schema;
            schema["$schema"] = json!(draft);
            assert_eq!(mismatches(&schema, &json!(4)), vec![], "{draft}");
            assert_eq!(mismatches(&schema, &json!(5)).len(), 1, "{draft}");
        }
        assert_eq!(refused(&json!({"$schema": "https://example.com/mine"})).0, Status::Unsupported);
        assert_eq!(mismatches(&json!(false), &json!(1)).len(), 1);
    }

    #[test]
    fn refuses_what_leaves_the_document_or_is_no_schema() {
        for reference in ["https://example.com/s", "other.json", "file:///etc/passwd", "other.json#/a"] {
            assert_eq!(refused(&json!({"$ref": reference})).0, Status::Unsupported, "{reference}");
        }
        assert_eq!(refused(&json!({"$ref": "#/nowhere"})).0, Status::Unsupported);
        let (status, message, place) = refused(&json!({"properties": {"a": {"type": "strange"}}}));
        assert_eq!((status, place.as_str()), (Status::Refused, "/properties/a/type"), "{message}");
        assert_eq!(refused(&json!(7)).0, Status::Refused);
        assert_eq!(compile("{").err().unwrap().place, "line 1, column 1");
    }

    #[test]
    fn patterns_run_in_linear_time_or_are_refused() {
        assert_eq!(refused(&json!({"pattern": "(?=a)b"})).0, Status::Refused);
        assert_eq!(refused(&json!({"pattern": "(a)\\1"})).0, Status::Refused);
        assert_eq!(
            refused(&json!({"pattern": "(((ab|c\\d|x.y){1,100}z){1,100}w){1,100}"})).0,
            Status::Refused
        );
        let slow = json!({"pattern": "^(a+)+$"});
        assert_eq!(mismatches(&slow, &json!("a".repeat(50_000) + "!")).len(), 1);
    }

    #[test]
    fn references_may_recurse_through_the_value_only() {
        let tree = json!({"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#"}}},
            "additionalProperties": false});
        assert_eq!(mismatches(&tree, &json!({"kids": [{"kids": []}, {}]})), vec![]);
        assert_eq!(mismatches(&tree, &json!({"kids": [{"kids": [{"x": 1}]}]})).len(), 1);
        for endless in [
            json!({"$ref": "#"}),
            json!({"allOf": [{"$ref": "#"}]}),
            json!({"$defs": {"a": {"anyOf": [{"$ref": "#/$defs/b"}]}, "b": {"not": {"$ref": "#/$defs/a"}}}, "$ref": "#/$defs/a"}),
            json!({"$anchor": "me", "if": {"$ref": "#me"}}),
            json!({"$dynamicRef": "#"}),
        ] {
            assert_eq!(refused(&endless).0, Status::Unsupported, "{endless}");
        }
    }

    #[test]
    fn the_documents_own_name_may_stand_in_a_reference() {
        for id in ["https://example.com/s.json", "https://example.com/s.json#", "urn:example:s", "s.json"] {
            let name = id.trim_end_matches('#');
            let tree = json!({"$id": id, "type": "object", "additionalProperties": false,
                "$defs": {"n": {"$anchor": "number", "type": "integer"}},
                "properties": {"kid": {"$ref": name}, "same": {"$ref": format!("{name}#")},
                    "n": {"$ref": format!("{name}#/$defs/n")}, "m": {"$ref": format!("{name}#number")}}});
            let good = json!({"kid": {"n": 1}, "same": {"m": 2}});
            assert_eq!(mismatches(&tree, &good), vec![], "{id}");
            assert_eq!(mismatches(&tree, &json!({"kid": {"n": "x"}})).len(), 1, "{id}");
            assert_eq!(mismatches(&tree, &json!({"same": {"m": "x"}})).len(), 1, "{id}");
            assert_eq!(mismatches(&tree, &json!({"same": {"y": 1}})).len(), 1, "{id}");
            let endless = json!({"$id": id, "allOf": [{"$ref": name}]});
            assert_eq!(refused(&endless).1, "a schema that applies itself to the same value", "{id}");
            for other in [format!("{name}x"), format!("{name}/x#"), format!("x{name}")] {
                let far = json!({"$id": id, "properties": {"a": {"$ref": other}}});
                assert_eq!(refused(&far).1, "a reference leaves the document", "{id} {other}");
            }
        }
        for id in [
            "",
            "#",
            "https://json-schema.org/draft/2020-12/schema",
            "http://json-schema.org/draft-07/schema#",
        ] {
            let schema = json!({"$id": id, "properties": {"a": {"$ref": id.trim_end_matches('#')}}});
            assert_eq!(refused(&schema).0, Status::Unsupported, "{id}");
        }
    }

    #[test]
    fn growth_is_bounded() {
        // Each step applies the next one twice: 2^40 checks of one value.
        let mut defs = serde_json::Map::new();
        for i in 0..40 {
            let next = json!({"$ref": format!("#/$defs/d{}", i + 1)});
            defs.insert(format!("d{i}"), json!({"anyOf": [next, next]}));
        }
        defs.insert("d40".into(), json!({"type": "string"}));
        assert_eq!(refused(&json!({"$defs": defs, "$ref": "#/$defs/d0"})).0, Status::Limit);
        // The same steps by anchors, with decoys of the same names that cost nothing.
        let mut defs = serde_json::Map::new();
        for i in 0..40 {
            let next = json!({"$ref": format!("#d{}", i + 1)});
            defs.insert(format!("a{i}"), json!({"$anchor": format!("d{i}"), "anyOf": [next, next]}));
            defs.insert(format!("b{i}"), json!({"$anchor": format!("d{i}")}));
        }
        defs.insert("a40".into(), json!({"$anchor": "d40", "type": "string"}));
        assert_eq!(refused(&json!({"$defs": defs, "$ref": "#/$defs/a0"})).0, Status::Unsupported);
        // Each level of the value is checked twice as often: fine when shallow, refused when deep.
        let half = json!({"properties": {"x": {"$ref": "#"}}});
        let schema = compiled(&json!({"allOf": [half, half]})).unwrap();
        let nested = |depth: usize| "{\"x\":".repeat(depth) + "1" + &"}".repeat(depth);
        assert!(schema.validate(&nested(3), 1).unwrap().is_empty());
        assert_eq!(schema.validate(&nested(60), 1).err().unwrap().status, Status::Limit);
    }
}
