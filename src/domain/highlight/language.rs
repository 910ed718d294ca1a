//! Lists the languages.

/// Names the way in which a language is read.
#[derive(Clone, Copy)]
pub(super) enum Grammar {
    Words(&'static Words),
    Markup,
    Diff,
}

/// Describes a family of languages; lists of words are separated by spaces.
pub(super) struct Words {
    names: &'static str,
    pub keywords: &'static str,
    pub line_comments: &'static [&'static str],
    pub block_comment: (&'static str, &'static str),
    /// The longest come first.
    pub quotes: &'static [Quote],
    pub habits: Habits,
}

/// Describes how a string begins and ends.
pub(super) struct Quote {
    pub open: &'static str,
    pub close: &'static str,
    pub escapes: bool,
    pub multiline: bool,
}

/// Says what sets a family apart from most others.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Habits {
    Usual,
    /// Lifetimes, character literals, raw strings.
    Rust,
    /// Keywords in any case.
    Query,
    /// A word before a colon or an equals sign is a key, and words hold dashes.
    Keys,
}

const fn quote(mark: &'static str, escapes: bool, multiline: bool) -> Quote {
    Quote { open: mark, close: mark, escapes, multiline }
}

const NO_BLOCK: (&str, &str) = ("", "");
const C_BLOCK: (&str, &str) = ("/*", "*/");
const SIMPLE_QUOTES: &[Quote] = &[quote("\"", true, false), quote("'", true, false)];
const TRIPLE_QUOTES: &[Quote] = &[
    quote("\"\"\"", true, true),
    quote("'''", true, true),
    quote("\"", true, false),
    quote("'", true, false),
];
const TICK_QUOTES: &[Quote] =
    &[quote("`", true, true), quote("\"", true, false), quote("'", true, false)];
const LONG_QUOTES: &[Quote] = &[quote("\"", true, true), quote("'", false, true)];

const LANGUAGES: &[Words] = &[
    Words {
        names: "rust rs",
        keywords: "Self as async await bool break char const continue crate dyn else enum extern f32 f64 false fn for i32 i64 if impl in let loop match mod move mut pub ref return self static str struct super trait true type u8 u16 u32 u64 unsafe use usize where while",
        line_comments: &["//"],
        block_comment: C_BLOCK,
        quotes: &[quote("\"", true, true)],
        habits: Habits::Rust,
    },
    Words {
        names: "javascript js jsx mjs cjs node typescript ts tsx mts",
        keywords: "any as async await boolean break case catch class const continue declare default delete do else enum export extends false finally for from function get if implements import in instanceof interface is keyof let namespace never new null number of private protected public readonly return satisfies set static string super switch this throw true try type typeof undefined unknown var void while yield",
        line_comments: &["//"],
        block_comment: C_BLOCK,
        quotes: TICK_QUOTES,
        habits: Habits::Usual,
    },
    Words {
        names: "python py python3 pyi starlark",
        keywords: "False None True and as assert async await break case class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return self try while with yield",
        line_comments: &["#"],
        block_comment: NO_BLOCK,
        quotes: TRIPLE_QUOTES,
        habits: Habits::Usual,
    },
    Words {
        names: "go golang",
        keywords: "any bool break byte case chan const continue default defer else error fallthrough false float64 for func go goto if import int int64 interface iota map nil package range return rune select string struct switch true type uint var",
        line_comments: &["//"],
        block_comment: C_BLOCK,
        quotes: &[quote("`", false, true), quote("\"", true, false), quote("'", true, false)],
        habits: Habits::Usual,
    },
    Words {
        names: "c h cpp c++ cc cxx hpp java cs csharp c# kotlin kt swift scala dart objc objective-c zig groovy proto glsl",
        keywords: "abstract as async auto await bool boolean break byte case catch char class const constexpr continue data default defer define delete do double else endif enum export extends extension extern false final finally float fn for foreach fun func get goto guard if ifdef ifndef implements import in include inline instanceof int interface internal is let long match message mutable namespace new nil noexcept null nullptr object open operator override package pragma private protected protocol pub public readonly record ref return sealed self set short signed sizeof static string struct super suspend switch template this throw throws trait true try type typedef typename union unsigned using val var virtual void volatile when where while with yield",
        line_comments: &["//"],
        block_comment: C_BLOCK,
        quotes: TRIPLE_QUOTES,
        habits: Habits::Usual,
    },
    Words {
        names: "shell sh bash zsh fish console shellscript makefile make dockerfile docker containerfile",
        keywords: "ADD ARG CMD COPY ENTRYPOINT ENV EXPOSE FROM LABEL RUN USER VOLUME WORKDIR alias break case cd continue do done echo elif else esac eval exec exit export false fi for function if in local read return set shift source sudo then trap true unset until while",
        line_comments: &["#"],
        block_comment: NO_BLOCK,
        quotes: LONG_QUOTES,
        habits: Habits::Usual,
    },
    Words {
        names: "json jsonc json5 jsonl ndjson",
        keywords: "false null true",
        line_comments: &["//"],
        block_comment: C_BLOCK,
        quotes: SIMPLE_QUOTES,
        habits: Habits::Keys,
    },
    Words {
        names: "toml yaml yml ini cfg conf properties env dotenv editorconfig nginx hcl tf terraform",
        keywords: "false no null off on true yes",
        line_comments: &["#", ";"],
        block_comment: NO_BLOCK,
        quotes: TRIPLE_QUOTES,
        habits: Habits::Keys,
    },
    Words {
        names: "sql postgres postgresql mysql sqlite psql plsql",
        keywords: "add all alter and as asc begin between bigint boolean by cascade case check column commit conflict constraint create cross current_timestamp default delete desc distinct do drop else end exists explain false foreign from full function group having if in index inner insert int integer interval into is join jsonb key left like limit lateral not null numeric offset on or order outer over partition primary recursive references returning right rollback select set table text then timestamp transaction trigger true union unique update using values varchar view when where with",
        line_comments: &["--"],
        block_comment: C_BLOCK,
        quotes: &[quote("'", false, true), quote("\"", false, false)],
        habits: Habits::Query,
    },
    Words {
        names: "ruby rb elixir ex exs crystal",
        keywords: "alias and begin break case class cond def defmodule defp defstruct do else elsif end ensure false fn for if import in module next nil not or raise redo require rescue retry return self super then true undef unless until use when while with yield",
        line_comments: &["#"],
        block_comment: NO_BLOCK,
        quotes: TRIPLE_QUOTES,
        habits: Habits::Usual,
    },
    Words {
        names: "php",
        keywords: "abstract and array as bool break case catch class const continue default do echo else elseif enum extends false final finally float fn for foreach function global if implements include instanceof int interface isset match namespace new null or php private protected public readonly require return self static string switch this throw trait true try use void while yield",
        line_comments: &["//", "#"],
        block_comment: C_BLOCK,
        quotes: &[quote("\"", true, true), quote("'", true, true)],
        habits: Habits::Usual,
    },
    Words {
        names: "lua luau",
        keywords: "and break do else elseif end false for function goto if in local nil not or repeat return self then true until while",
        line_comments: &["--"],
        block_comment: ("--[[", "]]"),
        quotes: &[
            Quote { open: "[[", close: "]]", escapes: false, multiline: true },
            quote("\"", true, false),
            quote("'", true, false),
        ],
        habits: Habits::Usual,
    },
    Words {
        names: "css scss less sass",
        keywords: "@charset @container @else @extend @font-face @function @if @import @include @keyframes @layer @media @mixin @property @return @supports @use and auto from important inherit initial none not or to unset",
        line_comments: &[],
        block_comment: C_BLOCK,
        quotes: SIMPLE_QUOTES,
        habits: Habits::Keys,
    },
];

/// Finds the grammar for the language that a code block names.
pub(super) fn find(language: &str) -> Option<Grammar> {
    let name = language.as_bytes().split(|byte| b",:{ ".contains(byte)).next()?;
    if has_word("html xml svg htm xhtml vue svelte astro rss plist", name, true) {
        return Some(Grammar::Markup);
    }
    if has_word("diff patch", name, true) {
        return Some(Grammar::Diff);
    }
    let words = LANGUAGES.iter().find(|words| has_word(words.names, name, true))?;
    Some(Grammar::Words(words))
}

/// Says whether a list separated by spaces holds a word.
pub(super) fn has_word(list: &str, word: &[u8], any_case: bool) -> bool {
    list.as_bytes().split(|byte| *byte == b' ').any(|entry| match any_case {
        true => entry.eq_ignore_ascii_case(word),
        false => entry == word,
    })
}
