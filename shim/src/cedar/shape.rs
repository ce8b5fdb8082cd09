//! What the schema says values must look like, compiled once, and the check of values against it.
//!
//! Cedar's own conformance check converts every value and type on each call (tens of microseconds); this one
//! walks the value. The tests hold the two against each other on random values.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use cedar_policy_core::ast::{Eid, EntityType, EntityUID, Literal, Name, Value, ValueKind};
use cedar_policy_core::validator::types::{Attributes, BoolType, EntityKind, OpenTag, Type};
use cedar_policy_core::validator::{ValidatorEntityTypeKind, ValidatorSchema};
use serde_json::json;
use smol_str::SmolStr;

#[derive(Debug)]
pub enum Shape {
    Bool,
    Long,
    String,
    Set(Box<Shape>),
    Record(Record),
    /// A reference to an entity of this type; `ids` if the type is an enumeration.
    Entity {
        entity_type: EntityType,
        ids: Option<Arc<[Eid]>>,
    },
    Extension(Name),
}

#[derive(Debug)]
pub struct Field {
    pub shape: Shape,
    pub required: bool,
}

/// A closed record: attributes that are not named are refused.
#[derive(Debug, Default)]
pub struct Record {
    fields: BTreeMap<SmolStr, Field>,
    required: usize,
}

/// Compiles the types of one schema; what they expand to was bounded before (`expansion`).
pub struct Compiler<'s> {
    schema: &'s ValidatorSchema,
}

impl<'s> Compiler<'s> {
    pub fn new(schema: &'s ValidatorSchema) -> Self {
        Compiler { schema }
    }

    /// The attributes of an entity type or of a context; the error says what is not supported.
    pub fn record(&self, attributes: &Attributes) -> Result<Record, String> {
        self.fields(attributes)
    }

    pub fn context(&self, context: &Type) -> Result<Record, String> {
        match self.shape(context)? {
            Shape::Record(record) => Ok(record),
            _ => Err("a context is not a record".into()),
        }
    }

    fn fields(&self, attributes: &Attributes) -> Result<Record, String> {
        let field = |(name, attribute): (&SmolStr, &_)| {
            let attribute: &cedar_policy_core::validator::types::AttributeType = attribute;
            let shape = self.shape(&attribute.attr_type)?;
            Ok((name.clone(), Field { shape, required: attribute.is_required }))
        };
        let fields: BTreeMap<_, _> = attributes.iter().map(field).collect::<Result<_, String>>()?;
        let required = fields.values().filter(|field| field.required).count();
        Ok(Record { fields, required })
    }

    fn shape(&self, ty: &Type) -> Result<Shape, String> {
        match ty {
            Type::Bool(BoolType::AnyBool) => Ok(Shape::Bool),
            Type::Long => Ok(Shape::Long),
            Type::String => Ok(Shape::String),
            Type::Set { element_type: Some(element) } => Ok(Shape::Set(Box::new(self.shape(element)?))),
            Type::Record { attrs, open_attributes: OpenTag::ClosedAttributes } => {
                Ok(Shape::Record(self.fields(attrs)?))
            }
            Type::Entity(EntityKind::Entity(lub)) => {
                let entity_type = lub.get_single_entity().ok_or("a type is a union of entities")?;
                let ids = enumerated(self.schema, entity_type);
                Ok(Shape::Entity { entity_type: entity_type.clone(), ids })
            }
            Type::ExtensionType { name } => Ok(Shape::Extension(name.clone())),
            _ => Err(format!("type {ty} is not supported")),
        }
    }
}

/// The ids of an enumerated entity type; none for any other.
pub fn enumerated(schema: &ValidatorSchema, entity_type: &EntityType) -> Option<Arc<[Eid]>> {
    match &schema.get_entity_type(entity_type)?.kind {
        ValidatorEntityTypeKind::Enum(ids) => Some(ids.iter().cloned().collect()),
        _ => None,
    }
}

/// Whether an entity may have this id: any, or one of an enumeration's.
pub fn id_fits(ids: &Option<Arc<[Eid]>>, uid: &EntityUID) -> bool {
    ids.as_ref().is_none_or(|ids| ids.contains(uid.eid()))
}

/// Where a value does not fit, as a path of attribute names (never values), and what was expected there.
pub struct Misfit {
    path: Vec<SmolStr>,
    expected: String,
}

impl Misfit {
    fn new(expected: impl Into<String>) -> Self {
        Misfit { path: Vec::new(), expected: expected.into() }
    }

    fn under(mut self, name: &SmolStr) -> Self {
        self.path.push(name.clone());
        self
    }

    pub fn message(&self, root: &str) -> String {
        let mut text = root.to_owned();
        for name in self.path.iter().rev() {
            let _ = write!(text, ".{name}");
        }
        let _ = write!(text, ": {}", self.expected);
        text
    }
}

impl Record {
    /// Checks that every attribute is declared and fits, and that none that is required is missing.
    pub fn check<'v>(
        &self,
        values: impl ExactSizeIterator<Item = (&'v SmolStr, &'v Value)>,
    ) -> Result<(), Misfit> {
        let mut required = 0;
        for (name, value) in values {
            let field = self.fields.get(name).ok_or_else(|| Misfit::new("not in the schema").under(name))?;
            field.shape.check(value).map_err(|misfit| misfit.under(name))?;
            required += usize::from(field.required);
        }
        if required == self.required {
            return Ok(());
        }
        Err(Misfit::new("an attribute that the schema requires is missing"))
    }

    fn describe(&self) -> serde_json::Value {
        let fields = self.fields.iter().map(|(name, field)| {
            (name.to_string(), json!({"required": field.required, "type": field.shape.describe()}))
        });
        serde_json::Value::Object(fields.collect())
    }

    /// `{"kind": "record", "fields": {...}}`, for the caller's own checks.
    pub fn to_json(&self) -> serde_json::Value {
        json!({"kind": "record", "fields": self.describe()})
    }
}

impl Shape {
    fn check(&self, value: &Value) -> Result<(), Misfit> {
        match (self, value.value_kind()) {
            (Shape::Bool, ValueKind::Lit(Literal::Bool(_)))
            | (Shape::Long, ValueKind::Lit(Literal::Long(_)))
            | (Shape::String, ValueKind::Lit(Literal::String(_))) => Ok(()),
            (Shape::Set(element), ValueKind::Set(set)) => {
                set.authoritative.iter().try_for_each(|value| element.check(value))
            }
            (Shape::Record(record), ValueKind::Record(values)) => record.check(values.iter()),
            (Shape::Entity { entity_type, ids }, ValueKind::Lit(Literal::EntityUID(uid)))
                if uid.entity_type() == entity_type && id_fits(ids, uid) =>
            {
                Ok(())
            }
            (Shape::Extension(name), ValueKind::ExtensionValue(value)) if value.typename() == *name => Ok(()),
            _ => Err(Misfit::new(format!("expected {}", self.name()))),
        }
    }

    fn name(&self) -> String {
        match self {
            Shape::Bool => "Bool".into(),
            Shape::Long => "Long".into(),
            Shape::String => "String".into(),
            Shape::Set(_) => "a set".into(),
            Shape::Record(_) => "a record".into(),
            Shape::Entity { entity_type, .. } => format!("an entity of type {entity_type}"),
            Shape::Extension(name) => name.to_string(),
        }
    }

    fn describe(&self) -> serde_json::Value {
        match self {
            Shape::Bool => json!({"kind": "bool"}),
            Shape::Long => json!({"kind": "long"}),
            Shape::String => json!({"kind": "string"}),
            Shape::Set(element) => json!({"kind": "set", "element": element.describe()}),
            Shape::Record(record) => record.to_json(),
            Shape::Entity { entity_type, .. } => {
                json!({"kind": "entity", "name": entity_type.to_string()})
            }
            Shape::Extension(name) => json!({"kind": "extension", "name": name.to_string()}),
        }
    }
}
