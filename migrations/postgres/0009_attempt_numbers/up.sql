-- An identity never gives a number twice; SQLite is told to do likewise under this name.
SELECT 1;
