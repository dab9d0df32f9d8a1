//! Writing a model with its weights embedded, external, referenced or left out.
