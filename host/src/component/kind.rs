//! What a component can be. Each kind is linked, asked what it offers, and checked in its own way; all else is the same.

use std::future::Future;

use serde::{Serialize, de::DeserializeOwned};

use super::Role;
use crate::{
    registry::{Definition, Subscription},
    sandbox::{Busy, PreparedHook, PreparedTools, Run, Sandbox},
    wit::latest,
};

/// A kind of component.
pub trait Kind: 'static {
    /// What its type says.
    const ROLE: Role;
    /// The function that is asked once for the same bytes.
    const QUESTION: &'static str;
    /// The linked form.
    type Prepared: std::fmt::Debug + Send + Sync;
    /// What it answers when it is asked.
    type Raw;
    /// The same, checked.
    type Offer: std::fmt::Debug + Serialize + DeserializeOwned + Send + Sync;

    /// Links a compiled component.
    fn prepare(sandbox: &Sandbox, component: &wasmtime::component::Component) -> wasmtime::Result<Self::Prepared>;

    /// Asks what it offers.
    fn ask(
        sandbox: &Sandbox,
        guest: &Self::Prepared,
        memory: usize,
    ) -> impl Future<Output = Result<Run<Self::Raw>, Busy>>;

    /// Checks the answer.
    fn accept(raw: Self::Raw) -> Result<Self::Offer, String>;
}

/// Components that offer tools.
#[derive(Debug)]
pub struct Tools;

impl Kind for Tools {
    const ROLE: Role = Role::Tool;
    const QUESTION: &'static str = "register";
    type Prepared = PreparedTools;
    type Raw = Vec<latest::Definition>;
    type Offer = Vec<Definition>;

    fn prepare(sandbox: &Sandbox, component: &wasmtime::component::Component) -> wasmtime::Result<PreparedTools> {
        sandbox.prepare_tools(component)
    }

    async fn ask(sandbox: &Sandbox, guest: &PreparedTools, memory: usize) -> Result<Run<Self::Raw>, Busy> {
        sandbox.register(guest, memory).await
    }

    fn accept(raw: Self::Raw) -> Result<Self::Offer, String> {
        Definition::accept_all(raw)
    }
}

/// Components that watch over the calls of others.
#[derive(Debug)]
pub struct Hooks;

impl Kind for Hooks {
    const ROLE: Role = Role::Hook;
    const QUESTION: &'static str = "subscribe";
    type Prepared = PreparedHook;
    type Raw = latest::Subscription;
    type Offer = Subscription;

    fn prepare(sandbox: &Sandbox, component: &wasmtime::component::Component) -> wasmtime::Result<PreparedHook> {
        sandbox.prepare_hook(component)
    }

    async fn ask(sandbox: &Sandbox, guest: &PreparedHook, memory: usize) -> Result<Run<Self::Raw>, Busy> {
        sandbox.subscribe(guest, memory).await
    }

    fn accept(raw: Self::Raw) -> Result<Self::Offer, String> {
        Subscription::accept(raw)
    }
}
