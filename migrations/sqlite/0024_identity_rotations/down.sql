DROP TABLE identity_rotations;
