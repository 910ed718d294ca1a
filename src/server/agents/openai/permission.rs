//! What a person is asked before a model changes anything.

use std::collections::{HashMap, HashSet};

use tokio::sync::oneshot;
use uuid::Uuid;

use crate::domain::ids::RequestId;
use crate::domain::message::{Choice, ChoiceTone, Question};
use crate::server::agents::trace::head;

/// How much of what is asked about is shown.
const LONGEST_DETAIL: usize = 4 << 10;

const ONCE: &str = "once";
const ALWAYS: &str = "always";
const REJECT: &str = "reject";

/// The open questions of one conversation, and what was allowed in it for good.
#[derive(Debug, Default)]
pub struct Permissions {
    waiting: HashMap<RequestId, oneshot::Sender<String>>,
    allowed: HashSet<&'static str>,
}

impl Permissions {
    pub fn is_allowed(&self, kind: &str) -> bool {
        self.allowed.contains(kind)
    }

    /// Makes a question, and the place where its answer arrives.
    pub fn ask(
        &mut self,
        title: &str,
        detail: &str,
    ) -> Option<(Question, oneshot::Receiver<String>)> {
        let request_id = RequestId::parse(&format!("q-{}", Uuid::now_v7())).ok()?;
        let (sender, answer) = oneshot::channel();
        self.waiting.insert(request_id.clone(), sender);
        let options = vec![
            choice(ONCE, "Allow once", ChoiceTone::Allow),
            choice(ALWAYS, "Always in this conversation", ChoiceTone::Allow),
            choice(REJECT, "Reject", ChoiceTone::Reject),
        ];
        let (title, detail) = (title.to_owned(), head(detail, LONGEST_DETAIL).to_owned());
        Some((Question { request_id, title, detail, options, answer: None }, answer))
    }

    pub fn answer(&mut self, request_id: &RequestId, option: String) {
        if let Some(waiting) = self.waiting.remove(request_id) {
            let _ = waiting.send(option);
        }
    }

    /// Takes an answer for what it means.
    pub fn judge(&mut self, kind: &'static str, option: &str) -> bool {
        if option == ALWAYS {
            self.allowed.insert(kind);
        }
        matches!(option, ONCE | ALWAYS)
    }

    /// Forgets questions that nobody waits for any more.
    pub fn forget(&mut self) {
        self.waiting.clear();
    }
}

fn choice(option: &str, label: &str, tone: ChoiceTone) -> Choice {
    Choice { option: option.to_owned(), label: label.to_owned(), tone }
}
