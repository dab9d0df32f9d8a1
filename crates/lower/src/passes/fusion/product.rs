//! Products of many factors, however they are nested and in whatever order.

use super::search::{Search, input, is};
use crate::ir::ValueId;

/// Products of more values are not looked through.
const MOST_VALUES: usize = 24;

/// A number times some values.
pub struct Product {
    pub number: f64,
    pub factors: Vec<Factor>,
    /// How exactly the number is known: constants are rounded to their type.
    tolerance: f64,
    /// How many values were met.
    met: usize,
}

#[derive(Clone, Copy)]
pub struct Factor {
    /// Before all casts.
    pub value: ValueId,
    /// As it is multiplied.
    pub given: ValueId,
}

impl Product {
    /// The factors of `value`: those of nested products, quotients by a number and whole powers. All of these nodes
    /// become part of the pattern.
    pub fn of(search: &mut Search<'_>, value: ValueId) -> Option<Product> {
        let mut product = Product { number: 1.0, factors: Vec::new(), tolerance: 0.0, met: 0 };
        product.multiply(search, value)?;
        Some(product)
    }

    fn multiply(&mut self, search: &mut Search<'_>, value: ValueId) -> Option<()> {
        self.met += 1;
        if self.met > MOST_VALUES {
            return None;
        }
        if let Some(number) = search.number(value) {
            self.number *= number;
            self.tolerance += search.tolerance(value);
            return Some(());
        }
        let inner = search.before_casts(value);
        if let Some(node) = search.node(inner, "Mul") {
            self.multiply(search, input(node, 0)?)?;
            self.multiply(search, input(node, 1)?)?;
            return Some(());
        }
        let maker = search.maker(inner);
        let number = maker.and_then(|node| search.number(input(node, 1)?));
        match (maker, number) {
            (Some(node), Some(number)) if is(node, "Div") => {
                search.node(inner, "Div")?;
                self.number /= number;
                self.tolerance += input(node, 1).map_or(0.0, |number| search.tolerance(number));
                self.multiply(search, input(node, 0)?)?;
            }
            (Some(node), Some(number)) if is(node, "Pow") && [2.0, 3.0].contains(&number) => {
                search.node(inner, "Pow")?;
                let base = search.before_casts(input(node, 0)?);
                let factor = Factor { value: base, given: input(node, 0)? };
                self.factors.extend(std::iter::repeat_n(factor, number as usize));
            }
            _ => self.factors.push(Factor { value: inner, given: value }),
        }
        Some(())
    }

    /// Takes the factors `value`, as many as `count`, out of the product.
    pub fn without(mut self, value: ValueId, count: usize) -> Option<Product> {
        for _ in 0..count {
            let at = self.factors.iter().position(|factor| factor.value == value)?;
            self.factors.swap_remove(at);
        }
        Some(self)
    }

    /// Whether nothing but `number` is left.
    pub fn is_only(&self, number: f64) -> bool {
        self.factors.is_empty() && self.is_times(number)
    }

    pub fn is_times(&self, number: f64) -> bool {
        (self.number - number).abs() <= self.tolerance * number.abs()
    }
}
