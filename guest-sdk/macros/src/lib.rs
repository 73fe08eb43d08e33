//! The attributes of `hermes-tool`. Their documentation is there.

mod schema;

use proc_macro::TokenStream;
use proc_macro2::{Span, TokenStream as Tokens};
use quote::{format_ident, quote, quote_spanned};
use syn::{
    Attribute, DeriveInput, Expr, ExprLit, FnArg, Ident, ItemFn, Lit, LitStr, Meta, ReturnType, parse_macro_input,
    spanned::Spanned,
};

/// Marks a function as a tool.
#[proc_macro_attribute]
pub fn tool(options: TokenStream, item: TokenStream) -> TokenStream {
    let mut parsed = Options::default();
    let parser = syn::meta::parser(|meta| parsed.accept(meta));
    parse_macro_input!(options with parser);
    let function = parse_macro_input!(item as ItemFn);
    expand_tool(parsed, function).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Marks a type that comes in as arguments, or is part of one.
#[proc_macro_attribute]
pub fn args(_: TokenStream, item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as DeriveInput);
    let arguments = schema::arguments(&item);
    let mut tokens = derive(quote!(::hermes_tool::__private::serde::Deserialize), item);
    tokens.extend(TokenStream::from(arguments));
    tokens
}

/// Marks a type that goes out as a structured result, or is part of one.
#[proc_macro_attribute]
pub fn output(_: TokenStream, item: TokenStream) -> TokenStream {
    derive(quote!(::hermes_tool::__private::serde::Serialize), parse_macro_input!(item as DeriveInput))
}

fn derive(serde: Tokens, mut item: DeriveInput) -> TokenStream {
    let schema = schema::implement(&mut item).unwrap_or_else(syn::Error::into_compile_error);
    quote! {
        #[derive(#serde)]
        #[serde(crate = "::hermes_tool::__private::serde")]
        #item
        #schema
    }
    .into()
}

#[derive(Default)]
struct Options {
    name: Option<LitStr>,
    emoji: Option<LitStr>,
    check: Option<Expr>,
    env: Vec<LitStr>,
    max_result_size: Option<Expr>,
    hints: Vec<Ident>,
}

const HINTS: [&str; 5] = ["read_only", "destructive", "idempotent", "open_world", "parallel_safe"];

impl Options {
    fn accept(&mut self, meta: syn::meta::ParseNestedMeta<'_>) -> syn::Result<()> {
        let Some(key) = meta.path.get_ident().cloned() else {
            return Err(meta.error("expected a plain option name"));
        };
        match key.to_string().as_str() {
            "name" => self.name = Some(meta.value()?.parse()?),
            "emoji" => self.emoji = Some(meta.value()?.parse()?),
            "check" => self.check = Some(meta.value()?.parse()?),
            "max_result_size" => self.max_result_size = Some(meta.value()?.parse()?),
            "env" => {
                let list;
                let value = meta.value()?;
                syn::bracketed!(list in value);
                self.env =
                    list.parse_terminated(<LitStr as syn::parse::Parse>::parse, syn::Token![,])?.into_iter().collect();
            }
            hint if HINTS.contains(&hint) => self.hints.push(key),
            _ => {
                return Err(meta.error(format!(
                    "unknown option; expected name, emoji, check, env, max_result_size or a hint: {}",
                    HINTS.join(", ")
                )));
            }
        }
        Ok(())
    }
}

fn expand_tool(options: Options, function: ItemFn) -> syn::Result<Tokens> {
    let ident = &function.sig.ident;
    let visibility = &function.vis;
    let argument = match function.sig.inputs.iter().collect::<Vec<_>>().as_slice() {
        [FnArg::Typed(argument)] => (*argument.ty).clone(),
        _ => {
            return Err(syn::Error::new_spanned(
                &function.sig,
                "a tool takes exactly one argument: a struct marked #[args] (use hermes_tool::NoArgs for none)",
            ));
        }
    };
    if matches!(function.sig.output, ReturnType::Default) {
        return Err(syn::Error::new_spanned(&function.sig, "a tool returns hermes_tool::Result<…>"));
    }
    let name = options.name.unwrap_or_else(|| LitStr::new(&ident.to_string(), ident.span()));
    check_name(&name)?;
    let description = doc_text(&function.attrs);
    if description.is_empty() {
        return Err(syn::Error::new(
            Span::call_site(),
            "a tool needs a doc comment: it is the description that the model reads",
        ));
    }
    let emoji = option_tokens(options.emoji);
    let max_result_size = option_tokens(options.max_result_size);
    let check = option_tokens(options.check.map(|path| quote!(|| #path().map_err(|why| why.to_string()))));
    let env = options.env;
    // At the argument's own place: that is where the compiler shows what is wrong with it.
    let parameters = quote_spanned!(argument.span()=> ::hermes_tool::__private::parameters::<#argument>);
    let hints = HINTS.iter().map(|hint| {
        let field = format_ident!("{hint}");
        let set = options.hints.iter().any(|given| given == hint);
        quote!(#field: #set)
    });
    Ok(quote! {
        #function

        #[doc(hidden)]
        #[allow(non_camel_case_types)]
        #visibility struct #ident {}

        impl #ident {
            /// The tool as the host sees it.
            #visibility const TOOL: ::hermes_tool::Tool = ::hermes_tool::Tool {
                name: #name,
                description: #description,
                emoji: #emoji,
                required_env: &[#(#env),*],
                max_result_size: #max_result_size,
                hints: ::hermes_tool::Hints { #(#hints),* },
                check: #check,
                parameters: #parameters,
                output: ::hermes_tool::__private::output_of(#ident),
                handle: |arguments| ::hermes_tool::__private::handle(#ident, arguments),
            };
        }
    })
}

fn option_tokens(value: Option<impl quote::ToTokens>) -> Tokens {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}

/// The host refuses other names; saying so at the author's compiler saves a round trip.
fn check_name(name: &LitStr) -> syn::Result<()> {
    let text = name.value();
    let good = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if text.is_empty() || text.len() > 64 || !good {
        return Err(syn::Error::new(name.span(), "a tool's name is 1 to 64 characters of A-Z, a-z, 0-9, _ and -"));
    }
    Ok(())
}

/// The doc comment as one text: the common leading space gone, line ends kept.
fn doc_text(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    });
    let text: Vec<String> = lines.map(|line| line.strip_prefix(' ').unwrap_or(&line).trim_end().to_owned()).collect();
    text.join("\n").trim().to_owned()
}
