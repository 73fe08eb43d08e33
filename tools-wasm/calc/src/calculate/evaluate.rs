//! Reads an expression and computes it in the same pass: nobody needs a tree of it.
//!
//! ```text
//! sum     = product (("+" | "-") product)*
//! product = sign (("*" | "/" | "%" | "% of") sign)*
//! sign    = ("-" | "+") sign | power
//! power   = postfix ("^" sign)?
//! postfix = atom "!"*
//! atom    = number | name | name "(" sum ("," sum)* ")" | "(" sum ")"
//! ```

use super::arithmetic::{Arithmetic, Value};
use super::fault::Fault;
use super::functions;
use super::token::{Kind, Token, tokens};

/// How deep parentheses, signs and powers may nest. Each level takes some stack, of which a component has 1 MiB; what
/// people write stays below ten.
const MAX_DEPTH: usize = 64;

/// The value of an expression.
pub(crate) fn evaluate(expression: &str) -> Result<Value, Fault> {
    let tokens = tokens(expression)?;
    let mut evaluator = Evaluator { tokens, next: 0, depth: 0, arithmetic: Arithmetic::new() };
    let value = evaluator.sum()?;
    let rest = evaluator.peek();
    match &rest.kind {
        Kind::End => Ok(value),
        Kind::Symbol(')') => Err(Fault::new(rest.at, "a closing parenthesis without an opening one")),
        Kind::Symbol(',') => {
            Err(Fault::new(rest.at, "a comma outside a function; write thousands as 1_000 and decimals with a point"))
        }
        _ => Err(Fault::new(rest.at, "an operator is missing; to multiply write `*`")),
    }
}

struct Evaluator {
    tokens: Vec<Token>,
    next: usize,
    depth: usize,
    arithmetic: Arithmetic,
}

/// An operator between two values.
type Operation = fn(&mut Arithmetic, Value, Value) -> Result<Value, String>;

impl Evaluator {
    fn sum(&mut self) -> Result<Value, Fault> {
        let mut value = self.product()?;
        loop {
            let at = self.peek().at;
            let operation: Operation = match self.peek().kind {
                Kind::Symbol('+') => Arithmetic::add,
                Kind::Symbol('-') => Arithmetic::subtract,
                _ => return Ok(value),
            };
            self.advance();
            let right = self.product()?;
            value = self.apply(at, operation, value, right)?;
        }
    }

    fn product(&mut self) -> Result<Value, Fault> {
        let mut value = self.sign()?;
        loop {
            let at = self.peek().at;
            let operation: Operation = match self.peek().kind {
                Kind::Symbol('*') => Arithmetic::multiply,
                Kind::Symbol('/') => Arithmetic::divide,
                Kind::Symbol('%') => self.percent_or_remainder()?,
                _ => return Ok(value),
            };
            self.advance();
            let right = self.sign()?;
            value = self.apply(at, operation, value, right)?;
        }
    }

    /// `%` is a percentage before `of` and the remainder before a value. Alone it is neither: `100 + 10%` means 110 to
    /// some and 100.1 to others, so it is refused.
    fn percent_or_remainder(&mut self) -> Result<Operation, Fault> {
        let Token { kind, .. } = self.after_next();
        match kind {
            Kind::Name(name) if name == "of" => {
                self.advance();
                Ok(|arithmetic, percent, whole| {
                    let share = arithmetic.divide(percent, Value::whole(100))?;
                    arithmetic.multiply(share, whole)
                })
            }
            Kind::Number(_) | Kind::Name(_) | Kind::Symbol('(' | '-' | '+') => Ok(Arithmetic::remainder),
            _ => Err(Fault::new(
                self.peek().at,
                "`%` needs a value behind it; write percentages as `15% of 80`, or divide by 100",
            )),
        }
    }

    /// Every way into a deeper level leads through here, so this is where levels are counted.
    fn sign(&mut self) -> Result<Value, Fault> {
        if self.depth == MAX_DEPTH {
            return Err(Fault::new(
                self.peek().at,
                format!("nested more than {MAX_DEPTH} levels deep; split the expression"),
            ));
        }
        self.depth += 1;
        let value = match self.peek().kind {
            Kind::Symbol('-') => {
                self.advance();
                self.sign()?.map(|x| -x, |x| -x)
            }
            Kind::Symbol('+') => {
                self.advance();
                self.sign()?
            }
            _ => self.power()?,
        };
        self.depth -= 1;
        Ok(value)
    }

    fn power(&mut self) -> Result<Value, Fault> {
        let base = self.postfix()?;
        let at = self.peek().at;
        if !self.accept('^') {
            return Ok(base);
        }
        let exponent = self.sign()?;
        self.apply(at, Arithmetic::power, base, exponent)
    }

    fn postfix(&mut self) -> Result<Value, Fault> {
        let mut value = self.atom()?;
        loop {
            let at = self.peek().at;
            if !self.accept('!') {
                return Ok(value);
            }
            value = self.arithmetic.factorial(&value).map_err(|message| Fault::new(at, message))?;
        }
    }

    fn atom(&mut self) -> Result<Value, Fault> {
        let Token { kind, at } = self.peek().clone();
        self.advance();
        match kind {
            Kind::Number(value) => Ok(Value::Exact(value)),
            Kind::Name(name) if self.accept('(') => {
                let arguments = self.arguments(at)?;
                functions::call(&mut self.arithmetic, &name, &arguments).map_err(|message| Fault::new(at, message))
            }
            Kind::Name(name) => functions::constant(&name).map_err(|message| Fault::new(at, message)),
            Kind::Symbol('(') => {
                let value = self.sum()?;
                self.close(at)?;
                Ok(value)
            }
            Kind::Symbol(symbol) => {
                Err(Fault::new(at, format!("expected a number, a name or `(` instead of `{symbol}`")))
            }
            Kind::End => Err(Fault::new(at, "expected a number, a name or `(`")),
        }
    }

    fn arguments(&mut self, opened: usize) -> Result<Vec<Value>, Fault> {
        let mut arguments = vec![self.sum()?];
        while self.accept(',') {
            arguments.push(self.sum()?);
        }
        self.close(opened)?;
        Ok(arguments)
    }

    fn close(&mut self, opened: usize) -> Result<(), Fault> {
        let at = self.peek().at;
        if self.accept(')') {
            return Ok(());
        }
        let message = format!("expected `)` for the parenthesis opened at character {}", opened + 1);
        Err(Fault::new(at, message))
    }

    fn apply(&mut self, at: usize, operation: Operation, left: Value, right: Value) -> Result<Value, Fault> {
        operation(&mut self.arithmetic, left, right).map_err(|message| Fault::new(at, message))
    }

    fn peek(&self) -> &Token {
        self.token(self.next)
    }

    fn after_next(&self) -> &Token {
        self.token(self.next + 1)
    }

    /// The end stays the end, however often it is read.
    fn token(&self, index: usize) -> &Token {
        &self.tokens[index.min(self.tokens.len() - 1)]
    }

    fn advance(&mut self) {
        self.next += 1;
    }

    fn accept(&mut self, symbol: char) -> bool {
        let found = self.peek().kind == Kind::Symbol(symbol);
        if found {
            self.advance();
        }
        found
    }
}
