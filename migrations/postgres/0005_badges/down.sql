DROP TABLE badges;
DROP TABLE attestations;
DROP TABLE assessments;
DROP FUNCTION refuse_to_change_findings;
