//! Questions of the session's agent: asked now, or kept from before a restart.

use super::inbox::Turn;
use super::task::SessionTask;
use crate::domain::event::Event;
use crate::domain::ids::RequestId;
use crate::domain::message::{Message, MessageState};
use crate::server::agents::agent::{AgentCommand, Happening, Resumption};
use crate::server::mint;
use crate::server::store::StoreError;
use crate::server::turns::answer::{QuestionAnswer, choice_of, question_closed, turn_that_asked};
use crate::wire::error::Failure;

impl SessionTask {
    /// Passes an answer on to the agent that asked, once: a question that is closed takes no second
    /// one.
    pub(super) fn answer(&mut self, request_id: RequestId, option: String) -> Result<(), Failure> {
        let answer = self.current_answer();
        let question = answer
            .and_then(|answer| answer.open_questions().find(|open| open.request_id == request_id))
            .ok_or_else(question_closed)?;
        choice_of(question, &option)?;
        self.command_agent(AgentCommand::Answer {
            request_id: request_id.clone(),
            option: option.clone(),
        })?;
        self.flush_words();
        self.write(Happening::Answered { request_id, option });
        Ok(())
    }

    /// Closes a question that outlived its agent: with the answer given to it, or without one when
    /// something else comes in its place. Tells whether there was one.
    pub(super) async fn close_kept_question(
        &mut self,
        given: Option<&QuestionAnswer>,
        state: MessageState,
    ) -> bool {
        let Some(message_id) = self.kept().map(|kept| kept.message_id.clone()) else {
            return false;
        };
        if let Some(QuestionAnswer { request_id, option, .. }) =
            given.filter(|given| given.answered.message_id == message_id)
        {
            self.emit(Event::Answered {
                message_id: message_id.clone(),
                request_id: request_id.clone(),
                option: option.clone(),
            });
        }
        let at = self.kept().and_then(|kept| kept.ended_at).unwrap_or_else(mint::now);
        self.emit(Event::MessageEnd { message_id: message_id.clone(), state, at });
        let closed = self.live.messages.iter().find(|message| message.message_id == message_id);
        if let Some(closed) = closed
            && let Err(error) = self.around.store.save_message(&self.session_id, closed).await
        {
            tracing::error!(session = %self.session_id, %error, "an answer could not be saved");
        }
        true
    }

    fn kept(&self) -> Option<&Message> {
        self.live.messages.iter().find(|message| message.state == MessageState::Waiting)
    }

    /// Makes the command with which the agent takes a turn up: a prompt, or the answer from which it
    /// goes on.
    pub(super) async fn command_of(&self, turn: Turn) -> AgentCommand {
        let text = turn.prompt.text();
        let Some(given) = &turn.answer else {
            return AgentCommand::Prompt { text, attachments: turn.attachments };
        };
        let mut resumption = Resumption {
            text,
            option: given.option.clone(),
            prompt: turn.prompt.clone(),
            asked: Vec::new(),
        };
        if let Err(error) = self.look_back(&turn, &mut resumption).await {
            tracing::error!(session = %self.session_id, %error, "a turn could not be read");
        }
        self.agent.resume(resumption)
    }

    /// Finds the prompt that a question goes back to, through earlier restarts too, and what was
    /// answered to it so far.
    async fn look_back(&self, turn: &Turn, found: &mut Resumption) -> Result<(), StoreError> {
        let store = &self.around.store;
        let mut asked_by = turn_that_asked(&turn.turn_id);
        while let Some(turn_id) = asked_by {
            if let Some((_, answer)) = store.answer_of_turn(&turn_id).await? {
                found.asked.insert(0, answer);
            }
            if let Some(stored) = store.prompt_of_turn(&turn_id).await? {
                found.prompt = stored.message;
            }
            asked_by = turn_that_asked(&turn_id);
        }
        Ok(())
    }
}
