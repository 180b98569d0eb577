//! Which instructions the compiler was allowed to use: docs/decisions/0002-processor.md. Levels have the names
//! that the x86-64 psABI and compilers give them.

/// The level that this extension was compiled for: any processor that has it can run the extension.
pub const LEVEL: &str = if cfg!(not(target_arch = "x86_64")) {
    std::env::consts::ARCH
} else if cfg!(all(
    target_feature = "avx2",
    target_feature = "bmi1",
    target_feature = "bmi2",
    target_feature = "f16c",
    target_feature = "fma",
    target_feature = "lzcnt",
    target_feature = "movbe"
)) {
    "x86-64-v3"
} else {
    "x86-64"
};
