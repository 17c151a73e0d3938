"""The random calls: each operation is a function of a caller, with a weight."""
