DROP TABLE usage_thresholds;
