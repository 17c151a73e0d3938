"""Tests of the judge: a true history passes, and each planted lie is found."""
