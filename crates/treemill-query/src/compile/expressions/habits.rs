//! What users of other packages write by habit, and what to write here: names of functions, of methods and of keyword
//! arguments. A table, for messages.

/// What to write for functions and methods that users know from elsewhere.
pub(in crate::compile) fn instead(name: &str) -> Option<&'static str> {
    Some(match name {
        "reversed" | "Reverse" => "write x[::-1]",
        "list" | "tuple" | "Map" => "leave it out, or write [v for v in x]",
        "range" | "arange" => {
            "write for i, v in enumerate(X), or a list of constants: for i in [0, 1, 2]"
        }
        "map" => "write [j.pt for j in Jet]",
        "filter" | "Filter" => "write [j for j in Jet if j.pt > 30], or Jet[Jet.pt > 30]",
        "num" | "size" | "length" => "write len(X)",
        "at" => "write x[i]; an item that there is not is missing",
        "DeltaR" => "write a.deltaR(b) of two vectors",
        "DeltaPhi" => "write deltaphi(b, a), for ROOT's DeltaPhi(a, b) is b - a",
        "delta_r" => "write a.deltaR(b) of two vectors",
        "delta_phi" => "write deltaphi(a, b), of vectors or angles",
        "get" => "write the column's name, in backticks: `evt.P3.Px`",
        "InvariantMass" => "write (a + b).mass",
        "InvariantMasses" => "write [(a + b).mass for a, b in zip(A, B)]",
        "firsts" => "write first(x)",
        "singletons" => "write [v for v in [x] if not is_missing(v)]",
        "is_none" => "write is_missing(x)",
        "fill_none" | "nan_to_num" => {
            "write fill_missing(x, 0) for what is missing, or where(isnan(x), 0, x)"
        }
        "pad_none" => "leave it out: x[i] of a shorter list is missing",
        "drop_none" => "write [v for v in x if not is_missing(v)]",
        "mask" => "write only(x, condition), which is missing where the condition does not hold",
        "cartesian" | "product" => "write [… for a in A for b in B]",
        "argcombinations" => "write combinations(enumerate(X), 2), whose items are (i, x)",
        "argcartesian" => "write [… for i, a in enumerate(A) for j, b in enumerate(B)]",
        "local_index" => "write [i for i, v in enumerate(x)]",
        "nonzero" | "Nonzero" => "write [i for i, v in enumerate(x) if v]",
        "metric_table" => "write [a.deltaR(b) for a in A for b in B]",
        "concatenate" | "Concatenate" => "write concat(A, B)",
        "ravel" => "write flatten(x)",
        "isin" => "write x in [1, 2]",
        "isclose" => "write abs(x - y) < 1e-9",
        "mod" => "write x % y",
        "divmod" => "write x // y and x % y",
        "ptp" => "write max(x) - min(x)",
        "diff" => "write [b - a for a, b in zip(x[:-1], x[1:])]",
        "softmax" => "write exp(x) / sum(exp(x))",
        "Sort" | "sort" => "write sorted(x)",
        "Argsort" => "write argsort(x)",
        "ArgMax" => "write argmax(x)",
        "ArgMin" => "write argmin(x)",
        "StdDev" => "write std(x, ddof=1)",
        "Var" => "write var(x, ddof=1)",
        "Take" => "write x[:n] for the first n items, x[[0, 2]] or x[indices] for others",
        "with_name" => "leave it out: whatever has coordinates is a vector",
        "with_field" => "define a member: define(\"Jet.pt_raw\", \"…\")",
        "to_numpy" | "to_list" | "values_astype" | "from_regular" | "to_regular" | "packed"
        | "compute" => "leave it out",
        "cross" | "Cross" => "write its components: a.py * b.pz - a.pz * b.py …",
        "unit" | "Unit" => "divide by its length: a.px / a.p",
        "Vect" => "leave it out: a.p, a.theta and a.deltaangle(b) are of the momentum",
        "BoostVector" => "write a.beta, or b.boost(a) and b.boostCM_of(a)",
        "Plus" => "write a.energy + a.pz",
        "Minus" => "write a.energy - a.pz",
        "R" => "write a.p, the length of the momentum",
        "Perp" | "Perp2" => "write a.p * sin(a.deltaangle(b)), what is across b",
        _ => return None,
    })
}

/// What to write for keyword arguments that users know from elsewhere.
pub(in crate::compile) fn keyword(name: &str) -> Option<&'static str> {
    Some(match name {
        "axis" => "leave it out: a reduction is over the items of each event's list",
        "ascending" => "write reverse=True",
        "keepdims" => "leave it out: a value of the event goes with each item of a list",
        "mask_identity" | "highlevel" | "behavior" | "fields" => "leave it out",
        "weight" => "write sum(w * x) / sum(w) for a weighted mean",
        _ => return None,
    })
}
