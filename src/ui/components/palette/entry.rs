//! What the palette offers for the words that were typed.

use leptos::prelude::Get;

use crate::domain::list::{ListView, shown_title};
use crate::domain::session::Session;
use crate::ui::components::address;
use crate::ui::components::search::Search;
use crate::ui::state::AppState;
use crate::wire::rest::{SearchHit, SnippetPiece};

/// How many conversations are offered before anything is typed.
const RECENT: usize = 6;

/// Where an entry leads.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    Address(String),
    New,
    Theme(&'static str),
    View(ListView),
    Shortcuts,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Empty, where the words around the hit are those of the title.
    pub title: String,
    pub snippet: Vec<SnippetPiece>,
    pub target: Target,
}

impl Entry {
    fn new(title: &str, target: Target) -> Self {
        Self { title: title.to_owned(), snippet: Vec::new(), target }
    }

    fn of_row(row: &Session) -> Self {
        Self::new(shown_title(&row.title), Target::Address(address::of_row(row)))
    }

    fn of_hit(hit: SearchHit) -> Self {
        let address = address::of_message(&hit.session.session_id, hit.message_id.as_ref());
        let title = match hit.message_id {
            Some(_) => shown_title(&hit.session.title).to_owned(),
            None => String::new(),
        };
        Self { title, snippet: hit.snippet, target: Target::Address(address) }
    }
}

/// Gives what is offered: actions whose words fit, then conversations that were found. Before
/// anything is typed, the conversations at the top of the list come first.
pub fn entries(app: AppState, search: Search) -> Vec<Entry> {
    let words = search.words.get().trim().to_lowercase();
    let fits = |entry: &Entry| entry.title.to_lowercase().contains(&words);
    let actions = actions().into_iter().filter(fits);
    if words.is_empty() {
        let recent = app.first_rows(RECENT);
        return recent.iter().map(|row| Entry::of_row(row)).chain(actions).collect();
    }
    actions.chain(search.hits().into_iter().map(Entry::of_hit)).collect()
}

fn actions() -> Vec<Entry> {
    let page = |address: &str| Target::Address(address.to_owned());
    vec![
        Entry::new("New conversation", Target::New),
        Entry::new("New conversation: choose agent and folder", page("/new")),
        Entry::new("Current conversations", Target::View(ListView::Leaves)),
        Entry::new("All conversations", Target::View(ListView::Visible)),
        Entry::new("Archived conversations", Target::View(ListView::Archived)),
        Entry::new("Settings", page("/settings")),
        Entry::new("Recovery", page("/recovery")),
        Entry::new("Theme: light", Target::Theme("light")),
        Entry::new("Theme: dark", Target::Theme("dark")),
        Entry::new("Theme: as the system", Target::Theme("")),
        Entry::new("Keyboard shortcuts", Target::Shortcuts),
    ]
}
