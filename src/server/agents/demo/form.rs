//! The directives as a person writes them.

/// One directive as a person writes it, and what it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Form {
    pub name: &'static str,
    pub written: &'static str,
    pub meaning: &'static str,
}

const fn form(name: &'static str, written: &'static str, meaning: &'static str) -> Form {
    Form { name, written, meaning }
}

/// Every directive there is; the help text and the notices are made from it.
pub const FORMS: [Form; 23] = [
    form("say", "[[say TEXT]]", "says the text, word by word"),
    form("think", "[[think TEXT]]", "thinks the text"),
    form("slow", "[[slow N MS]]", "says N numbered words, MS milliseconds apart"),
    form("clock", "[[clock N MS]]", "says the time N times, MS milliseconds apart"),
    form("tool list", "[[tool list PATH]]", "lists a folder"),
    form("tool read", "[[tool read PATH]]", "reads a text file"),
    form("tool search", "[[tool search TEXT]]", "finds a text in the files"),
    form("tool edit", "[[tool edit PATH | OLD | NEW]]", "asks, then replaces OLD by NEW in a file"),
    form("tool run", "[[tool run COMMAND]]", "asks, then runs a shell command"),
    form("ask", "[[ask TITLE | OPTION | OPTION]]", "asks a question and says your answer back"),
    form(
        "answered",
        "[[answered N OPTION]]",
        "goes on after N tools and questions, and takes this as the next answer",
    ),
    form("plan", "[[plan STEP | STEP]]", "makes a plan and works through it"),
    form("usage", "[[usage INPUT OUTPUT CONTEXT LIMIT]]", "reports these numbers of tokens"),
    form("notice", "[[notice TEXT]]", "shows a notice"),
    form("image", "[[image]]", "makes a small picture"),
    form("table", "[[table]]", "shows a table"),
    form("code", "[[code LANG]]", "shows a piece of code"),
    form("long", "[[long N]]", "writes N paragraphs"),
    form("error", "[[error TEXT]]", "ends the turn with this error"),
    form("crash", "[[crash]]", "dies in the middle, as a broken process does"),
    form("hang", "[[hang]]", "falls silent until you press Stop"),
    form("retry", "[[retry N]]", "fails N times, tries again, then goes on"),
    form("compress", "[[compress]]", "compresses the conversation into a summary"),
];
