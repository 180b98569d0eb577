//! Array dimensions as leaf titles write them: `x[n][3]`.

use crate::layout::Layout;
use crate::limits::DIMENSIONS;

/// Fixed dimensions of a leaf, outermost first, and the name in a bracket that is no number.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Dims<'a> {
    pub fixed: Vec<u32>,
    pub variable: Option<&'a str>,
}

/// Dimensions by the title. ROOT reads by `len` (fLen), so a title that says something else is not believed.
pub(super) fn dims(title: &str, len: u32) -> Dims<'_> {
    let mut dims = Dims {
        fixed: Vec::new(),
        variable: None,
    };
    let mut rest = title;
    while let Some((inside, behind)) = rest
        .split_once('[')
        .and_then(|(_, rest)| rest.split_once(']'))
    {
        match inside.trim().parse::<u32>() {
            Ok(dim) => dims.fixed.push(dim),
            Err(_) if inside.contains(',') => {} // the range of a Float16_t or Double32_t
            Err(_) => dims.variable = dims.variable.or(Some(inside.trim())),
        }
        rest = behind;
    }
    let product = dims
        .fixed
        .iter()
        .try_fold(1u32, |product, dim| product.checked_mul(*dim));
    if product != Some(len) || dims.fixed.len() > DIMENSIONS {
        dims.fixed = if len > 1 { vec![len] } else { Vec::new() };
    }
    dims
}

impl Dims<'_> {
    /// `item`, repeated.
    pub fn wrap(&self, item: Layout) -> Layout {
        let wrap = |item, len: &u32| Layout::Array {
            item: Box::new(item),
            len: *len,
        };
        self.fixed.iter().rev().fold(item, wrap)
    }

    /// The dimensions as C++ writes them.
    pub fn suffix(&self) -> String {
        self.fixed.iter().map(|dim| format!("[{dim}]")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Number;

    #[test]
    fn titles() {
        assert_eq!(
            dims("x", 1),
            Dims {
                fixed: vec![],
                variable: None
            }
        );
        assert_eq!(
            dims("x[3][4]", 12),
            Dims {
                fixed: vec![3, 4],
                variable: None
            }
        );
        assert_eq!(
            dims("x[n][3]", 3),
            Dims {
                fixed: vec![3],
                variable: Some("n")
            }
        );
        assert_eq!(
            dims("x[n]", 1),
            Dims {
                fixed: vec![],
                variable: Some("n")
            }
        );
        assert_eq!(
            dims("f[0,1,8]", 1),
            Dims {
                fixed: vec![],
                variable: None
            }
        );
        assert_eq!(
            dims("x", 5),
            Dims {
                fixed: vec![5],
                variable: None
            },
            "only fLen says so"
        );
        assert_eq!(
            dims("x[2]", 5),
            Dims {
                fixed: vec![5],
                variable: None
            },
            "fLen is what is read"
        );
        assert_eq!(
            dims("x[4294967295][4294967295]", 1),
            Dims {
                fixed: vec![],
                variable: None
            }
        );
    }

    #[test]
    fn the_first_dimension_is_outermost() {
        let Layout::Array { item, len: 3 } = dims("x[3][4]", 12).wrap(Layout::Number(Number::F32))
        else {
            unreachable!()
        };
        assert_eq!(
            *item,
            Layout::Array {
                item: Box::new(Layout::Number(Number::F32)),
                len: 4
            }
        );
    }
}
