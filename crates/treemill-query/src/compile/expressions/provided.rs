//! Calls of functions that the query does not define. Arguments that are constants are given to the function once, here.

use crate::compile::expressions::call::no_keywords;
use crate::compile::nodes::callee::Callee;
use crate::compile::nodes::provided::{Named, SharedArguments, with_constants};
use crate::compile::{Binding, Compiler, Constant, Node, NodeId, Op, Result, Type, span};
use crate::error::{QueryError, near};
use crate::function::{Collection, Fixed, Function, Given, Output, ParameterType, Provided};
use crate::spec::{Expr, Span};
use std::sync::Arc;

impl Compiler<'_> {
    /// What an id stands for.
    pub(in crate::compile) fn provided(&self, id: &str, title: &str, at: Span) -> Result<Binding> {
        match self.functions.get(id) {
            Some(provided) => Ok(Binding::Provided(Named {
                title: title.to_owned(),
                provided: provided.clone(),
            })),
            None => Err(QueryError::at(
                at,
                format!("the function {title} was not given"),
            )),
        }
    }

    /// `functions["name"]`
    pub(in crate::compile) fn function_of(
        &mut self,
        named: &Named,
        index: &Expr,
        at: Span,
    ) -> Result<Binding> {
        let title = &named.title;
        let Provided::Many(many) = &named.provided else {
            let message = format!("{title} is one function: write {title}(…)");
            return Err(QueryError::at(at, message));
        };
        let key = self.value(index)?;
        let (name, written) = match self.names.nodes.graph.as_const(key) {
            Some(Constant::Str(name)) => (name.to_string(), format!("{name:?}")),
            Some(Constant::Int(number)) => (number.to_string(), number.to_string()),
            Some(Constant::UInt(number)) => (number.to_string(), number.to_string()),
            _ => {
                let message = format!("{title}[…] takes a function's name: a string in quotes");
                return Err(QueryError::at(span(index), message));
            }
        };
        match many.functions.get(&name) {
            Some(function) => Ok(Binding::Provided(Named {
                title: format!("{title}[{written}]"),
                provided: Provided::One(Arc::clone(function)),
            })),
            None => {
                let known = many.functions.keys().map(String::as_str);
                let message = format!("{title} has no {written}");
                Err(QueryError::at(span(index), message).suggest(near(&name, known)))
            }
        }
    }

    /// `functions.part` where the part is called: `None` for what is no name of functions.
    pub(in crate::compile) fn given_part(
        &self,
        value: &Expr,
        name: &str,
        at: Span,
    ) -> Result<Option<Named>> {
        let Expr::Name { id, .. } = value else {
            return Ok(None);
        };
        if self.locals.iter().any(|(known, _)| known == id) {
            return Ok(None);
        }
        let Some(named) = self.names.given_function(id) else {
            return Ok(None);
        };
        match self.names.nodes.part_of(&named, name, at)? {
            Binding::Provided(part) => Ok(Some(part)),
            _ => Ok(None),
        }
    }

    /// `function(…)`
    pub(in crate::compile) fn call_provided(
        &mut self,
        named: &Named,
        args: &[Expr],
        keywords: &[(String, Expr)],
        at: Span,
    ) -> Result<Binding> {
        let title = &named.title;
        no_keywords(title, keywords)?;
        let function = match &named.provided {
            Provided::One(function) => function,
            Provided::Many(many) => many
                .itself
                .as_ref()
                .ok_or_else(|| several(title, many, at))?,
        };
        let wrong = |message: String| QueryError::at(at, format!("{title}: {message}"));
        let mut ids = Vec::with_capacity(args.len());
        for arg in args {
            let id = self.value(arg).map_err(|mut error| {
                if let (Some(column), Expr::Name { .. }) = (&error.column, arg) {
                    error.message = format!(
                        "there is no column {column} to call {title}(…) with: a Python function gets the columns \
                         that its parameters name, or those of columns=[…]"
                    );
                }
                error
            })?;
            ids.push(id);
        }
        let given: Vec<Given> = ids
            .iter()
            .map(|id| self.names.nodes.as_given(*id))
            .collect();
        let of = Arc::clone(function);
        let function = function
            .fitted(&given)
            .map_err(wrong)?
            .unwrap_or_else(|| Arc::clone(&of));
        let parameters = function.parameters();
        if parameters.len() != args.len() {
            let names: Vec<&str> = parameters.iter().map(|each| each.name.as_str()).collect();
            let message = format!(
                "{title}(…) takes {} ({}), and gets {}",
                parameters.len(),
                names.join(", "),
                args.len()
            );
            return Err(QueryError::at(at, message));
        }
        for ((id, arg), parameter) in ids.iter_mut().zip(args).zip(&parameters) {
            *id = self
                .names
                .nodes
                .as_argument(*id, parameter, title, span(arg))?;
        }
        let fixed: Vec<Option<Fixed>> = ids.iter().map(|id| self.names.nodes.fixed(*id)).collect();
        let types: Vec<ParameterType> = parameters.iter().map(|each| each.ty).collect();
        let outputs = match function.outputs() {
            None if types.iter().any(|ty| ty.is_list()) => Some(vec![Output {
                name: None,
                ty: crate::function::ResultType::Float,
                list: None,
            }]),
            outputs => outputs,
        };
        if fixed.iter().all(Option::is_some) {
            if let Some(outputs) = &outputs {
                return self
                    .names
                    .nodes
                    .returned_constants(&*function, &fixed, outputs, at)
                    .map_err(|mut error| {
                        error.message = format!("{title}: {}", error.message);
                        error
                    });
            }
            let mut out = [0.0];
            evaluate_fixed(&*function, &fixed, &mut out).map_err(wrong)?;
            let [value] = out;
            let constant = Constant::Float(value.to_bits());
            return Ok(Binding::Value(self.names.nodes.graph.constant(constant)));
        }
        let varying: Vec<(NodeId, ParameterType)> = ids
            .iter()
            .zip(&types)
            .zip(&fixed)
            .filter_map(|((id, ty), fixed)| fixed.is_none().then_some((*id, *ty)))
            .collect();
        let (mut varying, level) = self.names.nodes.together_with_lists(&varying, at)?;
        if let Some(first) = varying.first_mut()
            && self.names.nodes.graph.node(*first).level == level
        {
            *first = self.guarded(*first, at)?;
        }
        let callee = Callee {
            title: title.clone(),
            function: function.specialised(&fixed).map_err(wrong)?,
            parameters: types,
            fixed,
            outputs: outputs.clone(),
            given,
            of,
            text: self.text.as_str().into(),
            at,
        };
        let known = self
            .names
            .nodes
            .callees
            .iter()
            .position(|other| other.is_as(&callee));
        let callee = known.unwrap_or_else(|| {
            self.names.nodes.callees.push(callee);
            self.names.nodes.callees.len() - 1
        });
        if let Some(outputs) = &outputs {
            return Ok(self.names.nodes.returned(callee, &varying, level, outputs));
        }
        let missing = varying
            .iter()
            .any(|id| self.names.nodes.graph.node(*id).missing);
        let shares = self.names.nodes.callees[callee].function.shares();
        let shared = shares
            .then(|| self.names.nodes.shared_arguments(&varying))
            .flatten();
        let (op, inputs) = match shared {
            None => (Op::Call(callee), varying),
            Some(SharedArguments { inputs, steps }) => (Op::CallShared { callee, steps }, inputs),
        };
        Ok(Binding::Value(self.names.nodes.graph.add(Node {
            op,
            inputs,
            level,
            ty: Type::Float,
            missing,
        })))
    }

    /// The value where it is wanted: where another value is chosen in the end, a function may have none for it.
    fn guarded(&mut self, value: NodeId, at: Span) -> Result<NodeId> {
        let mut value = value;
        for guard in self.guards.clone() {
            let (level, above) = (
                self.names.nodes.graph.node(value).level,
                self.names.nodes.graph.node(guard).level,
            );
            if self.names.nodes.graph.as_const(guard).is_none()
                && self.names.nodes.graph.encloses(above, level)
            {
                let both = self.names.nodes.together(&[value, guard], at)?;
                if let [found, guard] = both[..] {
                    value = self.names.nodes.only(found, guard);
                }
            }
        }
        Ok(value)
    }
}

/// Says how one of several functions is called.
fn several(title: &str, many: &Collection, at: Span) -> QueryError {
    let last = many
        .functions
        .keys()
        .filter_map(|name| name.parse::<usize>().ok())
        .max();
    QueryError::at(
        at,
        match last {
            Some(last) => {
                format!(
                    "{title} has several outputs: write {title}[0](…), up to {title}[{last}](…)"
                )
            }
            None => format!("{title} holds several functions: write {title}[\"name\"](…)"),
        },
    )
}

/// The value for constants alone.
pub(in crate::compile) fn evaluate_fixed(
    function: &dyn Function,
    fixed: &[Option<Fixed>],
    out: &mut [f64],
) -> std::result::Result<(), String> {
    with_constants(fixed, |arguments| function.evaluate(arguments, out))
}
