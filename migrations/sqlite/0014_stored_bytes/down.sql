ALTER TABLE usage DROP COLUMN stored_bytes;
