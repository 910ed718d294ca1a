//! Samples to look at: a table, code in several languages, and as many paragraphs as wanted.

pub(super) const TABLE: &str = "\
| Agent | Speaks | Needs a key | First word |
| :-- | :-: | :-: | --: |
| Demo | **Markdown** | no | 25 ms |
| Local model | `chat/completions` | no | 400 ms |
| Hosted agent | *its own protocol* | yes | 800 ms |
| A name that is much longer than the others | text | ~~yes~~ no | 1,200 ms |
";

/// Shows a piece of code; a language without a sample of its own gets one that says so.
pub(super) fn code(language: &str) -> String {
    let sample = match language {
        "rust" | "rs" => RUST,
        "python" | "py" => PYTHON,
        "javascript" | "js" | "typescript" | "ts" => JAVASCRIPT,
        "sh" | "bash" | "shell" => SHELL,
        "json" => JSON,
        "sql" => SQL,
        "html" => HTML,
        "css" => CSS,
        "toml" => TOML,
        "diff" => DIFF,
        _ => PLAIN,
    };
    format!("```{language}\n{sample}\n```\n")
}

const RUST: &str = r#"use std::collections::BTreeMap;

/// Counts how often each word occurs.
fn count(text: &str) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for word in text.split_whitespace() {
        *counts.entry(word).or_insert(0) += 1; // every word once
    }
    counts
}"#;

const PYTHON: &str = r#"from collections import Counter


def count(text: str) -> Counter:
    """Counts how often each word occurs."""
    return Counter(word.lower() for word in text.split())  # every word once


print(count("to be or not to be").most_common(2))"#;

const JAVASCRIPT: &str = r#"// Counts how often each word occurs.
export function count(text) {
  const counts = new Map();
  for (const word of text.split(/\s+/)) {
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return counts;
}"#;

const SHELL: &str = r#"#!/bin/sh
# Counts how often each word occurs.
set -eu
tr -s '[:space:]' '\n' < "${1:-/dev/stdin}" | sort | uniq -c | sort -rn | head -n 10"#;

const JSON: &str = r#"{
  "text": "to be or not to be",
  "counts": { "to": 2, "be": 2, "or": 1, "not": 1 },
  "complete": true,
  "error": null
}"#;

const SQL: &str = r#"-- Counts how often each word occurs.
SELECT word, COUNT(*) AS times
FROM words
WHERE length(word) > 1
GROUP BY word
ORDER BY times DESC, word
LIMIT 10;"#;

const HTML: &str = r#"<!-- A list of words -->
<ul class="words">
  <li data-times="2">to &amp; be</li>
  <li data-times="1"><em>or</em></li>
</ul>"#;

const CSS: &str = r#"/* A list of words */
.words > li[data-times="2"] {
  color: oklch(60% 0.15 250);
  margin-block: 0.5rem;
}"#;

const TOML: &str = r#"# What to count
[words]
text = "to be or not to be"
shortest = 2
ignore = ["or", "not"]"#;

const DIFF: &str = r#"--- a/words.txt
+++ b/words.txt
@@ -1,2 +1,2 @@
-to be or not to bee
+to be or not to be
 that is the question"#;

const PLAIN: &str = "to be or not to be
    that is the question";

const SUBJECTS: [&str; 5] =
    ["A conversation", "The agent", "Your phone", "A slow network", "The second tab"];

const DEEDS: [&str; 7] = [
    "goes on where it stopped",
    "waits for nobody",
    "shows the **same words** on every device",
    "forgets nothing that was `sent`",
    "comes back after the tunnel",
    "is read *twice* and written once",
    "stays quiet until it is asked",
];

const ENDS: [&str; 3] = ["even at night", "as it should", "whatever happens next"];

/// Writes one numbered block of Markdown and the blank line after it; the kinds take turns.
pub(super) fn paragraph(number: u32) -> String {
    let block = match number % 8 {
        2 => format!(
            "- {}\n- {}\n  - {}",
            sentence(number),
            sentence(number + 1),
            sentence(number + 2)
        ),
        3 => format!("> {}", prose(number)),
        4 => format!("```rust\nlet paragraph = {number}; // {}\n```", sentence(number)),
        5 => format!("1. {}\n2. {}", sentence(number), sentence(number + 3)),
        6 => format!("| Place | Words |\n| ---: | --- |\n| {number} | {} |", sentence(number)),
        7 => format!("- [x] {}\n- [ ] {}", sentence(number), sentence(number + 5)),
        0 => format!("### Part {number}"),
        _ => prose(number),
    };
    format!("**{number}.**\n\n{block}\n\n")
}

fn prose(number: u32) -> String {
    let sentences: Vec<String> =
        (0..3 + number % 3).map(|place| sentence(number + 2 * place)).collect();
    sentences.join(" ")
}

fn sentence(number: u32) -> String {
    let pick = |phrases: &[&'static str], place: u32| {
        phrases.get(place as usize % phrases.len()).copied().unwrap_or_default()
    };
    format!("{} {}, {}.", pick(&SUBJECTS, number), pick(&DEEDS, number), pick(&ENDS, number / 2))
}
