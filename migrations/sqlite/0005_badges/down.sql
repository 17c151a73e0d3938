DROP TABLE badges;
DROP TABLE attestations;
DROP TABLE assessments;
