//! Cedar behind `remit_shim_cedar.h`: the exported functions; what they do is in the modules below.

#[cfg(test)]
mod cut_tests;
mod engine;
mod expansion;
mod index;
mod load;
mod report;
mod request;
mod shape;
#[cfg(test)]
mod suite;
#[cfg(test)]
mod tests;
mod text;

use std::sync::Arc;

use cedar_policy_core::ast::Value;

use crate::abi::{guard, on_loading_stack, quietly, slice, Failure, Outcome, Status, Str};
use engine::Engine;
use report::{Finding, FindingKind, Report};
use request::{Extension, Request, Target};
use text::Limits;

/// # Safety
/// `handle` must be null or come from this module and not be freed.
unsafe fn borrow<'a, T>(handle: *const T) -> Outcome<&'a T> {
    // SAFETY: by the caller's promise.
    unsafe { handle.as_ref() }.ok_or_else(|| Failure::misuse("a handle is null"))
}

/// # Safety
/// As for `borrow`, and no other reference to the value may exist.
unsafe fn borrow_mut<'a, T>(handle: *mut T) -> Outcome<&'a mut T> {
    // SAFETY: by the caller's promise.
    unsafe { handle.as_mut() }.ok_or_else(|| Failure::misuse("a handle is null"))
}

/// # Safety
/// `out` must be null or writable.
unsafe fn store<T>(out: *mut T, value: T) -> Outcome<()> {
    if out.is_null() {
        return Err(Failure::misuse("an out parameter is null"));
    }
    // SAFETY: by the caller's promise.
    unsafe { out.write(value) };
    Ok(())
}

fn pick<T>(items: &[T], number: u32) -> Outcome<&T> {
    items.get(number as usize).ok_or_else(|| Failure::misuse("a number is out of range"))
}

// SAFETY of all functions below: the header states which pointers must be valid and for how long; each is checked
// for null, and every index for range.

#[no_mangle]
pub extern "C" fn remit_cedar_default_limits() -> Limits {
    Limits::default()
}

#[no_mangle]
pub unsafe extern "C" fn remit_cedar_load(
    sources: *const Str,
    source_count: usize,
    schema: Str,
    limits: *const Limits,
    engine: *mut *const Engine,
    report: *mut *mut Report,
) -> Status {
    guard(|| unsafe {
        store(engine, std::ptr::null())?;
        store(report, std::ptr::null_mut())?;
        let limits = *borrow(limits)?;
        let texts = slice(sources, source_count)?;
        let texts: Vec<&str> = texts.iter().map(|text| text.get()).collect::<Outcome<_>>()?;
        let schema = schema.get()?;
        let mut findings = Report::default();
        let loaded = on_loading_stack(|| Ok(load::load(&texts, schema, &limits, &mut findings)))?;
        store(report, Box::into_raw(Box::new(findings)))?;
        if let Some(loaded) = loaded {
            store(engine, Arc::into_raw(Arc::new(loaded)))?;
        }
        Ok(())
    })
}

/// `remit_cedar_finding`.
#[repr(C)]
pub struct FindingView {
    kind: FindingKind,
    source: u32,
    offset: usize,
    length: usize,
    policy: Str,
    message: Str,
    help: Str,
}

impl FindingView {
    fn of(finding: &Finding) -> Self {
        FindingView {
            kind: finding.kind,
            source: finding.source,
            offset: finding.offset,
            length: finding.length,
            policy: Str::of(&finding.policy),
            message: Str::of(&finding.message),
            help: Str::of(&finding.help),
        }
    }
}

#[no_mangle]
pub unsafe extern "C" fn remit_cedar_report_size(report: *const Report) -> u32 {
    unsafe { report.as_ref() }.map_or(0, |report| report.findings().len() as u32)
}

#[no_mangle]
pub unsafe extern "C" fn remit_cedar_report_omitted(report: *const Report) -> u32 {
    unsafe { report.as_ref() }.map_or(0, |report| u32::try_from(report.omitted()).unwrap_or(u32::MAX))
}

#[no_mangle]
pub unsafe extern "C" fn remit_cedar_report_get(
    report: *const Report,
    number: u32,
    finding: *mut FindingView,
) -> Status {
    guard(|| unsafe {
        let found = pick(borrow(report)?.findings(), number)?;
        store(finding, FindingView::of(found))
    })
}

#[no_mangle]
pub unsafe extern "C" fn remit_cedar_report_free(report: *mut Report) {
    quietly(|| {
        if !report.is_null() {
            drop(unsafe { Box::from_raw(report) });
        }
    });
}

#[no_mangle]
pub unsafe extern "C" fn remit_cedar_engine_retain(engine: *const Engine) {
    quietly(|| {
        if !engine.is_null() {
            unsafe { Arc::increment_strong_count(engine) };
        }
    });
}

#[no_mangle]
pub unsafe extern "C" fn remit_cedar_engine_release(engine: *const Engine) {
    quietly(|| {
        if !engine.is_null() {
            drop(unsafe { Arc::from_raw(engine) });
        }
    });
}

#[no_mangle]
pub unsafe extern "C" fn remit_cedar_engine_description(engine: *const Engine) -> Str {
    unsafe { engine.as_ref() }.map_or(Str::empty(), |engine| Str::of(&engine.description))
}

#[no_mangle]
pub unsafe extern "C" fn remit_cedar_engine_policy_count(engine: *const Engine) -> u32 {
    unsafe { engine.as_ref() }.map_or(0, |engine| engine.policies.len() as u32)
}

/// `remit_cedar_policy`.
#[repr(C)]
pub struct PolicyView {
    id: Str,
    reason: Str,
    has_reason: bool,
    forbids: bool,
    source: u32,
    offset: usize,
}

#[no_mangle]
pub unsafe extern "C" fn remit_cedar_engine_policy(
    engine: *const Engine,
    number: u32,
    policy: *mut PolicyView,
) -> Status {
    guard(|| unsafe {
        let found = pick(&borrow(engine)?.policies, number)?;
        let view = PolicyView {
            id: Str::of(&found.id),
            reason: Str::of(found.reason.as_deref().unwrap_or_default()),
            has_reason: found.reason.is_some(),
            forbids: found.forbids,
            source: found.source,
            offset: found.offset,
        };
        store(policy, view)
    })
}

#[no_mangle]
pub unsafe extern "C" fn remit_cedar_engine_standing(
    engine: *const Engine,
    action: u32,
    permitted: *mut bool,
    forbidden: *mut bool,
) -> Status {
    guard(|| unsafe {
        let found = *pick(&borrow(engine)?.standings, action)?;
        store(permitted, found.permitted)?;
        store(forbidden, found.forbidden)
    })
}

#[no_mangle]
pub unsafe extern "C" fn remit_cedar_request_new(
    engine: *const Engine,
    request: *mut *mut Request,
) -> Status {
    guard(|| unsafe {
        store(request, std::ptr::null_mut())?;
        borrow(engine)?;
        Arc::increment_strong_count(engine);
        let engine = Arc::from_raw(engine);
        store(request, Box::into_raw(Box::new(Request::new(engine))))
    })
}

#[no_mangle]
pub unsafe extern "C" fn remit_cedar_request_free(request: *mut Request) {
    quietly(|| {
        if !request.is_null() {
            drop(unsafe { Box::from_raw(request) });
        }
    });
}

unsafe fn step(request: *mut Request, body: impl FnOnce(&mut Request) -> Outcome<()>) -> Status {
    guard(|| unsafe { borrow_mut(request) }?.step(body))
}

#[no_mangle]
pub unsafe extern "C" fn remit_cedar_request_principal(
    request: *mut Request,
    entity_type: u32,
    id: Str,
) -> Status {
    unsafe { step(request, |r| r.begin(Target::Principal, entity_type, id.get()?)) }
}

#[no_mangle]
pub unsafe extern "C" fn remit_cedar_request_resource(
    request: *mut Request,
    entity_type: u32,
    id: Str,
) -> Status {
    unsafe { step(request, |r| r.begin(Target::Resource, entity_type, id.get()?)) }
}

#[no_mangle]
pub unsafe extern "C" fn remit_cedar_request_context(request: *mut Request) -> Status {
    unsafe { step(request, Request::begin_context) }
}

#[no_mangle]
pub unsafe extern "C" fn remit_cedar_request_ancestor(
    request: *mut Request,
    entity_type: u32,
    id: Str,
) -> Status {
    unsafe { step(request, |r| r.ancestor(entity_type, id.get()?)) }
}

#[no_mangle]
pub unsafe extern "C" fn remit_cedar_put_bool(request: *mut Request, key: Str, value: bool) -> Status {
    unsafe { step(request, |r| r.put(key.get()?, Value::new(value, None))) }
}

#[no_mangle]
pub unsafe extern "C" fn remit_cedar_put_long(request: *mut Request, key: Str, value: i64) -> Status {
    unsafe { step(request, |r| r.put(key.get()?, Value::new(value, None))) }
}

#[no_mangle]
pub unsafe extern "C" fn remit_cedar_put_string(request: *mut Request, key: Str, value: Str) -> Status {
    unsafe { step(request, |r| r.put(key.get()?, Value::new(value.get()?, None))) }
}

#[no_mangle]
pub unsafe extern "C" fn remit_cedar_put_entity(
    request: *mut Request,
    key: Str,
    entity_type: u32,
    id: Str,
) -> Status {
    unsafe { step(request, |r| r.put_entity(key.get()?, entity_type, id.get()?)) }
}

#[no_mangle]
pub unsafe extern "C" fn remit_cedar_put_extension(
    request: *mut Request,
    key: Str,
    kind: u32,
    text: Str,
) -> Status {
    let kind = Extension::from_code(kind).ok_or_else(|| Failure::misuse("no such extension"));
    unsafe { step(request, |r| r.put_extension(key.get()?, kind?, text.get()?)) }
}

#[no_mangle]
pub unsafe extern "C" fn remit_cedar_open_record(request: *mut Request, key: Str) -> Status {
    unsafe { step(request, |r| r.open(key.get()?, false)) }
}

#[no_mangle]
pub unsafe extern "C" fn remit_cedar_open_set(request: *mut Request, key: Str) -> Status {
    unsafe { step(request, |r| r.open(key.get()?, true)) }
}

#[no_mangle]
pub unsafe extern "C" fn remit_cedar_close(request: *mut Request) -> Status {
    unsafe { step(request, Request::close) }
}

/// `remit_cedar_verdict`.
#[repr(C)]
pub struct VerdictView {
    allows: bool,
    permits: *const u32,
    permit_count: usize,
    forbids: *const u32,
    forbid_count: usize,
    error_count: usize,
}

#[no_mangle]
pub unsafe extern "C" fn remit_cedar_decide(
    request: *mut Request,
    action: u32,
    verdict: *mut VerdictView,
) -> Status {
    guard(|| unsafe {
        let request = borrow_mut(request)?;
        request.decide(action)?;
        let found = &request.verdict;
        let view = VerdictView {
            allows: found.allows(),
            permits: found.permits.as_ptr(),
            permit_count: found.permits.len(),
            forbids: found.forbids.as_ptr(),
            forbid_count: found.forbids.len(),
            error_count: found.errors.len(),
        };
        store(verdict, view)
    })
}

#[no_mangle]
pub unsafe extern "C" fn remit_cedar_verdict_error(
    request: *const Request,
    number: u32,
    policy: *mut u32,
    kind: *mut Str,
) -> Status {
    guard(|| unsafe {
        let (failed, what) = *pick(&borrow(request)?.verdict.errors, number)?;
        store(policy, failed)?;
        store(kind, Str::of(what))
    })
}
