//! Bounds on policy and schema text, checked before Cedar's recursive parser sees it.
//!
//! A stack overflow kills the process and no guard catches it. Every level of recursion in Cedar's parser, type
//! checker and evaluator costs at least one bracket or operator of the text, so counting them bounds the depth.

use super::report::{Finding, FindingKind};

/// `remit_cedar_limits`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub max_policies: u32,
    pub max_policy_bytes: u32,
    pub max_schema_bytes: u32,
    pub max_nesting: u32,
    pub max_operators: u32,
    pub max_request_types: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            max_policies: 20_000,
            max_policy_bytes: 4 << 10,
            max_schema_bytes: 4 << 20,
            max_nesting: 64,
            max_operators: 256,
            max_request_types: 100_000,
        }
    }
}

/// A piece of text that matters for depth, and where it stands.
enum Mark {
    Open,
    Close,
    Operator,
    EndOfStatement,
    Other,
}

/// Splits text into marks; strings and comments are skipped, words are one mark.
struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    angles: bool,
}

impl Scanner<'_> {
    fn skip_string(&mut self) {
        self.at += 1;
        while let Some(&c) = self.bytes.get(self.at) {
            self.at += if c == b'\\' { 2 } else { 1 };
            if c == b'"' {
                return;
            }
        }
        self.at = self.bytes.len();
    }

    fn skip_comment(&mut self) {
        while self.bytes.get(self.at).is_some_and(|&c| c != b'\n') {
            self.at += 1;
        }
    }

    fn word(&mut self) -> Mark {
        let start = self.at;
        while self.bytes.get(self.at).is_some_and(|c| c.is_ascii_alphanumeric() || *c == b'_') {
            self.at += 1;
        }
        match &self.bytes[start..self.at] {
            b"if" | b"in" | b"is" | b"has" | b"like" => Mark::Operator,
            _ => Mark::Other,
        }
    }

    /// The next mark and its offset; white space and comments have none.
    fn next(&mut self) -> Option<(usize, Mark)> {
        loop {
            let start = self.at;
            let c = *self.bytes.get(start)?;
            let mark = match c {
                b'/' if self.bytes.get(start + 1) == Some(&b'/') => {
                    self.skip_comment();
                    continue;
                }
                c if c.is_ascii_whitespace() => {
                    self.at += 1;
                    continue;
                }
                b'"' => {
                    self.skip_string();
                    return Some((start, Mark::Other));
                }
                c if c.is_ascii_alphanumeric() || c == b'_' => return Some((start, self.word())),
                b'<' if self.angles => Mark::Open,
                b'>' if self.angles => Mark::Close,
                b'(' | b'[' | b'{' => Mark::Open,
                b')' | b']' | b'}' => Mark::Close,
                b';' => Mark::EndOfStatement,
                b',' | b':' | b'@' => Mark::Other,
                b'=' | b'!' | b'<' | b'>' | b'&' | b'|' => {
                    // `==`, `!=`, `<=`, `>=`, `&&` and `||` are one operator each; `!!` is two.
                    let second = if matches!(c, b'&' | b'|') { c } else { b'=' };
                    self.at += usize::from(self.bytes.get(start + 1) == Some(&second));
                    Mark::Operator
                }
                _ => Mark::Operator,
            };
            self.at += 1;
            return Some((start, mark));
        }
    }
}

fn limit(source: u32, offset: usize, message: String) -> Finding {
    Finding::new(FindingKind::Limit, message).at(source, offset, 1)
}

/// Checks every policy of one source; `policies` counts on over sources. Stops at the first excess.
pub fn check_policies(source: u32, text: &str, limits: &Limits, policies: &mut u32) -> Result<(), Finding> {
    let mut scanner = Scanner { bytes: text.as_bytes(), at: 0, angles: false };
    let (mut start, mut depth, mut operators) = (None, 0u32, 0u32);
    while let Some((offset, mark)) = scanner.next() {
        let first = *start.get_or_insert(offset);
        if scanner.at - first > limits.max_policy_bytes as usize {
            let message = format!("policy is longer than {} bytes", limits.max_policy_bytes);
            return Err(limit(source, first, message));
        }
        match mark {
            Mark::Open => depth += 1,
            Mark::Close => depth = depth.saturating_sub(1),
            Mark::Operator => {}
            Mark::EndOfStatement => {
                (start, depth, operators) = (None, 0, 0);
                *policies += 1;
                if *policies > limits.max_policies {
                    let message = format!("more than {} policies", limits.max_policies);
                    return Err(limit(source, offset, message));
                }
                continue;
            }
            Mark::Other => continue,
        }
        operators += u32::from(!matches!(mark, Mark::Close));
        if depth > limits.max_nesting {
            let message = format!("brackets are nested deeper than {}", limits.max_nesting);
            return Err(limit(source, offset, message));
        }
        if operators > limits.max_operators {
            let message = format!("policy has more than {} operators", limits.max_operators);
            return Err(limit(source, offset, message));
        }
    }
    Ok(())
}

/// Checks the size and the bracket nesting of schema text.
pub fn check_schema(text: &str, limits: &Limits) -> Result<(), Finding> {
    let refuse = |offset, message| Err(limit(super::report::SCHEMA_SOURCE, offset, message));
    if text.len() > limits.max_schema_bytes as usize {
        return refuse(0, format!("schema is longer than {} bytes", limits.max_schema_bytes));
    }
    let mut scanner = Scanner { bytes: text.as_bytes(), at: 0, angles: true };
    let mut depth = 0u32;
    while let Some((offset, mark)) = scanner.next() {
        match mark {
            Mark::Open => depth += 1,
            Mark::Close => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > limits.max_nesting {
            return refuse(offset, format!("brackets are nested deeper than {}", limits.max_nesting));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> Option<(usize, String)> {
        let mut policies = 0;
        let found = check_policies(0, text, &Limits::default(), &mut policies);
        found.err().map(|f| (f.offset, f.message))
    }

    fn policy(condition: &str) -> String {
        format!("permit(principal, action, resource) when {{ {condition} }};")
    }

    #[test]
    fn counts_nesting_and_operators() {
        let deep = |n: usize| policy(&format!("{}true{}", "(".repeat(n), ")".repeat(n)));
        assert_eq!(message(&deep(63)), None);
        assert_eq!(message(&deep(64)).unwrap().1, "brackets are nested deeper than 64");
        for chain in [".a", " + 1", " && true", " || true", "[\"a\"]", " == 1"] {
            assert_eq!(message(&policy(&format!("context{}", chain.repeat(240)))), None, "{chain}");
            assert!(message(&policy(&format!("context{}", chain.repeat(257)))).is_some(), "{chain}");
        }
        let chained_if = policy(&format!("{}true", "if a then b else ".repeat(257)));
        assert!(message(&chained_if).is_some());
        assert!(message(&policy(&format!("{}true", "!".repeat(257)))).is_some());
    }

    #[test]
    fn strings_and_comments_do_not_count() {
        let text =
            format!("// {}\n{}", "(".repeat(900), policy(&format!("\"{}\\\"((\" == \"\"", "(".repeat(900))));
        assert_eq!(message(&text), None);
    }

    #[test]
    fn each_policy_has_its_own_bounds() {
        let one = policy("context.a.b.c.d == 1");
        assert_eq!(message(&one.repeat(5_000)), None);
        let long = policy(&format!("\"{}\" == \"\"", "x".repeat(4_096)));
        let (offset, text) = message(&format!("  {one}\n{long}")).unwrap();
        assert_eq!((offset, text.as_str()), (one.len() + 3, "policy is longer than 4096 bytes"));
        assert!(message(&one.repeat(20_001)).unwrap().1.contains("more than 20000 policies"));
    }

    #[test]
    fn schema_nesting_counts_angle_brackets() {
        let nested = |n: usize| format!("type A = {}Long{};", "Set<".repeat(n), ">".repeat(n));
        assert!(check_schema(&nested(64), &Limits::default()).is_ok());
        assert!(check_schema(&nested(65), &Limits::default()).is_err());
        assert!(check_schema(&" ".repeat((4 << 20) + 1), &Limits::default()).is_err());
    }
}
