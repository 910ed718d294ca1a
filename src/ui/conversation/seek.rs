//! Bringing one message into view, wherever in the conversation it stands.

use leptos::html::Article;
use leptos::prelude::*;
use leptos_router::hooks::use_location;

use super::state::Conversation;
use crate::domain::ids::MessageId;

/// The message that the address names.
#[derive(Clone, Copy)]
struct Wanted(Memo<Option<MessageId>>);

/// Lets the message that the address names show itself, and fetches earlier pages until it is there.
pub fn seek(conversation: &Conversation) {
    // `use_query_map` misses a change of query that comes with another conversation's address.
    let query = use_location().query;
    let wanted = Memo::new(move |_| {
        query.with(|query| query.get("message").and_then(|id| MessageId::parse(&id).ok()))
    });
    provide_context(Wanted(wanted));
    let conversation = conversation.clone();
    Effect::new(move || {
        let Some(wanted) = wanted.get() else { return };
        let entries = &conversation.entries;
        let is_there =
            entries.with(|entries| entries.iter().any(|entry| entry.message_id == wanted));
        if !is_there && conversation.has_earlier.get_untracked() {
            conversation.fetch_earlier();
        }
    });
}

/// Tells whether a message is the one that is wanted, and brings it into view when it is.
pub fn is_wanted(message_id: MessageId, element: NodeRef<Article>) -> impl Fn() -> bool + Copy {
    let message_id = StoredValue::new(message_id);
    let wanted = use_context::<Wanted>();
    let is_wanted = move || {
        wanted.is_some_and(|Wanted(wanted)| {
            message_id.with_value(|id| wanted.with(|wanted| wanted.as_ref() == Some(id)))
        })
    };
    Effect::new(move || {
        if is_wanted()
            && let Some(element) = element.get()
        {
            element.scroll_into_view();
        }
    });
    is_wanted
}
