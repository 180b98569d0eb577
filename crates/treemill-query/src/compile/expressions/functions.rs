//! Functions that the user writes: those after `key=`, and those that are made with a name.

use crate::compile::expressions::free_names;
use crate::compile::nodes::objects::Move;
use crate::compile::{Binding, Compiler, LevelId, NodeId, Op, Result, span};
use crate::error::QueryError;
use crate::spec::{Expr, Expression, Span, Target};

impl Compiler<'_> {
    /// The list, repeated for each value of the variables from inner loops that a key uses.
    pub(in crate::compile) fn nested_for(
        &mut self,
        key: Option<&Expr>,
        items: Binding,
        level: LevelId,
    ) -> Result<(Binding, LevelId)> {
        let above = self.names.nodes.graph.parent(level);
        let Some(key) = key.filter(|_| above != self.names.nodes.here) else {
            return Ok((items, level));
        };
        let names = free_names::names(key);
        let deeper = self.locals.iter().any(|(name, bound)| {
            names.any_of([name.as_str()])
                && !self
                    .names
                    .nodes
                    .graph
                    .encloses(self.names.nodes.level_of(bound), above)
        });
        if !deeper {
            return Ok((items, level));
        }
        let nested = self
            .names
            .nodes
            .nested(level, self.names.nodes.here, span(key))?;
        let how = Move::Take(nested, 0);
        Ok((self.names.nodes.carried_from(&items, level, how), nested))
    }

    /// The value of `key=` for every item, at the items' own level. Without `key=` it is the items.
    pub(in crate::compile) fn key(
        &mut self,
        items: &Binding,
        of: LevelId,
        key: Option<&Expr>,
        at: Span,
    ) -> Result<NodeId> {
        let Some(key) = key else {
            return match items {
                Binding::Value(id) => Ok(*id),
                other => {
                    let title = self.names.nodes.title(other);
                    let message = format!(
                        "{title} has no order of its own: say which, as in key=lambda x: x.pt"
                    );
                    Err(QueryError::at(at, message))
                }
            };
        };
        let at = span(key);
        let element = self.names.nodes.entered(items.clone(), at)?;
        let level = self.names.nodes.loop_of(&element);
        let (outside, variables) = (self.names.nodes.here, self.locals.len());
        // The value is below several lists at once if a `for` has been left already.
        self.names.nodes.here = level;
        let found = self.key_value(key, element);
        self.names.nodes.here = outside;
        self.locals.truncate(variables);
        let found = found?;
        // Back at the items' level, which is the same under another name.
        if self.names.nodes.graph.as_const(found).is_some() {
            return Ok(self.names.nodes.moved(Op::Spread, found, of));
        }
        Ok(self.names.nodes.moved(Op::Align, found, of))
    }

    fn key_value(&mut self, key: &Expr, element: Binding) -> Result<NodeId> {
        let at = span(key);
        let id = match key {
            Expr::Lambda { params, body, .. } => {
                let names: Vec<Target> = params.iter().cloned().map(Target::Name).collect();
                self.unpack(&names, element, at)?;
                self.value(body)?
            }
            Expr::Name { .. } => {
                let argument = "\u{0}item".to_owned();
                self.locals.push((argument.clone(), element));
                let call = Expr::Call {
                    function: Box::new(key.clone()),
                    args: vec![Expr::Name { id: argument, at }],
                    keywords: Vec::new(),
                    at,
                };
                self.value(&call)?
            }
            _ => {
                let message = "key= takes a lambda, as in key=lambda j: j.pt";
                return Err(QueryError::at(at, message));
            }
        };
        if !self
            .names
            .nodes
            .is_single(self.names.nodes.graph.node(id).level)
        {
            let message = "a key is one value per item, and this is a list";
            return Err(QueryError::at(at, message));
        }
        self.names.nodes.bring(id, self.names.nodes.here, at)
    }

    /// A function that the user has written.
    pub(in crate::compile) fn user_function(
        &mut self,
        name: &str,
        params: &[String],
        body: &Expression,
        args: &[Expr],
        at: Span,
    ) -> Result<Binding> {
        if crate::compile::nodes::builtins::find(name).is_some() {
            let message = format!(
                "{name}(…) is a function of the language, and one of yours, too: give yours another name"
            );
            return Err(QueryError::at(at, message));
        }
        if params.len() != args.len() {
            let message = format!(
                "{name}(…) takes {} arguments, and gets {}",
                params.len(),
                args.len()
            );
            return Err(QueryError::at(at, message));
        }
        let mut known = Vec::with_capacity(args.len());
        for (param, arg) in params.iter().zip(args) {
            known.push((param.clone(), self.bind(arg)?));
        }
        // The body does not see the variables of its caller.
        let outer = std::mem::replace(&mut self.locals, known);
        let text = std::mem::replace(&mut self.text, body.text.clone());
        let found = self.bind(&body.tree);
        self.text = text;
        self.locals = outer;
        found.map_err(|error| {
            let message = format!("{} (in {name}(…), called here)", error.message);
            QueryError::at(at, message).suggest(error.suggestions)
        })
    }
}
