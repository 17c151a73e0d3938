DROP TABLE counted;
DROP TABLE daily_counts;
