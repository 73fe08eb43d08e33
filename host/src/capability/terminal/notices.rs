//! What happened to background processes, kept for their task until it asks.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, PoisonError},
};

use super::{
    limits::{NOTICES_KEPT, TASKS},
    process::{Listener, Notice},
};

/// Notices by task. The oldest of a task goes first where there are too many, and no task's are kept beyond a number of tasks.
#[derive(Debug, Default)]
pub(crate) struct Notices(Mutex<HashMap<String, VecDeque<Notice>>>);

impl Notices {
    /// Keeps what it hears, and passes it on.
    pub(crate) fn listener(self: &Arc<Self>, further: Option<Listener>) -> Listener {
        let notices = Arc::clone(self);
        Arc::new(move |notice: Notice| {
            notices.keep(notice.clone());
            if let Some(further) = &further {
                further(notice);
            }
        })
    }

    fn keep(&self, notice: Notice) {
        let mut tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if tasks.len() >= TASKS && !tasks.contains_key(&notice.task) {
            return;
        }
        let kept = tasks.entry(notice.task.clone()).or_default();
        if kept.len() >= NOTICES_KEPT {
            kept.pop_front();
        }
        kept.push_back(notice);
    }

    /// Those of a task. They are told once.
    pub(crate) fn take(&self, task: &str) -> Vec<Notice> {
        let mut tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.remove(task).map(Vec::from).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::{super::process::News, *};

    #[test]
    fn a_notice_is_told_once_and_to_its_task_alone() {
        let notices = Arc::new(Notices::default());
        let listener = notices.listener(None);
        for n in 0..NOTICES_KEPT as u64 + 5 {
            listener(Notice { task: "a".into(), process: "p".into(), news: News::Unwatched { untold: n } });
        }
        assert!(notices.take("b").is_empty());
        let told = notices.take("a");
        assert_eq!(told.len(), NOTICES_KEPT);
        assert_eq!(told[0].news, News::Unwatched { untold: 5 }, "the oldest went");
        assert!(notices.take("a").is_empty());
    }
}
