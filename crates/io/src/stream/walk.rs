//! Iterates over the positions of a box in two address spaces at once.

/// One axis of a box: its size, and what a step along it adds to each of two addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub size: u64,
    pub from: u64,
    pub to: u64,
}

/// The pairs of addresses of all positions, the last axis running fastest. A box without axes has one position.
pub(super) struct Walk {
    steps: Vec<Step>,
    position: Vec<u64>,
    next: Option<(u64, u64)>,
}

impl Walk {
    pub(super) fn new(steps: Vec<Step>) -> Walk {
        let is_empty = steps.iter().any(|step| step.size == 0);
        Walk { position: vec![0; steps.len()], steps, next: (!is_empty).then_some((0, 0)) }
    }
}

impl Iterator for Walk {
    type Item = (u64, u64);

    fn next(&mut self) -> Option<(u64, u64)> {
        let current = self.next.take()?;
        let (mut from, mut to) = current;
        for (step, position) in self.steps.iter().zip(&mut self.position).rev() {
            *position += 1;
            if *position < step.size {
                self.next = Some((from + step.from, to + step.to));
                break;
            }
            from -= step.from * (step.size - 1);
            to -= step.to * (step.size - 1);
            *position = 0;
        }
        Some(current)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_like_nested_loops() {
        let steps = vec![Step { size: 2, from: 1, to: 30 }, Step { size: 3, from: 2, to: 10 }];
        let pairs: Vec<_> = Walk::new(steps).collect();
        assert_eq!(pairs, [(0, 0), (2, 10), (4, 20), (1, 30), (3, 40), (5, 50)]);
        assert_eq!(Walk::new(Vec::new()).collect::<Vec<_>>(), [(0, 0)]);
        assert_eq!(Walk::new(vec![Step { size: 0, from: 1, to: 1 }]).count(), 0);
    }
}
