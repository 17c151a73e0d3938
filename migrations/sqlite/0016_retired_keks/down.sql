ALTER TABLE kek_marks DROP COLUMN retired_at;
