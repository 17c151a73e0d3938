-- Changes nothing: an identity column of PostgreSQL never repeats a number.
SELECT 1;
