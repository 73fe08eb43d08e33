use hermes_tool::{Result, args, tool};

#[args]
struct Hello {
    /// Who to greet.
    name: String,
}

/// Greets a person by name.
#[tool]
fn hello(args: Hello) -> Result<String> {
    Ok(format!("Hello, {}!", args.name))
}

hermes_tool::export!(toolset = "demo", tools = [hello]);
