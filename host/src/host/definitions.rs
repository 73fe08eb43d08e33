//! The schemas that a model gets.

use std::{collections::BTreeSet, sync::Arc};

use futures_util::future::join_all;
use serde_json::Value;

use super::Host;
use crate::{
    component::{Component, Origin},
    dispatch::CHARS_PER_TOKEN,
    registry::{
        Annotations, Definition, Entry, Format, Mentions, Provider, Redescribed, SearchMode, Selection, ToolSearch,
        ToolsetError, Toolsets, accept_redescriptions, bridge_definitions,
    },
    sandbox::{Kill, limits::CATALOGUE_WALL},
    wit::latest::Surroundings,
};

/// Why a component said nothing about its surroundings.
enum Unanswered {
    /// It may another time: the host was busy, or the machine slow.
    Passing,
    /// The same surroundings will always give the same.
    Final(String),
}

/// What is wanted.
#[derive(Clone, Debug, Default)]
pub struct DefinitionsRequest {
    /// The caller's toolsets.
    pub toolsets: Selection,
    /// The client's name, as in [`CallContext`](crate::CallContext::client): the policy may hide tools from it.
    pub client: Option<String>,
    /// Whose form.
    pub format: Format,
    /// Whose schema rules.
    pub provider: Provider,
    /// Whether tools are searched for, where it is not as the operator said.
    pub search: Option<SearchMode>,
    /// Tokens of the model's window, where it is not as the operator said.
    pub context_window: Option<u64>,
}

/// What a model gets.
#[derive(Clone, Debug, Default)]
pub struct Definitions {
    /// The definitions in the wanted form, by name.
    pub tools: Vec<Value>,
    /// Their names, in the same order.
    pub names: Vec<String>,
    /// Tools that are not listed but found by `tool_search`.
    pub deferred: Vec<String>,
    /// Tokens that all of it takes, estimated.
    pub tokens: u64,
}

impl Host {
    /// The definitions of all tools that the caller may use and that can work here. The same state gives the same text.
    pub async fn definitions(&self, request: &DefinitionsRequest) -> Result<Definitions, ToolsetError> {
        let settings = Arc::clone(&self.0.current.load().settings);
        let definitions = self.described(&request.toolsets, request.client.as_deref()).await?;
        let search =
            ToolSearch { enabled: request.search.unwrap_or(settings.tool_search.enabled), ..settings.tool_search };
        let window = request.context_window.or(settings.context_window);
        let (mut listed, deferred) = split(definitions, &settings.toolsets, &search, window);
        if !deferred.is_empty() {
            listed.extend(bridge_definitions().iter().cloned());
            listed.sort_by(|a, b| a.name.cmp(&b.name));
        }
        let listed = self.without_absent(listed);
        let catalogue = self.catalogue();
        let is_own = |name: &str| bridge_definitions().iter().any(|own| own.name == name);
        let annotations = |definition: &Definition| match catalogue.get(&definition.name) {
            Some(entry) => Annotations::of(entry),
            None if is_own(&definition.name) => Annotations::of_own(&definition.name),
            // A tool that went while the others described themselves: nobody knows what it could do.
            None => Annotations::default(),
        };
        let tools: Vec<Value> = listed
            .iter()
            .map(|definition| request.format.render(definition, request.provider, annotations(definition)))
            .collect();
        Ok(Definitions {
            names: listed.into_iter().map(|definition| definition.name).collect(),
            deferred: deferred.into_iter().map(|definition| definition.name).collect(),
            tokens: tools.iter().map(tokens_of).sum(),
            tools,
        })
    }

    /// The tools of these toolsets that can work here, by name, each as if all of them were listed.
    pub(super) async fn offered(
        &self,
        toolsets: &Selection,
        client: Option<&str>,
    ) -> Result<Vec<Definition>, ToolsetError> {
        Ok(self.without_absent(self.described(toolsets, client).await?))
    }

    /// The definitions without sentences that name a tool which is not among them. A stranger's tool counts only in strangers'
    /// texts: else a component could cut a bundled tool's description by registering a name that stands in it.
    fn without_absent(&self, mut definitions: Vec<Definition>) -> Vec<Definition> {
        let (catalogue, toolsets) = (self.catalogue(), self.toolsets());
        let names: BTreeSet<String> = definitions.iter().map(|definition| definition.name.clone()).collect();
        let is_bundled = |entry: &Arc<Entry>| entry.component.origin == Origin::Bundled;
        let offered = |name: &str| names.contains(name);
        for definition in &mut definitions {
            let own_text = catalogue.get(&definition.name).is_none_or(is_bundled);
            let arguments: BTreeSet<String> = property_names(&definition.parameters);
            let known = |name: &str| {
                let tool = || catalogue.get(name).is_some_and(|entry| !own_text || is_bundled(entry));
                !arguments.contains(name) && (toolsets.is_preset_tool(name) || tool())
            };
            let mentions = Mentions { known: &known, offered: &offered };
            if let Some(description) = mentions.in_text(&definition.description) {
                definition.description = description;
            }
            mentions.in_schema(&mut definition.parameters);
            if let Some(output) = &mut definition.output {
                mentions.in_schema(output);
            }
        }
        definitions
    }

    /// The tools of these toolsets that can work here, by name, as they describe themselves in each other's company.
    async fn described(&self, toolsets: &Selection, client: Option<&str>) -> Result<Vec<Definition>, ToolsetError> {
        self.settled().await;
        let current = self.0.current.load_full();
        let scope = self.scope(&current, Some(toolsets))?;
        let is_selected = |name: &str| {
            scope.as_ref().is_none_or(|scope| scope.contains(name)) && !current.policy.tools.hides(name, client)
        };
        let entries: Vec<Arc<Entry>> = self
            .list()
            .await
            .into_iter()
            .filter(|tool| tool.status.is_offered() && is_selected(&tool.entry.definition.name))
            .map(|tool| tool.entry)
            .collect();
        let names: BTreeSet<&str> = entries.iter().map(|entry| entry.definition.name.as_str()).collect();
        let changes = self.redescribed(&entries, &names).await;
        let finished = |(entry, changes): (&Arc<Entry>, Redescribed)| {
            let mut definition = entry.definition.clone();
            if let Some(change) = changes.get(&definition.name) {
                change.apply(&mut definition);
            }
            definition
        };
        Ok(entries.iter().zip(changes).map(finished).collect())
    }

    /// What the components say about their tools in this company: one question per component, all within the time of a list.
    async fn redescribed(&self, entries: &[Arc<Entry>], names: &BTreeSet<&str>) -> Vec<Redescribed> {
        let mut key = blake3::Hasher::new();
        for name in names {
            key.update(name.as_bytes()).update(b"\n");
        }
        let key = key.finalize();
        let mut components: Vec<&Arc<Component>> = entries.iter().map(|entry| &entry.component).collect();
        components.sort_by_key(|component| component.digest);
        components.dedup_by_key(|component| component.digest);
        let answers = join_all(components.iter().map(|component| self.redescribe(component, key, names))).await;
        let of = |entry: &Arc<Entry>| {
            let at = components.binary_search_by_key(&entry.component.digest, |component| component.digest);
            at.ok().and_then(|at| answers.get(at).cloned()).unwrap_or_default()
        };
        entries.iter().map(of).collect()
    }

    async fn redescribe(&self, component: &Arc<Component>, key: blake3::Hash, names: &BTreeSet<&str>) -> Redescribed {
        if !component.inspection.describes {
            return Redescribed::default();
        }
        if let Some(known) = self.0.redescriptions.get(&component.digest, &key) {
            return known;
        }
        let tools = names.iter().map(|name| (*name).to_owned()).collect();
        let asked = self.ask_to_describe(component, Surroundings { tools });
        let answer = self.sandbox().within(CATALOGUE_WALL, asked).await.unwrap_or(Err(Unanswered::Passing));
        let changes = match answer {
            Ok(changes) => changes,
            // Asked again next time.
            Err(Unanswered::Passing) => return Redescribed::default(),
            Err(Unanswered::Final(why)) => {
                tracing::warn!("{} stays as it was registered: its describe {why}", component.name);
                Redescribed::default()
            }
        };
        self.0.redescriptions.put(component.digest, key, Arc::clone(&changes));
        changes
    }

    async fn ask_to_describe(
        &self,
        component: &Arc<Component>,
        surroundings: Surroundings,
    ) -> Result<Redescribed, Unanswered> {
        if self.is_being_compiled(component) {
            return Err(Unanswered::Passing);
        }
        let prepared = component.prepared(&self.0.pipeline.loader).await.map_err(|_| Unanswered::Passing)?;
        let Some(run) = self.sandbox().describe(prepared, component.limits.memory, surroundings).await else {
            return Ok(Redescribed::default());
        };
        let run = run.map_err(|_busy| Unanswered::Passing)?;
        let ended = |kill: Kill| Unanswered::Final(format!("was ended ({}): {kill}", kill.reason));
        accept_redescriptions(&component.offer, run.answer.map_err(ended)?).map_err(Unanswered::Final)
    }
}

/// The names of a tool's own arguments, which its texts speak of.
fn property_names(parameters: &Value) -> BTreeSet<String> {
    let properties = parameters.get("properties").and_then(Value::as_object);
    properties.into_iter().flatten().map(|(name, _)| name.clone()).collect()
}

/// The tools that are listed, and those that are searched for.
fn split(
    definitions: Vec<Definition>,
    toolsets: &Toolsets,
    search: &ToolSearch,
    window: Option<u64>,
) -> (Vec<Definition>, Vec<Definition>) {
    let (core, others): (Vec<_>, Vec<_>) =
        definitions.into_iter().partition(|definition| toolsets.is_core(&definition.name));
    let tokens = others.iter().map(tokens).sum();
    if search.is_needed(tokens, window) {
        return (core, others);
    }
    let mut all = [core, others].concat();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    (all, Vec::new())
}

/// Tokens that a tool's definition takes, estimated.
pub fn tokens(definition: &Definition) -> u64 {
    tokens_of(&Format::OpenAi.render(definition, Provider::Standard, Annotations::default()))
}

fn tokens_of(rendered: &Value) -> u64 {
    rendered.to_string().chars().count().div_ceil(CHARS_PER_TOKEN) as u64
}
