//! From the component's exports to the author's functions.

use std::cell::RefCell;

use crate::bindings::exports::hermes::tool::provider::{Call, Content, Definition, Failure};
use crate::{Context, Tool};

thread_local! {
    static CONTEXT: RefCell<Option<Context>> = const { RefCell::new(None) };
}

/// Where the running call comes from. `None` outside a tool's call, as in `check`.
pub fn context() -> Option<Context> {
    CONTEXT.with_borrow(Clone::clone)
}

pub(crate) fn with_context<T>(context: Context, body: impl FnOnce() -> T) -> T {
    CONTEXT.set(Some(context));
    let result = body();
    CONTEXT.set(None);
    result
}

/// The tools of one component, under one toolset name.
#[doc(hidden)]
pub struct Provider {
    pub toolset: &'static str,
    pub tools: &'static [Tool],
}

impl Provider {
    pub fn register(&self) -> Vec<Definition> {
        self.tools.iter().map(|tool| tool.definition(self.toolset)).collect()
    }

    pub fn check(&self, name: &str) -> Result<(), String> {
        report_panics();
        match self.find(name)?.check {
            Some(check) => check(),
            None => Ok(()),
        }
    }

    pub fn handle(&self, call: Call) -> Result<Vec<Content>, Failure> {
        report_panics();
        let tool = self.find(&call.name).map_err(Failure::Unavailable)?;
        with_context(call.context, || (tool.handle)(&call.arguments)).map_err(Failure::from)
    }

    fn find(&self, name: &str) -> Result<&Tool, String> {
        self.tools.iter().find(|tool| tool.name == name).ok_or_else(|| format!("this component has no tool {name}"))
    }
}

/// Without this, a panic reaches the operator as a bare `unreachable`, and the author learns nothing.
pub(crate) fn report_panics() {
    std::panic::set_hook(Box::new(|info| crate::log::error(info.to_string())));
}

/// Makes the component: names the toolset and lists the tools.
///
/// ```
/// mod dice {
///     use hermes_tool::{NoArgs, Result, tool};
///
///     /// Rolls a die.
///     #[tool]
///     pub fn roll(_: NoArgs) -> Result<String> {
///         Ok("4".into())
///     }
/// }
///
/// hermes_tool::export!(toolset = "games", tools = [dice::roll]);
/// ```
///
/// On the author's own machine it checks the list and exports nothing.
///
/// With `describe = path`, a function `fn(&Surroundings) -> Vec<Redescription>`, the tools describe themselves anew for what
/// the model is offered beside them. It runs with every capability denied, and what it leaves out stays as it was registered:
///
/// ```
/// use hermes_tool::{NoArgs, Redescription, Result, Surroundings, tool};
///
/// /// Finds pages.
/// #[tool]
/// fn search(_: NoArgs) -> Result<String> {
///     Ok("https://example.org".into())
/// }
///
/// fn describe(surroundings: &Surroundings) -> Vec<Redescription> {
///     if surroundings.offer("fetch") {
///         vec![Redescription::of(search::TOOL).description("Finds pages; read them with fetch.")]
///     } else {
///         vec![]
///     }
/// }
///
/// hermes_tool::export!(toolset = "web", tools = [search], describe = describe);
/// # let host = hermes_tool::testing::FakeHost::new();
/// # assert_eq!(host.describe(describe, &["search"]), []);
/// # let anew = host.describe(describe, &["search", "fetch"]);
/// # assert_eq!(anew[0].name, "search");
/// # assert_eq!(anew[0].description.as_deref(), Some("Finds pages; read them with fetch."));
/// # assert_eq!(anew[0].parameters, None);
/// ```
#[macro_export]
macro_rules! export {
    (toolset = $toolset:literal, tools = [$($tool:path),+ $(,)?], describe = $describe:path $(,)?) => {
        $crate::export!(toolset = $toolset, tools = [$($tool),+]);

        // Checked on the author's own machine too.
        const _: fn(&$crate::Surroundings) -> Vec<$crate::Redescription> = $describe;

        #[cfg(target_family = "wasm")]
        const _: () = {
            use $crate::bindings::describer::exports::hermes::tool::describer as wit;

            struct Component;

            impl wit::Guest for Component {
                fn describe(surroundings: wit::Surroundings) -> Vec<wit::Redescription> {
                    $crate::__private::describe($describe, &surroundings)
                }
            }

            $crate::bindings::describer::export!(Component with_types_in $crate::bindings::describer);
        };
    };
    (toolset = $toolset:literal, tools = [$($tool:path),+ $(,)?] $(,)?) => {
        #[doc(hidden)]
        pub static __HERMES_PROVIDER: $crate::__private::Provider = $crate::__private::Provider {
            toolset: $toolset,
            tools: &[$(<$tool>::TOOL),+],
        };

        #[cfg(target_family = "wasm")]
        const _: () = {
            use $crate::bindings::exports::hermes::tool::provider as wit;

            struct Component;

            impl wit::Guest for Component {
                fn register() -> Vec<wit::Definition> {
                    __HERMES_PROVIDER.register()
                }
                fn check(name: String) -> Result<(), String> {
                    __HERMES_PROVIDER.check(&name)
                }
                fn handle(call: wit::Call) -> Result<Vec<wit::Content>, wit::Failure> {
                    __HERMES_PROVIDER.handle(call)
                }
            }

            $crate::bindings::export!(Component with_types_in $crate::bindings);
        };
    };
}
