//! Answers to questions. The agent that asked takes the answer itself; when a restart took that
//! agent away, the answer is a turn of its own, from which the agent goes on.

use sha2::{Digest, Sha256};

use super::submit::submit_answer;
use crate::domain::ids::{RequestId, SessionId, TurnId};
use crate::domain::list::shorten;
use crate::domain::message::{Choice, Message, MessageState, Question};
use crate::server::error::ServiceError;
use crate::server::sessions::TaskCommand;
use crate::server::state::Services;
use crate::wire::error::{Failure, FailureCode};
use crate::wire::rest::StartTurn;

/// What the turn that answers a question is called, before the name of the turn that asked.
const PREFIX: &str = "answer:";

/// How much of a question is quoted in its answer.
const MAX_QUOTED: usize = 200;

/// The option that a person took, and the question that it answers.
#[derive(Debug, Clone, PartialEq)]
pub struct QuestionAnswer {
    pub request_id: RequestId,
    pub option: String,
    /// The message that asked, with its question answered.
    pub answered: Message,
}

/// Answers a question once, however many answers arrive.
pub async fn answer(
    services: &Services,
    id: &SessionId,
    request_id: RequestId,
    option: String,
) -> Result<(), ServiceError> {
    let (asked, taken) = (request_id.clone(), option.clone());
    let command = |reply| TaskCommand::Answer { request_id: asked, option: taken, reply };
    match services.registry.ask(id, command).await? {
        Err(failure) if failure.code == FailureCode::QuestionClosed => {}
        answered => return Ok(answered?),
    }
    let waiting = services.store.waiting_answer(id).await?.ok_or_else(question_closed)?;
    let mut questions = waiting.open_questions();
    let question =
        questions.find(|open| open.request_id == request_id).ok_or_else(question_closed)?;
    let choice = choice_of(question, &option)?;
    let asked_by = waiting.turn_id.as_ref().ok_or_else(question_closed)?;
    let turn = StartTurn {
        turn_id: turn_of_answer(asked_by).ok_or_else(question_closed)?,
        session_id: id.clone(),
        content: prompt_text(question, choice),
        attachments: Vec::new(),
    };
    let answered = answered(waiting.clone(), &request_id, &option);
    let answer = QuestionAnswer { request_id, option, answered };
    match submit_answer(services, turn, answer).await {
        Ok(receipt) if receipt.accepted => Ok(()),
        Err(error) if error.0.code != FailureCode::TurnConflict => Err(error),
        // The same turn was accepted before: somebody was quicker.
        Ok(_) | Err(_) => Err(question_closed().into()),
    }
}

/// Finds the option that a person took among those that were offered.
pub fn choice_of<'a>(question: &'a Question, option: &str) -> Result<&'a Choice, Failure> {
    question.options.iter().find(|choice| choice.option == option).ok_or_else(|| {
        let message = "This question does not offer that answer.";
        Failure::new(FailureCode::InvalidRequest, message)
    })
}

pub fn question_closed() -> Failure {
    let message = "This question is answered already or no longer open.";
    Failure::new(FailureCode::QuestionClosed, message)
}

/// Returns the message that asked as it is once its question is answered: its turn goes on in
/// another one, so it stays interrupted.
fn answered(mut asked: Message, request_id: &RequestId, option: &str) -> Message {
    if let Some((_, question)) = asked.question_mut(request_id) {
        question.answer = Some(option.to_owned());
    }
    asked.state = MessageState::Interrupted;
    asked
}

/// Returns the one id that the answer to a turn's question can have, so that there is one answer.
fn turn_of_answer(asked_by: &TurnId) -> Option<TurnId> {
    // A name with no room left for the prefix stands there by its hash.
    let hashed = || TurnId::parse(&format!("answer-{:x}", Sha256::digest(asked_by.as_str())));
    TurnId::parse(&format!("{PREFIX}{asked_by}")).or_else(|_| hashed()).ok()
}

/// Returns the turn whose question a turn answers.
pub fn turn_that_asked(turn_id: &TurnId) -> Option<TurnId> {
    TurnId::parse(turn_id.as_str().strip_prefix(PREFIX)?).ok()
}

/// Writes the answer in words that any agent understands which remembers the conversation.
fn prompt_text(question: &Question, choice: &Choice) -> String {
    let title = question.title.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("My answer to “{}”: {}", shorten(&title, MAX_QUOTED), choice.label)
}
