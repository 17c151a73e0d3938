DROP VIEW current_usage;
