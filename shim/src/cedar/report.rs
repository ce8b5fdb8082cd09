//! What loading says about policy and schema text: findings with their place, never more than a bounded number.

use miette::Diagnostic;

/// Stands for the schema where a finding names its source by index.
pub const SCHEMA_SOURCE: u32 = u32::MAX;

/// Findings kept at most; the rest are counted.
const MAX_FINDINGS: usize = 64;
const MAX_MESSAGE_BYTES: usize = 1_024;

/// `remit_cedar_finding_kind`.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FindingKind {
    Warning = 0,
    Syntax = 1,
    Schema = 2,
    Validation = 3,
    Limit = 4,
    Annotation = 5,
}

#[derive(Clone, Debug)]
pub struct Finding {
    pub kind: FindingKind,
    pub source: u32,
    pub offset: usize,
    pub length: usize,
    pub policy: String,
    pub message: String,
    pub help: String,
}

fn cut(mut text: String) -> String {
    if text.len() > MAX_MESSAGE_BYTES {
        let end = (0..=MAX_MESSAGE_BYTES).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(0);
        text.truncate(end);
        text.push_str("...");
    }
    text
}

impl Finding {
    pub fn new(kind: FindingKind, message: impl Into<String>) -> Self {
        Finding {
            kind,
            source: SCHEMA_SOURCE,
            offset: 0,
            length: 0,
            policy: String::new(),
            message: cut(message.into()),
            help: String::new(),
        }
    }

    pub fn at(mut self, source: u32, offset: usize, length: usize) -> Self {
        (self.source, self.offset, self.length) = (source, offset, length);
        self
    }

    pub fn about(mut self, policy: &str) -> Self {
        self.policy = cut(policy.to_owned());
        self
    }

    /// A finding from one of Cedar's diagnostics; the place is its first label, or (0, 0) where it has none.
    pub fn from_diagnostic(kind: FindingKind, source: u32, error: &dyn Diagnostic) -> Self {
        let label = error.labels().and_then(|mut labels| labels.next());
        let (offset, length) = label.map_or((0, 0), |l| (l.offset(), l.len()));
        let mut finding = Finding::new(kind, error.to_string()).at(source, offset, length);
        finding.help = cut(error.help().map(|h| h.to_string()).unwrap_or_default());
        finding
    }
}

/// The findings of one load; an engine exists only if none of them is more than a warning.
#[derive(Default)]
pub struct Report {
    findings: Vec<Finding>,
    omitted: usize,
    errors: usize,
}

impl Report {
    pub fn add(&mut self, finding: Finding) {
        let error = finding.kind != FindingKind::Warning;
        self.errors += usize::from(error);
        if self.findings.len() < MAX_FINDINGS {
            self.findings.push(finding);
            return;
        }
        self.omitted += 1;
        // An error must not hide behind warnings.
        if error && !self.findings.iter().any(|f| f.kind != FindingKind::Warning) {
            self.findings[0] = finding;
        }
    }

    pub fn failed(&self) -> bool {
        self.errors > 0
    }

    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    pub fn omitted(&self) -> usize {
        self.omitted
    }

    /// Puts findings in order of place, so that the same text always gives the same report.
    pub fn sort(&mut self) {
        self.findings.sort_by(|a, b| {
            let key = |f: &Finding| (f.source, f.offset, f.length, f.kind as u32);
            key(a).cmp(&key(b)).then_with(|| a.message.cmp(&b.message))
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_never_hidden_by_warnings() {
        let mut report = Report::default();
        for i in 0..100 {
            report.add(Finding::new(FindingKind::Warning, format!("warning {i}")));
        }
        assert!(!report.failed());
        report.add(Finding::new(FindingKind::Syntax, "error"));
        assert!(report.failed());
        assert_eq!((report.findings().len(), report.omitted()), (64, 37));
        assert!(report.findings().iter().any(|f| f.message == "error"));
    }

    #[test]
    fn messages_are_cut_at_a_character() {
        let finding = Finding::new(FindingKind::Syntax, "é".repeat(2_000));
        assert!(finding.message.len() <= MAX_MESSAGE_BYTES + 3 && finding.message.ends_with("..."));
    }
}
