-- A retired version encrypts no row. A key file may lack it.
ALTER TABLE kek_marks ADD COLUMN retired_at BIGINT;
