//! The histogram that the values fill.

/// Equal bins, in four copies, so that one increment need not wait for the one before it.
pub struct Bins {
    count: usize,
    low: f32,
    scale: f32,
    copies: [Vec<u64>; 4],
}

impl Bins {
    pub fn new(count: usize, low: f32, high: f32) -> Self {
        Bins {
            count,
            low,
            scale: count as f32 / (high - low),
            // One more for what lies outside.
            copies: std::array::from_fn(|_| vec![0; count + 1]),
        }
    }

    /// The value's bin, the last for what lies outside. A comparison with NaN is false.
    #[inline]
    fn index(&self, value: f32) -> usize {
        let place = (value - self.low) * self.scale;
        let inside = place >= 0.0 && place < self.count as f32;
        if inside {
            place as i32 as usize
        } else {
            self.count
        }
    }

    #[inline]
    pub fn fill(&mut self, value: f32) {
        let index = self.index(value);
        self.copies[0][index] += 1;
    }

    pub fn fill_all(&mut self, values: &[f32]) {
        let (fours, rest) = values.as_chunks::<4>();
        for four in fours {
            let places = four.map(|v| self.index(v));
            for (copy, place) in self.copies.iter_mut().zip(places) {
                copy[place] += 1;
            }
        }
        rest.iter().for_each(|v| self.fill(*v));
    }

    pub fn total(&self) -> Vec<u64> {
        let sum = |i: usize| self.copies.iter().map(|copy| copy[i]).sum();
        (0..self.count).map(sum).collect()
    }
}
