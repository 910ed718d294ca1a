//! Markdown: what people see of it, what hostile text cannot do, and that a growing text parses
//! like a whole one.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use throughline::domain::markdown::{Alignment, Block, Document, Inline, Item, parse, plain_text};

/// Compares a compact dump of the parsed text: blocks are `name(…)`, inlines `name{…}`.
#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(dump(&parse(text)), expected, "for {text:?}");
}

fn dump(blocks: &[Block]) -> String {
    let dumped: Vec<String> = blocks.iter().map(dump_block).collect();
    dumped.join(" ")
}

fn dump_block(block: &Block) -> String {
    match block {
        Block::Heading { level, content } => format!("h{level}({})", dump_inlines(content)),
        Block::Paragraph(content) => format!("p({})", dump_inlines(content)),
        Block::Code { language, title, text } => {
            let info = [language.as_str(), title.as_str()].join(" ");
            format!("code[{}]({})", info.trim_end(), text.replace('\n', "⏎"))
        }
        Block::Quote(blocks) => format!("quote({})", dump(blocks)),
        Block::List { start, tight, items } => {
            let name = start.map_or("ul".to_owned(), |start| format!("ol{start}"));
            let loose = if *tight { "" } else { "+" };
            let items: Vec<String> = items.iter().map(dump_item).collect();
            format!("{name}{loose}({})", items.join(" "))
        }
        Block::Table { alignments, head, rows } => {
            let alignments: String = alignments.iter().map(dump_alignment).collect();
            let rows: Vec<String> =
                [head].into_iter().chain(rows).map(|row| dump_row(row)).collect();
            format!("table[{alignments}]({})", rows.join(" / "))
        }
        Block::Rule => "hr".to_owned(),
    }
}

fn dump_item(item: &Item) -> String {
    let mark = match item.task {
        None => "",
        Some(false) => "[ ]",
        Some(true) => "[x]",
    };
    format!("li{mark}({})", dump(&item.blocks))
}

fn dump_alignment(alignment: &Alignment) -> char {
    match alignment {
        Alignment::None => '-',
        Alignment::Left => '<',
        Alignment::Center => '^',
        Alignment::Right => '>',
    }
}

fn dump_row(row: &[Vec<Inline>]) -> String {
    let cells: Vec<String> = row.iter().map(|cell| dump_inlines(cell)).collect();
    cells.join("|")
}

fn dump_inlines(inlines: &[Inline]) -> String {
    let mut text = String::new();
    for inline in inlines {
        match inline {
            Inline::Text(part) => text.push_str(&part.replace('\n', "⏎")),
            Inline::Code(code) => text.push_str(&format!("code{{{code}}}")),
            Inline::Emphasis(inner) => text.push_str(&format!("em{{{}}}", dump_inlines(inner))),
            Inline::Strong(inner) => text.push_str(&format!("strong{{{}}}", dump_inlines(inner))),
            Inline::Strike(inner) => text.push_str(&format!("del{{{}}}", dump_inlines(inner))),
            Inline::Link { target, title, content } => {
                text.push_str(&format!("a{{{} -> {target}", dump_inlines(content)));
                push_title(&mut text, title);
            }
            Inline::Image { target, title, alt } => {
                text.push_str(&format!("img{{{alt} -> {target}"));
                push_title(&mut text, title);
            }
            Inline::Break => text.push('↵'),
        }
    }
    text
}

fn push_title(text: &mut String, title: &str) {
    if !title.is_empty() {
        text.push_str(&format!(" '{title}'"));
    }
    text.push('}');
}

/// Collects the targets of all links and images.
fn targets(blocks: &[Block]) -> Vec<String> {
    let mut found = Vec::new();
    each_inline(blocks, &mut |inline| {
        if let Inline::Link { target, .. } | Inline::Image { target, .. } = inline {
            found.push(target.clone());
        }
    });
    found
}

fn each_inline(blocks: &[Block], visit: &mut dyn FnMut(&Inline)) {
    for block in blocks {
        match block {
            Block::Heading { content, .. } | Block::Paragraph(content) => walk(content, visit),
            Block::Quote(inner) => each_inline(inner, visit),
            Block::List { items, .. } => {
                items.iter().for_each(|item| each_inline(&item.blocks, visit));
            }
            Block::Table { head, rows, .. } => {
                head.iter().chain(rows.iter().flatten()).for_each(|cell| walk(cell, visit));
            }
            Block::Code { .. } | Block::Rule => {}
        }
    }
}

fn walk(inlines: &[Inline], visit: &mut dyn FnMut(&Inline)) {
    for inline in inlines {
        visit(inline);
        match inline {
            Inline::Emphasis(inner)
            | Inline::Strong(inner)
            | Inline::Strike(inner)
            | Inline::Link { content: inner, .. } => walk(inner, visit),
            _ => {}
        }
    }
}

/// Says, apart from the parser's own rule, whether a browser could do harm with a target.
fn is_harmless(target: &str) -> bool {
    let read: String = target
        .chars()
        .filter(|character| !character.is_control() && !character.is_whitespace())
        .collect::<String>()
        .to_lowercase();
    match read.split_once(':') {
        None => !read.starts_with("//"),
        Some((scheme, _)) if scheme.contains(['/', '?', '#']) => !read.starts_with("//"),
        Some((scheme, _)) => ["http", "https", "mailto"].contains(&scheme),
    }
}

/// Splits a fixture into its lines, in which pictures stand for control characters and spaces.
fn cases(fixture: &str) -> Vec<String> {
    let pictures = [("␀", "\0"), ("␁", "\u{1}"), ("␉", "\t"), ("␊", "\n"), ("␍", "\r"), ("␠", " ")];
    let read = |line: &str| {
        pictures.iter().fold(line.to_owned(), |line, (picture, meant)| line.replace(picture, meant))
    };
    fixture.lines().filter(|line| !line.is_empty()).map(read).collect()
}

#[test]
fn headings() {
    check("# One", "h1(One)");
    check("###### Six ##", "h6(Six)");
    check("####### Seven", "p(####### Seven)");
    check("#hash", "p(#hash)");
    check("#", "h1()");
    check("# C#", "h1(C#)");
    check("One\n===", "h1(One)");
    check("Two *x*\nlines\n---\nafter", "h2(Two em{x}⏎lines) p(after)");
    check("text\n# Head\ntext", "p(text) h1(Head) p(text)");
    check("text\n-", "p(text⏎-)");
    check("text\n-=", "p(text⏎-=)");
}

#[test]
fn paragraphs_and_breaks() {
    check("one\ntwo", "p(one⏎two)");
    check("one  \ntwo\\\nthree", "p(one↵two↵three)");
    check("one \n  two\n\n\nthree  ", "p(one⏎two) p(three)");
    check("one\r\ntwo\r\n\r\nthree", "p(one⏎two) p(three)");
    check("ends \\", "p(ends \\)");
    check("", "");
    check(" \n\t\n", "");
    check("a\n    b", "p(a⏎b)");
}

#[test]
fn code_blocks() {
    check("```rust\nfn a() {}\n\n  b\n```\nafter", "code[rust](fn a() {}⏎⏎  b) p(after)");
    check("~~~ js title=\"a.js\"\n```\n~~~", "code[js title=\"a.js\"](```)");
    check("````md\n```\n````", "code[md](```)");
    check("```\nunclosed\n``", "code[](unclosed⏎``)");
    check("```", "code[]()");
    check("``` a`b\nc", "p(``` a`b⏎c)");
    check("  ```\n  a\n    b\n c\n  ```", "code[](a⏎  b⏎c)");
    check("```go\n\tif x {\n```", "code[go](\tif x {)");
    check("    a\n\n\tb\n\nc", "code[](a⏎⏎b) p(c)");
    check("text\n```\na\n```\ntext", "p(text) code[](a) p(text)");
    check("```\r\na\r\n```\r\n", "code[](a)");
    check("```\n**a** <b> [c](d)\n```", "code[](**a** <b> [c](d))");
}

#[test]
fn quotes() {
    check("> a\n> b", "quote(p(a⏎b))");
    check("> a\nlazy\n\nafter", "quote(p(a⏎lazy)) p(after)");
    check("> a\n>\n> b", "quote(p(a) p(b))");
    check(">> deep\n> lazy\nlazier", "quote(quote(p(deep⏎lazy⏎lazier)))");
    check("> - a\n> - b\n>   c", "quote(ul(li(p(a)) li(p(b⏎c))))");
    check("> ```\n> a\n>  b\nout", "quote(code[](a⏎ b)) p(out)");
    check("> # Head\ntext", "quote(h1(Head)) p(text)");
    check("text\n> quote", "p(text) quote(p(quote))");
    check(">     code", "quote(code[](code))");
}

#[test]
fn lists() {
    check("- a\n- b", "ul(li(p(a)) li(p(b)))");
    check("* a\n\n* b", "ul+(li(p(a)) li(p(b)))");
    check("- a\n\n  b", "ul+(li(p(a) p(b)))");
    check("- a\n+ b", "ul(li(p(a))) ul(li(p(b)))");
    check("3. a\n4. b", "ol3(li(p(a)) li(p(b)))");
    check("1) a\n2. b", "ol1(li(p(a))) ol2(li(p(b)))");
    check("text\n- a", "p(text) ul(li(p(a)))");
    check("text\n2. a", "p(text⏎2. a)");
    check("The year\n1986. A great one", "p(The year⏎1986. A great one)");
    check("- a\nlazy\n- b", "ul(li(p(a⏎lazy)) li(p(b)))");
    check("- a\n\nafter", "ul(li(p(a))) p(after)");
    check("-\n  a\n-\n- c", "ul(li(p(a)) li() li(p(c)))");
    check("-\n\n  a", "ul(li()) p(a)");
    check("* a\n*\n\n* c", "ul+(li(p(a)) li() li(p(c)))");
    check("- # Head\n- > quote", "ul(li(h1(Head)) li(quote(p(quote))))");
    check("-a\n1.b", "p(-a⏎1.b)");
    check("1234567890. a", "p(1234567890. a)");
    check("- - - a", "ul(li(ul(li(ul(li(p(a)))))))");
    check("-     code", "ul(li(code[](code)))");
    check("-\ta\n-\tb", "ul(li(p(a)) li(p(b)))");
}

#[test]
fn nested_lists() {
    check("- a\n  - b\n    - c\n- d", "ul(li(p(a) ul(li(p(b) ul(li(p(c)))))) li(p(d)))");
    check("- a\n    - b\n        - c", "ul(li(p(a) ul(li(p(b) ul(li(p(c)))))))");
    check("1. a\n   - b\n2. c", "ol1(li(p(a) ul(li(p(b)))) li(p(c)))");
    check("1. a\n  - b\n  - c\n2. d", "ol1(li(p(a) ul(li(p(b)) li(p(c)))) li(p(d)))");
    check("1. a\n    - b\n\n2. c", "ol1+(li(p(a) ul(li(p(b)))) li(p(c)))");
    check("1. a\n  2. b", "ol1(li(p(a)) li(p(b)))");
    check("10. a\n  * b", "ol10(li(p(a) ul(li(p(b)))))");
    check("- a\n\t- b\n\t\t- c", "ul(li(p(a) ul(li(p(b) ul(li(p(c)))))))");
    check("- a\n - b\n  - c", "ul(li(p(a)) li(p(b)) li(p(c)))");
    check("- a\n  - b\n\n  - c\n- d", "ul(li(p(a) ul+(li(p(b)) li(p(c)))) li(p(d)))");
    check("- a\n  - b\n\n- c", "ul+(li(p(a) ul(li(p(b)))) li(p(c)))");
    check("* a\n  > b\n  >\n* c", "ul(li(p(a) quote(p(b))) li(p(c)))");
}

#[test]
fn code_within_lists() {
    check(
        "1. Run:\n   ```sh\n   make\n     test\n\n   ```\n2. Then",
        "ol1(li(p(Run:) code[sh](make⏎  test⏎)) li(p(Then)))",
    );
    check(
        "1. Run:\n  ```sh\n  a\n      b\n  ```\n2. Then",
        "ol1(li(p(Run:) code[sh](a⏎    b)) li(p(Then)))",
    );
    check("- a\n  ```\n  b\n```\n- c", "ul(li(p(a) code[](b)) li(p(c)))");
    check("- a\n  ```\n  b\nout", "ul(li(p(a) code[](b))) p(out)");
    check("- a\n\n      b\n\n      c", "ul+(li(p(a) code[](b⏎⏎c)))");
    check("-     a\n\n      b\n- c", "ul(li(code[](a⏎⏎b)) li(p(c)))");
}

#[test]
fn tasks() {
    check("- [ ] a\n- [x] b\n- [X] c", "ul(li[ ](p(a)) li[x](p(b)) li[x](p(c)))");
    check("1. [x] a", "ol1(li[x](p(a)))");
    check("- [y] a\n- [x]b\n- [ ]", "ul(li(p([y] a)) li(p([x]b)) li(p([ ])))");
    check("[x] a", "p([x] a)");
    check("- a\n\n  [x] b", "ul+(li(p(a) p([x] b)))");
}

#[test]
fn tables() {
    check("| a | b |\n|---|:-:|\n| 1 | 2 |", "table[-^](a|b / 1|2)");
    check("a|b\n:-|-:\n1|2\n\nafter", "table[<>](a|b / 1|2) p(after)");
    check("|a|b|\n|-|-|\n|1|\n|1|2|3|", "table[--](a|b / 1| / 1|2|3)");
    check("|a|\n|-|\n|x \\| y|\n|`p|q`|\n|`p\\|q`|", "table[-](a / x | y / code{p|q} / code{p|q})");
    check("|a|b|\n|-|-|\n|`p|q|", "table[--](a|b / `p|q)");
    check("|a|b|\n|-|\n|1|2|", "p(|a|b|⏎|-|⏎|1|2|)");
    check("text\n| a |\n| - |\n| **b** |", "p(text) table[-](a / strong{b})");
    check("a | b\n- | -\n1 | 2", "table[--](a|b / 1|2)");
    check("|a|\n|-|\n|1|\n# Head", "table[-](a / 1) h1(Head)");
    check("> |a|\n> |-|\n> |1|\nout", "quote(table[-](a / 1)) p(out)");
    check("- |a|\n  |-|\n  |1|", "ul(li(table[-](a / 1)))");
    check("a\n-|-", "p(a⏎-|-)");
    check("a|b\n- |-|-", "p(a|b) ul(li(p(|-|-)))");
    check("|a|\n|-|\n| |\n||", "table[-](a /  / )");
}

#[test]
fn rules() {
    check("---", "hr");
    check("a\n\n***\n\n_ _ _\nb", "p(a) hr hr p(b)");
    check("- a\n---\nb", "ul(li(p(a))) hr p(b)");
    check("--", "p(--)");
    check("* * *", "hr");
    check("--- a", "p(--- a)");
}

#[test]
fn code_spans() {
    check("`a` ``b`c`` ` `` `", "p(code{a} code{b`c} code{``})");
    check("`` ` ``", "p(code{`})");
    check("`a\nb` `  `", "p(code{a b} code{  })");
    check("`unclosed", "p(`unclosed)");
    check("``a`", "p(``a`)");
    check("*a `*` b*", "p(em{a code{*} b})");
    check("`<b>&amp;\\*`", "p(code{<b>&amp;\\*})");
    check("[a `](b)` c](d)", "p(a{a code{](b)} c -> d})");
}

#[test]
fn emphasis() {
    check("*a* _b_ **c** __d__", "p(em{a} em{b} strong{c} strong{d})");
    check("***a***", "p(em{strong{a}})");
    check("**a *b* c**", "p(strong{a em{b} c})");
    check("*a **b***", "p(em{a strong{b}})");
    check("snake_case_name and __init__.py", "p(snake_case_name and strong{init}.py)");
    check("intra*wor*d", "p(intraem{wor}d)");
    check("2 * 3 * 4", "p(2 * 3 * 4)");
    check("*a\nb*", "p(em{a⏎b})");
    check("**a", "p(**a)");
    check("*a**", "p(em{a}*)");
    check("**a*", "p(*em{a})");
    check("*a _b* c_", "p(em{a _b} c_)");
    check("*foo**bar*", "p(em{foo**bar})");
    check("~~a~~ ~b~ ~~~c~~~", "p(del{a} ~b~ ~~~c~~~)");
    check("5~10 or 8~12, ~3", "p(5~10 or 8~12, ~3)");
    check("**Name:**value", "p(**Name:**value)");
    check("**中文。**后面", "p(strong{中文。}后面)");
    check("“_a_” — _b_", "p(“em{a}” — em{b})");
    check("\\*a\\* \\\\ \\z", "p(*a* \\ \\z)");
    check("*a [b* c](d)", "p(*a a{b* c -> d})");
}

#[test]
fn links() {
    check("[a](https://b.c)", "p(a{a -> https://b.c})");
    check("[a](b.md \"T \\\" t\")", "p(a{a -> b.md 'T \" t'})");
    check("[a](/b 'T') [a](#c (T))", "p(a{a -> /b 'T'} a{a -> #c 'T'})");
    check("[a](<b c.md>)", "p([a](<b c.md>))");
    check("[a](</b c.md>)", "p(a{a -> /b c.md})");
    check("[a](b(c)d) [a](b\\)c)", "p(a{a -> b(c)d} a{a -> b)c})");
    check("[a](b c)", "p([a](b c))");
    check("[a]() [a] [a][b]", "p([a]() [a] [a][b])");
    check("[*a* `b`](c)", "p(a{em{a} code{b} -> c})");
    check("[a [b](c) d](e)", "p([a a{b -> c} d](e))");
    check("[https://a.b](https://a.b)", "p(a{https://a.b -> https://a.b})");
    check("[![a](b.png)](c)", "p(a{img{a -> b.png} -> c})");
    check("![a *b*](c.png \"T\")!", "p(img{a *b* -> c.png 'T'}!)");
    check("[a](mailto:b@c.de)", "p(a{a -> mailto:b@c.de})");
    check("[a](./x?y=1:2) [a](../x)", "p(a{a -> ./x?y=1:2} a{a -> ../x})");
    check("[a](http://b.c/?x=1&amp;y=2)", "p(a{a -> http://b.c/?x=1&y=2})");
    check("[a\nb](c\n\"T\")", "p(a{a⏎b -> c 'T'})");
    check("\\[a](b)", "p([a](b))");
}

#[test]
fn addresses() {
    check("<https://a.b/c_d_e>", "p(a{https://a.b/c_d_e -> https://a.b/c_d_e})");
    check("<me@a.de> <me@a>", "p(a{me@a.de -> mailto:me@a.de} <me@a>)");
    check("See https://a.b/c_d_e.", "p(See a{https://a.b/c_d_e -> https://a.b/c_d_e}.)");
    check("(https://a.b/x_(y)), ok", "p((a{https://a.b/x_(y) -> https://a.b/x_(y)}), ok)");
    check("**https://a.b**", "p(strong{a{https://a.b -> https://a.b}})");
    check("HTTP://A.b/?c=d!", "p(a{HTTP://A.b/?c=d -> HTTP://A.b/?c=d}!)");
    check(
        "\"https://a.b\", 'https://c.d'",
        "p(\"a{https://a.b -> https://a.b}\", 'a{https://c.d -> https://c.d}')",
    );
    check("xhttps://a.b https:// http://.", "p(xhttps://a.b https:// http://.)");
    check("看https://a.b。好", "p(看a{https://a.b -> https://a.b}。好)");
    check("`https://a.b`", "p(code{https://a.b})");
    check("the hat, oh", "p(the hat, oh)");
}

#[test]
fn html_and_entities_are_text() {
    check("<b>a</b>", "p(<b>a</b>)");
    check("<a href=\"https://a.b\" title=\"*c*\">", "p(<a href=\"https://a.b\" title=\"*c*\">)");
    check("a <b and *c* > d", "p(a <b and em{c} > d)");
    check("<!-- *a* -->", "p(<!-- em{a} -->)");
    check("&amp; &lt;b&gt; &quot;&#39; a&nbsp;b", "p(& <b> \"' a\u{a0}b)");
    check("&amp;lt; &copy; &#60; \\&amp;", "p(&lt; &copy; &#60; &amp;)");
    check("a\0b", "p(a\0b)");
}

#[test]
fn previews_hold_the_text() {
    let blocks =
        parse("# A *b*\nc\nd  \ne\n- f `g`\n\n|h|i|\n|-|-|\n|j|[k](l)|\n\n```\nm\nn\n```\n---");
    assert_eq!(plain_text(&blocks), "A b\nc d e\nf g\nh i\nj k\nm\nn");
    assert_eq!(plain_text(&[]), "");
}

#[test]
fn an_answer_reads_as_written() {
    let blocks = parse(include_str!("../fixtures/markdown/answer.md"));
    let dumped: Vec<String> = blocks.iter().map(dump_block).collect();
    assert_eq!(dumped.join("\n"), include_str!("../fixtures/markdown/answer.txt").trim_end());
}

#[test]
fn html_comes_out_as_the_text_it_is() {
    let text = include_str!("../fixtures/markdown/html.md");
    let blocks = parse(text);
    assert_eq!(plain_text(&blocks), text.replace("\n\n", "\n").trim_end());
    assert_eq!(targets(&blocks), [""; 0]);
}

#[test]
fn unsafe_targets_come_out_as_text() {
    for case in cases(include_str!("../fixtures/markdown/unsafe.md")) {
        assert_eq!(targets(&parse(&case)), [""; 0], "for {case:?}");
        assert_lossless(&case);
    }
}

#[test]
fn malformed_text_loses_nothing() {
    let text = include_str!("../fixtures/markdown/malformed.md");
    for case in text.split("\n\n").chain([text]) {
        assert_lossless(case);
        assert!(targets(&parse(case)).iter().all(|target| is_harmless(target)), "for {case:?}");
    }
}

#[test]
fn hostile_text_takes_bounded_time_and_depth() {
    for pattern in cases(include_str!("../fixtures/markdown/hostile.txt")) {
        assert_fast(&pattern.repeat(100_000 / pattern.len()), &pattern);
    }
    let nested = [
        ("[", "](b)"),
        ("![", "](b)"),
        ("*a ", " a*"),
        ("*", "*"),
        ("**a ", "**"),
        ("_a *b ", "* _"),
        ("> ", ""),
        ("(", ")"),
        ("[a](b", ")"),
        ("`", "``"),
    ];
    for (open, close) in nested {
        let count = 100_000 / (open.len() + close.len());
        assert_fast(&[open.repeat(count), "x".to_owned(), close.repeat(count)].concat(), open);
    }
    let ticks: String = (1..440).map(|length| "`".repeat(length) + " ").collect();
    assert_fast(&ticks, "backticks of all lengths");
    let wide =
        format!("{}\n{}\n{}", "|a".repeat(12_000), "|-".repeat(12_000), "x\n".repeat(25_000));
    assert_fast(&wide, "wide table");
    let indented: String = (0..440).map(|depth| " ".repeat(depth) + "- a\n").collect();
    assert_fast(&indented, "ever deeper list");
}

#[track_caller]
fn assert_fast(text: &str, name: &str) {
    let started = Instant::now();
    let blocks = parse(text);
    let elapsed = started.elapsed();
    assert!(elapsed < Duration::from_secs(3), "{name:?} took {elapsed:?}");
    assert!(depth(&blocks) <= 80, "{name:?} nests {} deep", depth(&blocks));
}

/// Counts the levels of blocks and inlines together.
fn depth(blocks: &[Block]) -> usize {
    fn blocks_depth(blocks: &[Block]) -> usize {
        blocks.iter().map(block_depth).max().unwrap_or(0)
    }
    fn block_depth(block: &Block) -> usize {
        1 + match block {
            Block::Heading { content, .. } | Block::Paragraph(content) => inline_depth(content),
            Block::Quote(inner) => blocks_depth(inner),
            Block::List { items, .. } => {
                items.iter().map(|item| blocks_depth(&item.blocks)).max().unwrap_or(0)
            }
            _ => 0,
        }
    }
    fn inline_depth(inlines: &[Inline]) -> usize {
        let depths = inlines.iter().map(|inline| match inline {
            Inline::Emphasis(inner)
            | Inline::Strong(inner)
            | Inline::Strike(inner)
            | Inline::Link { content: inner, .. } => 1 + inline_depth(inner),
            _ => 1,
        });
        depths.max().unwrap_or(0)
    }
    blocks_depth(blocks)
}

/// Writes out all text that blocks hold, in the order in which it was written: language before
/// code, a link's text before its target before its title, a task's mark before its item.
fn written(blocks: &[Block], text: &mut String) {
    for block in blocks {
        match block {
            Block::Heading { content, .. } | Block::Paragraph(content) => {
                written_inlines(content, text)
            }
            Block::Code { language, title, text: code } => {
                [language, title, code].into_iter().for_each(|part| text.push_str(part));
            }
            Block::Quote(inner) => written(inner, text),
            Block::List { items, .. } => {
                for item in items {
                    text.push_str(if item.task == Some(true) { "x" } else { "" });
                    written(&item.blocks, text);
                }
            }
            Block::Table { head, rows, .. } => {
                head.iter()
                    .chain(rows.iter().flatten())
                    .for_each(|cell| written_inlines(cell, text));
            }
            Block::Rule => {}
        }
    }
}

fn written_inlines(inlines: &[Inline], text: &mut String) {
    for inline in inlines {
        match inline {
            Inline::Text(part) | Inline::Code(part) => text.push_str(part),
            Inline::Emphasis(inner) | Inline::Strong(inner) | Inline::Strike(inner) => {
                written_inlines(inner, text)
            }
            Inline::Link { target, title, content } => {
                written_inlines(content, text);
                text.push_str(target);
                text.push_str(title);
            }
            Inline::Image { target, title, alt } => {
                [alt, target, title].into_iter().for_each(|part| text.push_str(part));
            }
            Inline::Break => {}
        }
    }
}

fn has_numbers(blocks: &[Block]) -> bool {
    blocks.iter().any(|block| match block {
        Block::Quote(inner) => has_numbers(inner),
        Block::List { start, items, .. } => {
            start.is_some() || items.iter().any(|item| has_numbers(&item.blocks))
        }
        _ => false,
    })
}

/// Asserts the invariant: in a text without entities, every letter comes out once and in order,
/// and so does every digit that is not the number of a list item. Only an address that is its own
/// link text comes out twice, as text and as target.
#[track_caller]
fn assert_lossless(text: &str) {
    let text = text.replace('&', "");
    let blocks = parse(&text);
    let mut output = String::new();
    written(&blocks, &mut output);
    let numbered = has_numbers(&blocks);
    let counts =
        |character: &char| character.is_alphabetic() || (!numbered && character.is_numeric());
    let letters = |text: &str| text.to_lowercase().chars().filter(counts).collect::<String>();
    let (input, output) = (letters(&text), letters(&output));
    if targets(&blocks).is_empty() {
        assert_eq!(input, output, "for {text:?}");
    } else {
        let mut rest = output.chars();
        assert!(
            input.chars().all(|wanted| rest.any(|found| found == wanted)),
            "for {text:?}: {output:?}"
        );
    }
}

fn markdown() -> impl Strategy<Value = String> {
    let fragments = cases(include_str!("../fixtures/markdown/fragments.txt"));
    prop::collection::vec(prop::sample::select(fragments), 0..40).prop_map(|parts| parts.concat())
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![3 => markdown(), 1 => any::<String>(), 1 => "[ -~\n]{0,120}"]
}

fn config() -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig { cases: default.cases * 8, failure_persistence: None, ..default }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn no_letter_is_lost(text in any_text()) {
        assert_lossless(&text);
    }

    #[test]
    fn every_target_is_harmless(text in any_text()) {
        for target in targets(&parse(&text)) {
            prop_assert!(is_harmless(&target), "{target:?}");
        }
    }

    #[test]
    fn texts_are_joined_and_links_do_not_nest(text in any_text()) {
        let mut nested = false;
        let mut split = false;
        each_inline(&parse(&text), &mut |inline| {
            if let Inline::Link { content, .. } = inline {
                walk(content, &mut |inner| nested |= matches!(inner, Inline::Link { .. }));
            }
            if let Inline::Link { content, .. } | Inline::Strong(content) | Inline::Emphasis(content) = inline {
                split |= content.windows(2).any(|pair| matches!(pair, [Inline::Text(_), Inline::Text(_)]));
            }
        });
        prop_assert!(!nested && !split);
    }

    #[test]
    fn a_pushed_text_parses_like_a_whole_one(
        text in any_text(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let characters: Vec<char> = text.chars().collect();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(characters.len() + 1)).collect();
        cuts.extend([0, characters.len()]);
        cuts.sort_unstable();
        let mut document = Document::default();
        let mut frozen: Vec<Block> = Vec::new();
        let mut pushed = String::new();
        for pair in cuts.windows(2) {
            let delta: String = characters[pair[0]..pair[1]].iter().collect();
            document.push(&delta);
            pushed.push_str(&delta);
            prop_assert_eq!(document.blocks(), parse(&pushed));
            prop_assert_eq!(document.beyond(&text), text.strip_prefix(&pushed));
            prop_assert!(document.settled() >= frozen.len());
            prop_assert!(document.blocks().starts_with(&frozen));
            frozen = document.blocks()[..document.settled()].to_vec();
        }
        prop_assert_eq!(pushed, text);
    }

    #[test]
    fn every_character_may_come_alone(text in markdown()) {
        let mut document = Document::new("");
        for character in text.chars() {
            let settled = document.blocks()[..document.settled()].to_vec();
            document.push(character.encode_utf8(&mut [0; 4]));
            prop_assert!(document.blocks().starts_with(&settled));
        }
        prop_assert_eq!(document.blocks(), parse(&text));
    }
}

#[test]
fn blocks_settle_while_a_text_grows() {
    let mut document = Document::new("one\n\ntwo");
    assert_eq!(document.settled(), 0, "the second line is not ended yet");
    document.push(" more\n");
    assert_eq!(document.settled(), 1);
    document.push("- a\n- b\n");
    assert_eq!(document.settled(), 2);
    document.push("\n# Head\n");
    assert_eq!((document.settled(), document.blocks().len()), (3, 4));
}
