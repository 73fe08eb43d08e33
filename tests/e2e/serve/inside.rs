//! A host that is served inside the test's own process, where what it holds can be counted. The real binary serves by the same code.

use std::{fs, os::unix::net::UnixStream, sync::Arc, thread};

use hermes_host::{
    Host,
    serve::{
        http::{Metrics, Server, Settings, Token, guarded, router},
        mcp::Mcp,
    },
};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use super::{TOKEN, client::Client, pipe::Pipe};
use crate::{cli::Place, heap, start};

pub(super) struct Inside {
    host: Host,
    runtime: Runtime,
}

/// What a process holds at one moment.
pub(super) struct Held {
    live_bytes: usize,
    tasks: usize,
    threads: usize,
    files: usize,
}

impl Inside {
    pub(super) fn start(place: &Place) -> Self {
        let host = start::builder(place).build().unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        Self { host, runtime }
    }

    /// A client as on stdio.
    pub(super) fn pipe(&self) -> Pipe {
        let (here, there) = UnixStream::pair().unwrap();
        there.set_nonblocking(true).unwrap();
        let mcp = Mcp::new(self.host.clone(), None).unwrap();
        let runtime = self.runtime.handle().clone();
        thread::spawn(move || {
            runtime.block_on(async {
                let (read, write) = tokio::net::UnixStream::from_std(there).unwrap().into_split();
                mcp.serve_stream(read, write, CancellationToken::new()).await.unwrap();
            });
        });
        Pipe::over(here.try_clone().unwrap(), here)
    }

    /// A client of the HTTP API.
    pub(super) fn http(&self) -> Client {
        let settings = Settings::new("127.0.0.1:0".parse().unwrap(), Token::new(TOKEN).unwrap(), &[]).unwrap();
        let server = self.runtime.block_on(async { Server::bind(&settings).unwrap() });
        let port = server.address().unwrap().port();
        let (metrics, stop) = (Metrics::new(&self.host), CancellationToken::new());
        let routes = guarded(router(&self.host, &metrics, &stop), Arc::new(settings));
        self.runtime.spawn(server.serve(routes, metrics.connections(), stop));
        Client { port, token: Some(TOKEN) }
    }

    pub(super) fn held(&self) -> Held {
        let entries = |folder: &str| fs::read_dir(folder).unwrap().count();
        Held {
            live_bytes: heap::live_bytes(),
            tasks: self.runtime.metrics().num_alive_tasks(),
            threads: entries("/proc/self/task"),
            files: entries("/proc/self/fd"),
        }
    }
}

/// None of the figures grows from round to round.
pub(super) fn assert_flat(rounds: &[Held]) {
    let figure =
        |what: &str, of: fn(&Held) -> usize| heap::assert_flat(what, &rounds.iter().map(of).collect::<Vec<_>>());
    figure("live bytes", |held| held.live_bytes);
    figure("tasks", |held| held.tasks);
    figure("threads", |held| held.threads);
    figure("open files", |held| held.files);
}
