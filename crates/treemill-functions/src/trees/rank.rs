//! Ranks: how many thresholds of its feature are below a number. Nodes compare them instead of numbers, since they
//! are as short as the number of thresholds lets them be. A smaller rank goes left.

/// A rank, and a leaf's number in trees whose nodes are all compared.
pub(crate) trait Rank: Copy + Ord + Send + Sync + 'static {
    /// Goes right at each node.
    const LAST: Self;
    const FIRST: Self;
    /// Leaves of trees whose nodes are all compared.
    const LEAVES: usize;
    fn of(number: u32) -> Self;
    fn index(self) -> usize;
    /// `self` if the flag is set, and all zeros if not.
    fn only_if(self, flag: bool) -> Self;
    fn plus(self, other: Self) -> Self;
}

macro_rules! rank {
    ($type:ty, $leaves:expr) => {
        impl Rank for $type {
            const LAST: Self = Self::MAX;
            const FIRST: Self = 0;
            const LEAVES: usize = $leaves;
            #[inline]
            fn of(number: u32) -> Self {
                Self::try_from(number).unwrap_or(Self::MAX)
            }
            #[inline]
            fn index(self) -> usize {
                self as usize
            }
            #[inline]
            fn only_if(self, flag: bool) -> Self {
                self & Self::from(flag).wrapping_neg()
            }
            #[inline]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
        }
    };
}

rank!(u8, crate::limits::COMPARED_LEAVES_8);
rank!(u16, crate::limits::COMPARED_LEAVES_16);
rank!(u32, crate::limits::COMPARED_LEAVES_32);
