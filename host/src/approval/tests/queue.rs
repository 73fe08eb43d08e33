//! The queue: who may answer, when, and how often.

use std::{
    sync::Barrier,
    thread::{scope, yield_now},
};

use tokio::sync::broadcast::error::TryRecvError;

use super::super::queue::PENDING;
use super::*;
use crate::capability::DecidedBy;

fn once() -> Answer {
    Answer::ONCE
}

/// Longer than a test takes to look at a question, short enough to wait for.
const SHORT: Duration = Duration::from_millis(300);

#[tokio::test]
async fn a_question_waits_and_its_answer_arrives() {
    let queue = Queue::default();
    let mut news = queue.subscribe();
    let waiting = queue.put(question(TIMEOUT));
    let pending = queue.pending();
    assert!(matches!(news.try_recv(), Ok(News::Put(put)) if put.id() == pending[0].id()));
    queue.answer(pending[0].id(), once()).unwrap();
    assert_eq!(waiting.await, Outcome::Answered(once(), DecidedBy::Program));
    assert!(matches!(news.try_recv(), Ok(News::Ended(id, Ended::Answered)) if id == *pending[0].id()));
    assert_eq!(news.try_recv().err(), Some(TryRecvError::Empty));
    assert_eq!(queue.answer(pending[0].id(), once()), Err(AnswerError::Already));
}

#[tokio::test]
async fn dropping_the_question_withdraws_it() {
    let queue = Queue::default();
    let mut news = queue.subscribe();
    let waiting = queue.put(question(TIMEOUT));
    let id = queue.pending()[0].id().clone();
    drop(waiting);
    assert!(queue.pending().is_empty());
    assert_eq!(queue.answer(&id, once()), Err(AnswerError::Withdrawn));
    assert!(matches!((news.try_recv(), news.try_recv()), (Ok(News::Put(_)), Ok(News::Ended(_, Ended::Withdrawn)))));
}

#[tokio::test]
async fn an_expired_question_is_refused_and_can_no_longer_be_answered() {
    let queue = Queue::default();
    let waiting = queue.put(question(SHORT));
    let id = queue.pending().first().map(|it| it.id().clone());
    let id = id.expect("it waits longer than this took");
    while !queue.pending().is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(queue.answer(&id, once()), Err(AnswerError::Expired), "before anybody noticed");
    assert_eq!(waiting.await, Outcome::Expired);
    assert_eq!(queue.answer(&id, once()), Err(AnswerError::Expired));
}

#[tokio::test]
async fn an_answer_in_time_counts_though_it_is_looked_at_late() {
    let queue = Queue::default();
    let put = tokio::time::Instant::now();
    let waiting = queue.put(question(SHORT));
    queue.answer(queue.pending().first().expect("it waits longer than this took").id(), once()).unwrap();
    tokio::time::sleep_until(put + SHORT * 2).await;
    assert_eq!(waiting.await, Outcome::Answered(once(), DecidedBy::Program));
}

#[tokio::test]
async fn one_too_many_is_refused_at_once_and_leaves_room_when_one_ends() {
    let queue = Queue::default();
    let mut waiting: Vec<_> = (0..PENDING).map(|_| queue.put(question(TIMEOUT))).collect();
    assert_eq!(queue.put(question(TIMEOUT)).await, Outcome::Full);
    assert_eq!(queue.pending().len(), PENDING);
    waiting.pop();
    let _place = queue.put(question(TIMEOUT));
    assert_eq!(queue.pending().len(), PENDING);
}

#[tokio::test]
async fn an_id_of_an_earlier_process_is_unknown() {
    let before = Queue::default();
    let _waiting = before.put(question(TIMEOUT));
    let id = QuestionId::from_client(before.pending()[0].id().as_str());
    assert_eq!(Queue::default().answer(&id, once()), Err(AnswerError::Unknown));
    for id in ["", "0", "%00", &"f".repeat(32)] {
        assert_eq!(before.answer(&QuestionId::from_client(id), once()), Err(AnswerError::Unknown));
    }
}

#[tokio::test]
async fn an_answer_that_is_not_offered_is_told_and_the_question_stays() {
    let queue = Queue::default();
    let subject = Subject::Command {
        command: UPLOAD.into(),
        directory: None,
        exports: None,
        judgement: shell::judge(UPLOAD, &here()),
    };
    let _waiting = queue.put(Question::new(asker(), subject, TIMEOUT).unwrap());
    let id = queue.pending()[0].id().clone();
    for word in ["session", "always", "session-category", "always-category"] {
        let why = queue.answer(&id, word.parse().unwrap()).unwrap_err().to_string();
        assert!(why.contains(word) && why.contains("once, deny"), "{why}");
    }
    queue.answer(&id, "deny".parse().unwrap()).unwrap();
}

#[test]
fn of_many_answers_to_one_question_exactly_one_is_taken() {
    const CLIENTS: usize = 4;
    let queue = Queue::default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for round in 0..1_000 {
        let waiting = queue.put(question(TIMEOUT));
        let id = queue.pending()[0].id().clone();
        let start = Barrier::new(CLIENTS);
        let client = |number: usize| {
            let answer = Answer::refuse(&number.to_string());
            start.wait();
            queue.answer(&id, answer.clone()).map(|()| answer)
        };
        let said: Vec<_> = scope(|scope| {
            let clients: Vec<_> = (0..CLIENTS).map(|number| scope.spawn(move || client(number))).collect();
            clients.into_iter().map(|client| client.join().unwrap()).collect()
        });
        let mut taken = said.iter().filter_map(|it| it.as_ref().ok());
        let (winner, second) = (taken.next().unwrap(), taken.next());
        assert_eq!(second, None, "round {round}");
        assert!(
            said.iter().filter_map(|it| it.as_ref().err()).all(|why| *why == AnswerError::Already),
            "round {round}"
        );
        assert_eq!(runtime.block_on(waiting), Outcome::Answered(winner.clone(), DecidedBy::Program), "round {round}");
    }
}

/// The whole way: the command waits at the gate, two clients approve it, and it runs once.
#[test]
fn two_clients_that_approve_one_command_make_it_run_once() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let gate = Arc::new(gate(""));
    let _attendance = gate.queue().attend();
    for round in 0..100 {
        let runs = Arc::new(AtomicUsize::new(0));
        let (at, count) = (Arc::clone(&gate), Arc::clone(&runs));
        let call = runtime.spawn(async move {
            if let Ruling::Passed { by, .. } = run(&at, PUSH).await {
                count.fetch_add(1, Ordering::SeqCst);
                assert_eq!(by.as_deref(), Some("approved once by the operator"));
            }
        });
        let client = || loop {
            if let Some(question) = gate.queue().pending().first() {
                return gate.queue().answer(question.id(), once()).is_ok();
            }
            if call.is_finished() {
                return false;
            }
            yield_now();
        };
        let won = scope(|scope| [scope.spawn(client), scope.spawn(client)].map(|it| it.join().unwrap()));
        runtime.block_on(call).unwrap();
        assert_eq!(won.into_iter().filter(|won| *won).count(), 1, "round {round}");
        assert_eq!(runs.load(Ordering::SeqCst), 1, "round {round}");
    }
}
