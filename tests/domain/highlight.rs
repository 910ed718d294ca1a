//! Highlighting: what is coloured, and that no character is lost.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use throughline::domain::highlight::{Line, Token, highlight};

/// Compares a dump in which every span but plain ones is `mark(text)`.
#[track_caller]
fn check(language: &str, code: &str, expected: &str) {
    let lines: Vec<String> = highlight(language, code).iter().map(dump).collect();
    assert_eq!(lines.join("\n"), expected, "for {language} {code:?}");
}

fn dump(line: &Line) -> String {
    let mut text = String::new();
    for span in line {
        let mark = match span.token {
            Token::Plain => {
                text.push_str(&span.text);
                continue;
            }
            Token::Keyword => 'k',
            Token::Text => 't',
            Token::Comment => 'c',
            Token::Number => 'd',
            Token::Name => 'n',
            Token::Added => '+',
            Token::Removed => '-',
            Token::Heading => '@',
        };
        text.push_str(&format!("{mark}⟨{}⟩", span.text));
    }
    text
}

fn joined(lines: &[Line]) -> String {
    let lines: Vec<String> =
        lines.iter().map(|line| line.iter().map(|span| span.text.as_str()).collect()).collect();
    lines.join("\n")
}

const LANGUAGES: [&str; 18] = [
    "rust",
    "js",
    "python",
    "go",
    "cpp",
    "bash",
    "json",
    "yaml",
    "sql",
    "ruby",
    "php",
    "lua",
    "css",
    "html",
    "diff",
    "dockerfile",
    "",
    "unknown",
];

#[test]
fn rust() {
    check("rust", "pub fn main() {}", "k⟨pub⟩ k⟨fn⟩ n⟨main⟩() {}");
    check(
        "rs",
        "let x: Vec<u8> = vec![1_000u32, 0..2.5];",
        "k⟨let⟩ x: n⟨Vec⟩<k⟨u8⟩> = n⟨vec⟩![d⟨1_000u32⟩, d⟨0⟩..d⟨2.5⟩];",
    );
    check("rust", "// one\nx /* two\nthree */ y", "c⟨// one⟩\nx c⟨/* two⟩\nc⟨three */⟩ y");
    check("rust", "fn a<'a>(b: &'a str) -> 'static", "k⟨fn⟩ a<'a>(b: &'a k⟨str⟩) -> 'k⟨static⟩");
    check("rust", r"['a', '\n', '\'', 'ä', b'x']", r"[t⟨'a'⟩, t⟨'\n'⟩, t⟨'\''⟩, t⟨'ä'⟩, bt⟨'x'⟩]");
    check("rust", "\"a \\\" b\nc\" d", "t⟨\"a \\\" b⟩\nt⟨c\"⟩ d");
    check("rust", "r#\"a \"b\"\nc\"# d br\"e\\\" f", "t⟨r#\"a \"b\"⟩\nt⟨c\"#⟩ d t⟨br\"e\\\"⟩ f");
    check("rust", "#[derive(Debug)]", "#[n⟨derive⟩(n⟨Debug⟩)]");
    check("rust,ignore", "fn", "k⟨fn⟩");
}

#[test]
fn scripts() {
    check(
        "ts",
        "const a: string = `b\n${c}`; // d",
        "k⟨const⟩ a: k⟨string⟩ = t⟨`b⟩\nt⟨${c}`⟩; c⟨// d⟩",
    );
    check("JavaScript", "$el.on('x', () => null)", "n⟨$el⟩.n⟨on⟩(t⟨'x'⟩, () => k⟨null⟩)");
    check("jsx", "<p>don't</p> 'a'", "<p>don't</p> t⟨'a'⟩");
    check("js", "'open\nlet", "t⟨'open⟩\nk⟨let⟩");
    check(
        "py",
        "def f(x):\n  \"\"\"a\n  'b'\"\"\"  # c",
        "k⟨def⟩ n⟨f⟩(x):\n  t⟨\"\"\"a⟩\nt⟨  'b'\"\"\"⟩  c⟨# c⟩",
    );
    check("python", "@app.get(f\"{x}\")", "n⟨@app⟩.n⟨get⟩(ft⟨\"{x}\"⟩)");
    check("ruby", "@a = b.map { |c| c } # d", "n⟨@a⟩ = b.map { |c| c } c⟨# d⟩");
    check("php", "<?php echo $a; # b", "<?k⟨php⟩ k⟨echo⟩ n⟨$a⟩; c⟨# b⟩");
    check("lua", "--[[ a\nb ]] local c -- d", "c⟨--[[ a⟩\nc⟨b ]]⟩ k⟨local⟩ c c⟨-- d⟩");
}

#[test]
fn shells() {
    check(
        "sh",
        "for a in $B; do echo \"$#\" 'c\nd'; done # e",
        "k⟨for⟩ a k⟨in⟩ n⟨$B⟩; k⟨do⟩ k⟨echo⟩ t⟨\"$#\"⟩ t⟨'c⟩\nt⟨d'⟩; k⟨done⟩ c⟨# e⟩",
    );
    check("bash", "a=${#b} it's", "a=$\u{7b}#b} it's");
    check("Dockerfile", "FROM rust:1 # a", "k⟨FROM⟩ rust:d⟨1⟩ c⟨# a⟩");
}

#[test]
fn compiled_languages() {
    check("go", "func f(a int) `b\nc` 'd'", "k⟨func⟩ n⟨f⟩(a k⟨int⟩) t⟨`b⟩\nt⟨c`⟩ t⟨'d'⟩");
    check(
        "c++",
        "#include <a>\nint x = 0xFFu; // y",
        "#k⟨include⟩ <a>\nk⟨int⟩ x = d⟨0xFFu⟩; c⟨// y⟩",
    );
    check("java", "/** a\n */ String s = \"b\";", "c⟨/** a⟩\nc⟨ */⟩ n⟨String⟩ s = t⟨\"b\"⟩;");
    check("kotlin", "val a = \"\"\"b\nc\"\"\"", "k⟨val⟩ a = t⟨\"\"\"b⟩\nt⟨c\"\"\"⟩");
}

#[test]
fn data() {
    check("json", "{\"a\": [1, \"b\", null]}", "{n⟨\"a\"⟩: [d⟨1⟩, t⟨\"b\"⟩, k⟨null⟩]}");
    check("yaml", "a-b: it's # c\nd: https://e", "n⟨a-b⟩: it's c⟨# c⟩\nn⟨d⟩: https://e");
    check("toml", "[a]\nb = '''c\nd'''", "[a]\nn⟨b⟩ = t⟨'''c⟩\nt⟨d'''⟩");
    check(
        "sql",
        "SELECT count(*) from t where a = 'it''s' -- b",
        "k⟨SELECT⟩ count(*) k⟨from⟩ t k⟨where⟩ a = t⟨'it''s'⟩ c⟨-- b⟩",
    );
    check(
        "css",
        "@media (x) { .a-b { color: #fff; width:10px } }",
        "k⟨@media⟩ (x) { .a-b { n⟨color⟩: #fff; n⟨width⟩:d⟨10px⟩ } }",
    );
}

#[test]
fn tags() {
    check("html", "<p class=\"a\" b>c 'd'</p>", "k⟨<p⟩ n⟨class⟩=t⟨\"a\"⟩ n⟨b⟩>c 'd'k⟨</p⟩>");
    check("xml", "<!-- a\nb --><c:d e='>'/>", "c⟨<!-- a⟩\nc⟨b -->⟩k⟨<c:d⟩ n⟨e⟩=t⟨'>'⟩/>");
    check("html", "1 < 2 <br", "1 < 2 k⟨<br⟩");
    check("html", "<!doctype html>", "k⟨<!doctype⟩ n⟨html⟩>");
}

#[test]
fn diffs() {
    check(
        "diff",
        "diff --git a b\n--- a/x\n+++ b/x\n@@ -1 +1 @@ fn\n a\n-b\n+c\n--- d\n",
        "@⟨diff --git a b⟩\n@⟨--- a/x⟩\n@⟨+++ b/x⟩\n@⟨@@ -1 +1 @@ fn⟩\n a\n-⟨-b⟩\n+⟨+c⟩\n-⟨--- d⟩\n",
    );
}

#[test]
fn unknown_languages_stay_plain() {
    check("", "fn \"a\" // b\n", "fn \"a\" // b\n");
    check("brainfuck", "let", "let");
    assert_eq!(highlight("rust", ""), [Line::new()]);
}

#[test]
fn hostile_code_takes_bounded_time() {
    let patterns = [
        "'", "\"", "`", "\\'", "\\\"", "'\\", "r#\"", "r#", "/*", "//", "#", "<", "<!--", "<a ",
        "<a '", "a", "1.", "$", "@", "a:", "  :", "\n", "\"\"\"", "[[", "--", "é", "b'",
    ];
    for language in LANGUAGES {
        for pattern in patterns {
            let code = pattern.repeat(20_000 / pattern.len());
            let started = Instant::now();
            highlight(language, &code);
            let elapsed = started.elapsed();
            assert!(elapsed < Duration::from_secs(3), "{language} {pattern:?} took {elapsed:?}");
        }
    }
}

fn code() -> impl Strategy<Value = String> {
    let fragments = [
        "a", "fn", "let ", "if(", "Foo", " ", "\n", "\r\n", "\t", "'", "\"", "`", "\"\"\"", "'''",
        "\\", "/*", "*/", "//", "#", "--", "--[[", "]]", "r#\"", "\"#", "<", "</p>", "<!--", "-->",
        "1", "2.5", "$x", "@y", "é", "中", ":", "=", "{", "}", "(", "\0", "+", "-", "@@", "+++ ",
        "--- ", "b'", "!(",
    ];
    prop::collection::vec(prop::sample::select(fragments.to_vec()), 0..40)
        .prop_map(|parts| parts.concat())
}

fn config() -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig { cases: default.cases * 8, failure_persistence: None, ..default }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn lines_join_to_the_code(
        language in prop::sample::select(LANGUAGES.to_vec()),
        code in prop_oneof![2 => code(), 1 => any::<String>()],
    ) {
        let lines = highlight(language, &code);
        prop_assert_eq!(joined(&lines), code);
        prop_assert!(lines.iter().flatten().all(|span| !span.text.is_empty() && !span.text.contains('\n')));
    }
}
