//! Tests of the pages for browsers: the dashboard and the documentation.

mod dashboard;
mod documentation;
mod lists;
mod results;
