//! `Schema` for a struct with named fields, or an enum of plain names.

use proc_macro2::TokenStream as Tokens;
use quote::quote;
use syn::{Attribute, Data, DeriveInput, Expr, ExprLit, ExprUnary, Fields, Ident, Lit, LitStr, UnOp};

/// The implementation; takes the `#[schema(…)]` attributes off the item, since nobody else knows them.
pub(crate) fn implement(item: &mut DeriveInput) -> syn::Result<Tokens> {
    let name = &item.ident;
    let (generics, arguments, bounds) = item.generics.split_for_impl();
    let container = Serde::read(&item.attrs)?;
    let body = match &mut item.data {
        Data::Struct(data) => object(&container, &mut data.fields)?,
        Data::Enum(data) => {
            let mut names = Vec::new();
            for variant in &data.variants {
                if !matches!(variant.fields, Fields::Unit) {
                    return Err(syn::Error::new_spanned(
                        variant,
                        "only enums of plain names have a schema here; use a struct, or implement hermes_tool::Schema by hand",
                    ));
                }
                names.push(json(&Serde::read(&variant.attrs)?.variant_name(&container, &variant.ident)?));
            }
            let keywords = format!(r#""type":"string","enum":[{}]"#, names.join(","));
            quote!(out.push_str(#keywords);)
        }
        Data::Union(_) => return Err(syn::Error::new_spanned(name, "a union has no schema")),
    };
    Ok(quote! {
        impl #generics ::hermes_tool::Schema for #name #arguments #bounds {
            fn keywords(out: &mut ::std::string::String) {
                #body
            }
        }
    })
}

/// Says that a struct can be all of a tool's arguments. An enum is a part of some.
pub(crate) fn arguments(item: &DeriveInput) -> Tokens {
    let name = &item.ident;
    let (generics, parameters, bounds) = item.generics.split_for_impl();
    match &item.data {
        Data::Struct(_) => quote!(impl #generics ::hermes_tool::Arguments for #name #parameters #bounds {}),
        Data::Enum(_) | Data::Union(_) => Tokens::new(),
    }
}

fn object(container: &Serde, fields: &mut Fields) -> syn::Result<Tokens> {
    let Fields::Named(fields) = fields else {
        return Err(syn::Error::new_spanned(fields, "arguments are a struct with named fields"));
    };
    let mut body = Tokens::new();
    let mut required = Tokens::new();
    let mut separator = "";
    for field in &mut fields.named {
        let serde = Serde::read(&field.attrs)?;
        if serde.skip {
            continue;
        }
        let Some(ident) = &field.ident else { continue };
        let name = json(&serde.field_name(container, ident)?);
        let mut tail = String::new();
        let description = crate::doc_text(&field.attrs);
        if !description.is_empty() {
            tail.push_str(&format!(r#","description":{}"#, json(&description)));
        }
        tail.push_str(&keywords(&field.attrs)?);
        tail.push('}');
        field.attrs.retain(|attribute| !attribute.path().is_ident("schema"));
        let kind = &field.ty;
        let head = format!("{separator}{name}:{{");
        separator = ",";
        body.extend(quote! {
            out.push_str(#head);
            <#kind as ::hermes_tool::Schema>::keywords(out);
            out.push_str(#tail);
        });
        if !serde.default && !container.default {
            required.extend(quote! {
                if !<#kind as ::hermes_tool::Schema>::OPTIONAL {
                    out.push_str(separator);
                    out.push_str(#name);
                    separator = ",";
                }
            });
        }
    }
    let required = if required.is_empty() {
        quote!(out.push('}');)
    } else {
        quote! {
            out.push_str("},\"required\":[");
            let mut separator = "";
            #required
            let _ = separator;
            out.push(']');
        }
    };
    Ok(quote! {
        out.push_str(r#""type":"object","properties":{"#);
        #body
        #required
    })
}

/// What serde's own attributes change about the JSON form.
#[derive(Default)]
struct Serde {
    rename: Option<String>,
    rename_all: Option<LitStr>,
    default: bool,
    skip: bool,
}

impl Serde {
    fn read(attributes: &[Attribute]) -> syn::Result<Self> {
        let mut serde = Self::default();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("serde")) {
            attribute.parse_nested_meta(|meta| {
                let text = |meta: &syn::meta::ParseNestedMeta<'_>| meta.value()?.parse::<LitStr>();
                if meta.path.is_ident("rename") {
                    serde.rename = Some(text(&meta)?.value());
                } else if meta.path.is_ident("rename_all") {
                    serde.rename_all = Some(text(&meta)?);
                } else if meta.path.is_ident("default") {
                    serde.default = true;
                    if meta.input.peek(syn::Token![=]) {
                        text(&meta)?;
                    }
                } else if meta.path.is_ident("skip") {
                    serde.skip = true;
                } else if meta.path.is_ident("alias") || meta.path.is_ident("skip_serializing_if") || meta.path.is_ident("crate") {
                    text(&meta)?;
                } else if !meta.path.is_ident("deny_unknown_fields") {
                    return Err(meta.error(
                        "the schema does not follow this attribute; implement hermes_tool::Schema by hand with plain serde derives",
                    ));
                }
                Ok(())
            })?;
        }
        Ok(serde)
    }

    fn field_name(&self, container: &Self, ident: &Ident) -> syn::Result<String> {
        let plain = ident.to_string();
        let plain = plain.strip_prefix("r#").unwrap_or(&plain).to_owned();
        if let Some(name) = &self.rename {
            return Ok(name.clone());
        }
        let words: Vec<&str> = plain.split('_').collect();
        container.rename_all.as_ref().map_or(Ok(plain.clone()), |style| recase(style, &words))
    }

    fn variant_name(&self, container: &Self, ident: &Ident) -> syn::Result<String> {
        let plain = ident.to_string();
        if let Some(name) = &self.rename {
            return Ok(name.clone());
        }
        let Some(style) = &container.rename_all else { return Ok(plain) };
        let starts = plain.char_indices().filter(|(at, c)| *at == 0 || c.is_uppercase()).map(|(at, _)| at);
        let starts: Vec<usize> = starts.chain([plain.len()]).collect();
        let words: Vec<&str> = starts.windows(2).map(|pair| &plain[pair[0]..pair[1]]).collect();
        recase(style, &words)
    }
}

fn recase(style: &LitStr, words: &[&str]) -> syn::Result<String> {
    let capital = |word: &&str| {
        let mut letters = word.chars();
        letters
            .next()
            .map(|first| first.to_uppercase().chain(letters.flat_map(char::to_lowercase)).collect())
            .unwrap_or_default()
    };
    let lower: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    let capitals: Vec<String> = words.iter().map(capital).collect();
    Ok(match style.value().as_str() {
        "lowercase" => lower.concat(),
        "UPPERCASE" => lower.concat().to_uppercase(),
        "snake_case" => lower.join("_"),
        "kebab-case" => lower.join("-"),
        "SCREAMING_SNAKE_CASE" => lower.join("_").to_uppercase(),
        "SCREAMING-KEBAB-CASE" => lower.join("-").to_uppercase(),
        "PascalCase" => capitals.concat(),
        "camelCase" => lower.first().cloned().unwrap_or_default() + &capitals.get(1..).unwrap_or_default().concat(),
        _ => return Err(syn::Error::new(style.span(), "unknown style")),
    })
}

/// `#[schema(minimum = 1, max_length = 20)]` as `,"minimum":1,"maxLength":20`.
fn keywords(attributes: &[Attribute]) -> syn::Result<String> {
    let mut text = String::new();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("schema")) {
        attribute.parse_nested_meta(|meta| {
            let key = meta.path.require_ident()?.to_string();
            let words: Vec<&str> = key.split('_').collect();
            let key = recase(&LitStr::new("camelCase", proc_macro2::Span::call_site()), &words)?;
            text.push_str(&format!(",{}:{}", json(&key), literal(&meta.value()?.parse()?)?));
            Ok(())
        })?;
    }
    Ok(text)
}

fn literal(value: &Expr) -> syn::Result<String> {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Ok(json(&text.value())),
        Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) => Ok(number.base10_digits().to_owned()),
        Expr::Lit(ExprLit { lit: Lit::Float(number), .. }) => Ok(number.base10_digits().to_owned()),
        Expr::Lit(ExprLit { lit: Lit::Bool(value), .. }) => Ok(value.value.to_string()),
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => Ok(format!("-{}", literal(expr)?)),
        other => Err(syn::Error::new_spanned(other, "expected a string, a number, true or false")),
    }
}

/// A JSON string literal.
fn json(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if (c as u32) < 0x20 => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
