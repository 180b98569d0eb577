//! What objectives make of sums: a table from their names. Steps and widths are the libraries', so that results have the
//! same bits.

/// XGBoost's objectives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Transform32 {
    Same,
    Sigmoid,
    Exp,
    /// Computed in double precision, and then rounded.
    ExpInDouble,
    /// 1 above zero, else 0.
    Hinge,
    /// Softmax of all groups: an output for each.
    Softmax,
    /// The number of the greatest group.
    Greatest,
}

/// How the base score of a file becomes what sums begin with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Link {
    Same,
    Logit,
    Log,
}

use Transform32 as X;

/// Objectives of XGBoost by their names.
pub(crate) const XGBOOST: [(&str, Transform32, Link); 23] = [
    ("reg:squarederror", X::Same, Link::Same),
    ("reg:linear", X::Same, Link::Same),
    ("reg:squaredlogerror", X::Same, Link::Same),
    ("reg:pseudohubererror", X::Same, Link::Same),
    ("reg:absoluteerror", X::Same, Link::Same),
    ("reg:quantileerror", X::Same, Link::Same),
    ("reg:expectileerror", X::Same, Link::Same),
    ("reg:logistic", X::Sigmoid, Link::Logit),
    ("binary:logistic", X::Sigmoid, Link::Logit),
    ("binary:logitraw", X::Same, Link::Same),
    ("binary:hinge", X::Hinge, Link::Same),
    ("reg:gamma", X::Exp, Link::Log),
    ("reg:tweedie", X::Exp, Link::Log),
    ("count:poisson", X::Exp, Link::Log),
    ("survival:cox", X::Exp, Link::Log),
    ("survival:aft", X::ExpInDouble, Link::Log),
    ("multi:softprob", X::Softmax, Link::Same),
    ("multi:softmax", X::Greatest, Link::Same),
    ("rank:ndcg", X::Same, Link::Same),
    ("rank:map", X::Same, Link::Same),
    ("rank:pairwise", X::Same, Link::Same),
    ("gpu:reg:linear", X::Same, Link::Same),
    ("gpu:binary:logitraw", X::Same, Link::Same),
];

impl Transform32 {
    /// The number of outputs for a number of groups.
    pub fn outputs(self, groups: usize) -> usize {
        match self {
            Self::Greatest => 1,
            _ => groups,
        }
    }

    /// Whether an output takes the sums of all groups.
    pub fn mixes(self) -> bool {
        matches!(self, Self::Softmax | Self::Greatest)
    }

    /// An output of a row. Only if it mixes are sums other than the output's own looked at.
    pub fn of(self, sums: &[f32], output: usize) -> f32 {
        let own = sums.get(output).copied().unwrap_or(0.0);
        match self {
            Self::Same => own,
            Self::Sigmoid => sigmoid(own),
            Self::Exp => own.exp(),
            Self::ExpInDouble => f64::from(own).exp() as f32,
            Self::Hinge => f32::from(u8::from(own > 0.0)),
            Self::Softmax => {
                let most = sums.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                let all: f64 = sums.iter().map(|x| f64::from((x - most).exp())).sum();
                (own - most).exp() / all as f32
            }
            Self::Greatest => {
                let mut best = 0_usize;
                let mut most = sums.first().copied().unwrap_or(0.0);
                for (group, x) in sums.iter().enumerate() {
                    if *x > most {
                        (best, most) = (group, *x);
                    }
                }
                best as f32
            }
        }
    }
}

fn sigmoid(x: f32) -> f32 {
    let x = if 88.7 < -x { 88.7 } else { -x };
    1.0 / (x.exp() + 1.0 + 1e-16)
}

impl Link {
    pub fn of(self, score: f32) -> f32 {
        match self {
            Self::Same => score,
            Self::Log => score.ln(),
            Self::Logit => {
                let score = score.clamp(1e-6, 1.0 - 1e-6);
                -(1.0 / score - 1.0).ln()
            }
        }
    }
}

/// LightGBM's objectives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Transform64 {
    Same,
    /// The sigmoid of this number times the sum.
    Sigmoid(f64),
    Exp,
    /// The square, with the sign.
    Square,
    /// log(1 + exp(x))
    SoftPlus,
    Softmax,
}

use Transform64 as L;

/// Objectives of LightGBM by their names. A factor of the sigmoid, and the square, are words after the name.
pub(crate) const LIGHTGBM: [(&str, Transform64); 18] = [
    ("regression", L::Same),
    ("regression_l1", L::Same),
    ("huber", L::Same),
    ("fair", L::Same),
    ("quantile", L::Same),
    ("mape", L::Same),
    ("poisson", L::Exp),
    ("gamma", L::Exp),
    ("tweedie", L::Exp),
    ("binary", L::Sigmoid(1.0)),
    ("multiclass", L::Softmax),
    ("multiclassova", L::Sigmoid(1.0)),
    ("cross_entropy", L::Sigmoid(1.0)),
    ("cross_entropy_lambda", L::SoftPlus),
    ("lambdarank", L::Same),
    ("rank_xendcg", L::Same),
    ("custom", L::Same),
    ("none", L::Same),
];

impl Transform64 {
    /// Whether an output takes the sums of all groups.
    pub fn mixes(self) -> bool {
        matches!(self, Self::Softmax)
    }

    /// An output of a row. Only if it mixes are sums other than the output's own looked at.
    pub fn of(self, sums: &[f64], output: usize) -> f64 {
        let own = sums.get(output).copied().unwrap_or(0.0);
        match self {
            Self::Same => own,
            Self::Sigmoid(factor) => 1.0 / (1.0 + (-factor * own).exp()),
            Self::Exp => own.exp(),
            Self::Square => {
                let sign = f64::from(i8::from(own > 0.0).wrapping_sub(i8::from(own < 0.0)));
                sign * own * own
            }
            Self::SoftPlus => own.exp().ln_1p(),
            Self::Softmax => {
                let most = sums.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let all: f64 = sums.iter().map(|x| (x - most).exp()).sum();
                (own - most).exp() / all
            }
        }
    }
}
