//! Understands a few plain phrases, for people who have not read about directives.

use super::directive::{Directive, Tool};

/// Turns "list files", "read FILE", "search for TEXT", "run COMMAND" and "plan …" into directives.
pub(super) fn understand(prompt: &str) -> Option<Vec<Directive>> {
    let request = prompt.trim();
    let request = strip_word(request, "please").unwrap_or(request);
    if let Some(steps) = strip_word(request, "plan") {
        return understand_plan(steps);
    }
    if request.contains('\n') {
        return None;
    }
    let (opening, tool) = understand_tool(request)?;
    Some(vec![Directive::Say(opening), Directive::Tool(tool)])
}

fn understand_tool(request: &str) -> Option<(String, Tool)> {
    if let Some(path) = understand_list(request) {
        return Some((format!("Here is what {} holds.", place(&path)), Tool::List(path)));
    }
    if let Some(rest) = strip_word(request, "read") {
        let file = strip_word(strip_word(rest, "the").unwrap_or(rest), "file");
        let path = single(file.unwrap_or(rest))?;
        return Some((format!("Let me read `{path}`."), Tool::Read(path)));
    }
    if let Some(rest) = strip_word(request, "search") {
        let text = unquoted(strip_word(rest, "for")?)?;
        return Some((format!("Let me look for `{text}`."), Tool::Search(text)));
    }
    let command = unquoted(strip_word(request, "run")?)?;
    Some(("I will run that, if you let me.".to_owned(), Tool::Run(command)))
}

/// Reads "list", "list the files" or "list files in PATH"; "list three reasons" is no request for
/// files and must get an ordinary answer.
fn understand_list(request: &str) -> Option<String> {
    let request = request.trim_end_matches(['.', '?', '!']);
    let rest = strip_word(request, "list").or_else(|| strip_word(request, "ls"))?;
    let rest = ["the", "all", "my"].iter().find_map(|word| strip_word(rest, word)).unwrap_or(rest);
    let rest = strip_word(rest, "files").or(rest.is_empty().then_some(rest))?;
    if rest.is_empty() {
        return Some(".".to_owned());
    }
    single(strip_word(rest, "in")?)
}

/// Makes steps of what is listed by lines, semicolons or commas, and three common ones of a goal.
fn understand_plan(goal: &str) -> Option<Vec<Directive>> {
    let steps: Vec<String> = goal
        .split(['\n', ';', ','])
        .map(|step| step.trim().trim_start_matches(|mark: char| mark.is_ascii_digit()))
        .map(|step| step.trim_start_matches(['.', '-', '*', ')', ' ', ':']).trim_end().to_owned())
        .filter(|step| !step.is_empty())
        .collect();
    match steps.as_slice() {
        [] => None,
        [goal] => Some(vec![Directive::Plan(vec![
            format!("Understand what is wanted: {goal}"),
            "Do it in small steps".to_owned(),
            "Check that it is right".to_owned(),
        ])]),
        _ => Some(vec![Directive::Plan(steps)]),
    }
}

fn place(path: &str) -> String {
    match path {
        "." => "the folder".to_owned(),
        _ => format!("`{path}`"),
    }
}

/// Takes one word off the front, whatever its case, with the white space after it.
fn strip_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let (first, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    first.eq_ignore_ascii_case(word).then(|| rest.trim_start())
}

/// Takes a text out of the quotes or backticks around it.
fn unquoted(text: &str) -> Option<String> {
    let text = text.trim();
    let quoted =
        ['`', '"', '\''].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote));
    let text = quoted.unwrap_or(text).trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// Takes a path, which has no spaces unless it is quoted: "read the room" names no file.
fn single(text: &str) -> Option<String> {
    let path = unquoted(text)?;
    let quoted = path.len() < text.trim().len();
    (quoted || !path.contains(char::is_whitespace)).then_some(path)
}
