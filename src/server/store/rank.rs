//! How well a text answers what was typed.
//!
//! The search engine's own rank counts every place where a word stands, which for a common word is
//! most of the store. This one looks only at the texts it is given.

/// What was typed: words that must all be there, the last of which may be unfinished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted<'text> {
    words: Vec<&'text str>,
    unfinished: bool,
}

/// How much a title counts beside a message.
const TITLE: f64 = 3.0;

/// How soon more of the same word adds little, and how much longer texts have to hold of it.
const SATURATION: f64 = 1.2;
const LENGTH: f64 = 0.75;

/// How much a word counts that only begins with what was typed.
const BEGINNING: f64 = 0.5;

impl<'text> Wanted<'text> {
    /// Reads what a person typed; nothing that has a meaning to the search engine is left of it.
    pub fn read(text: &'text str) -> Option<Self> {
        const MOST_WORDS: usize = 12;
        let words: Vec<_> = words_of(text).take(MOST_WORDS).collect();
        let unfinished = words.last().is_some_and(|last| text.ends_with(last));
        (!words.is_empty()).then_some(Self { words, unfinished })
    }

    /// Writes it as a query for the search engine.
    pub fn expression(&self) -> String {
        let quoted: Vec<_> = self.words.iter().map(|word| format!("\"{word}\"")).collect();
        let star = if self.unfinished { "*" } else { "" };
        quoted.join(" ") + star
    }

    /// Tells how well a text answers, beside others of an average length in words. Every text
    /// given holds all words, be it in a spelling that is not recognised here.
    pub fn score(&self, text: &str, is_title: bool, average: f64) -> f64 {
        let mut found = vec![0.0; self.words.len()];
        let mut length = 0_u32;
        for word in words_of(text) {
            length += 1;
            for (place, wanted) in self.words.iter().enumerate() {
                let last = self.unfinished && place + 1 == self.words.len();
                if let Some(count) = found.get_mut(place) {
                    *count += match begins_with(word, wanted) {
                        Some(true) => 1.0,
                        Some(false) if last => BEGINNING,
                        _ => 0.0,
                    };
                }
            }
        }
        let length = f64::from(length) / average.max(1.0);
        let tiring = SATURATION * (1.0 - LENGTH + LENGTH * length);
        let sum: f64 = found
            .iter()
            .map(|count: &f64| count.max(BEGINNING))
            .map(|count| count / (count + tiring))
            .sum();
        if is_title { sum * TITLE } else { sum }
    }
}

/// Cuts a text into words much as the search engine does.
pub fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// Tells whether a word begins with another, whatever the case, and whether it ends there too.
fn begins_with(word: &str, beginning: &str) -> Option<bool> {
    let mut letters = word.chars().flat_map(char::to_lowercase);
    for wanted in beginning.chars().flat_map(char::to_lowercase) {
        if letters.next() != Some(wanted) {
            return None;
        }
    }
    Some(letters.next().is_none())
}
