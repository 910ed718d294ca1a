//! The house rules that a compiler does not check.

use std::fs;
use std::path::{Path, PathBuf};

/// Which rooms of the crate each room may name, and the files that may name more.
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("domain", &[]),
    ("wire", &["domain"]),
    ("client", &["wire", "domain"]),
    ("ui", &["api", "wire", "domain"]),
    ("server", &["wire", "domain"]),
    ("api", &["wire", "domain"]),
];

const EXCEPTIONS: &[(&str, &str)] =
    &[("src/ui/platform.rs", "client"), ("src/server/router.rs", "ui")];

/// Where a feature may decide what is compiled.
const MAY_USE_FEATURES: &[&str] = &["src/lib.rs", "src/main.rs", "src/ui/platform.rs"];

const LONGEST_FILE: usize = 320;

fn files_below(folder: &str, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![PathBuf::from(folder)];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    assert!(!found.is_empty(), "no .{extension} file below the folder");
    found
}

fn room_of(path: &Path) -> Option<String> {
    let name = path.iter().nth(1)?.to_str()?;
    Some(name.trim_end_matches(".rs").to_owned())
}

/// Lists the rooms that a file names by `crate::room`, with their line numbers. Server functions
/// may name the server inside their bodies, which are indented.
fn rooms_named(path: &Path, text: &str) -> Vec<(usize, String)> {
    let api = room_of(path).as_deref() == Some("api");
    let mut named = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("//") {
            continue;
        }
        let inside_body = api && line.starts_with("    ");
        for after in line.split("crate::").skip(1) {
            let room: String =
                after.chars().take_while(|it| it.is_alphanumeric() || *it == '_').collect();
            if !(inside_body && room == "server") {
                named.push((number + 1, room));
            }
        }
    }
    named
}

#[test]
fn tidy_rooms_import_only_what_their_door_allows() {
    let mut offences = Vec::new();
    for path in files_below("src", "rs") {
        let Some((room, allowed)) =
            room_of(&path).and_then(|room| MAY_IMPORT.iter().find(|(name, _)| *name == room))
        else {
            continue;
        };
        let text = fs::read_to_string(&path).unwrap();
        for (line, named) in rooms_named(&path, &text) {
            let excepted =
                EXCEPTIONS.iter().any(|(file, extra)| Path::new(file) == path && *extra == named);
            if named != *room && !allowed.contains(&named.as_str()) && !excepted {
                offences.push(format!("{}:{line} names {named}", path.display()));
            }
        }
    }
    assert!(offences.is_empty(), "{offences:#?}");
}

#[test]
fn tidy_domain_is_pure() {
    const FORBIDDEN: &[&str] = &[
        "leptos",
        "web_sys",
        "js_sys",
        "tokio",
        "sqlx",
        "axum",
        "std::fs",
        "std::net",
        "std::io",
        "SystemTime",
        "Instant",
        "cfg(",
        "println!",
        "thread",
    ];
    let mut offences = Vec::new();
    for path in files_below("src/domain", "rs") {
        for (number, line) in fs::read_to_string(&path).unwrap().lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            for word in FORBIDDEN.iter().filter(|word| code.contains(**word)) {
                offences.push(format!("{}:{} uses {word}", path.display(), number + 1));
            }
        }
    }
    assert!(offences.is_empty(), "{offences:#?}");
}

#[test]
fn tidy_features_decide_in_few_places() {
    let mut offences = Vec::new();
    for path in files_below("src", "rs") {
        if MAY_USE_FEATURES.iter().any(|allowed| Path::new(allowed) == path) {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let uses = text.lines().enumerate().filter(|(_, line)| {
            line.contains("cfg") && line.contains("feature") && !line.trim_start().starts_with("//")
        });
        offences.extend(uses.map(|(number, _)| format!("{}:{}", path.display(), number + 1)));
    }
    assert!(offences.is_empty(), "{offences:#?}");
}

#[test]
fn tidy_sql_lives_in_the_store() {
    let mut offences = Vec::new();
    for path in files_below("src", "rs") {
        let text = fs::read_to_string(&path).unwrap();
        if text.contains("sqlx::")
            && !path.starts_with("src/server/store")
            && path != Path::new("src/server/store.rs")
        {
            offences.push(path);
        }
    }
    assert!(offences.is_empty(), "{offences:#?}");
}

#[test]
fn tidy_views_hold_no_raw_html() {
    for path in files_below("src/ui", "rs") {
        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.contains("inner_html"), "{} writes raw HTML", path.display());
        assert!(!text.contains("style="), "{} holds an inline style", path.display());
    }
}

#[test]
fn tidy_files_are_small_rooms() {
    let mut offences = Vec::new();
    for path in files_below("src", "rs").into_iter().chain(files_below("xtask/src", "rs")) {
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        if lines > LONGEST_FILE {
            offences.push(format!("{} has {lines} lines", path.display()));
        }
    }
    assert!(offences.is_empty(), "{offences:#?}");
}

#[test]
fn tidy_every_stylesheet_is_imported() {
    let main = fs::read_to_string("style/main.css").unwrap();
    for path in files_below("style", "css") {
        let name = path.file_name().unwrap().to_str().unwrap();
        let imported = name == "main.css" || main.contains(&format!("\"{name}\""));
        assert!(imported, "{name} is not imported by main.css");
    }
}

#[test]
fn tidy_no_file_leaves_work_for_later() {
    let marks = ["TODO", "FIXME", "XXX", "HACK"];
    for path in files_below("src", "rs").into_iter().chain(files_below("xtask/src", "rs")) {
        let text = fs::read_to_string(&path).unwrap();
        for mark in marks {
            assert!(!text.contains(mark), "{} says {mark}", path.display());
        }
    }
}
