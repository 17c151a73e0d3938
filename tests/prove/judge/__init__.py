"""The judge: one function for each invariant."""
