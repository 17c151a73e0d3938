"""Tests of the import check, on small crates in a temporary folder."""

import tempfile
import unittest
from pathlib import Path

from imports import circles


class ImportsBetweenFiles(unittest.TestCase):
    def imports(self, **files):
        """Writes the files (`a__b` is a/b.rs) and returns the arrows between them."""
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder)
            for name, text in files.items():
                file = source / (name.replace("__", "/") + ".rs")
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
            self.graph = circles.graph_of(source)
            self.circles = [sorted(self.name(source, file) for file in circle)
                            for circle in circles.circles_of(self.graph)]
            self.report = [line for circle in circles.circles_of(self.graph)
                           for line in circles.describe(self.graph, circle, source)]
            return sorted(f"{self.name(source, file)} {self.name(source, imported)}"
                          for file, found in self.graph.items() for imported in found)

    @staticmethod
    def name(source, file):
        return str(file.relative_to(source).with_suffix(""))

    def test_a_child_that_imports_from_its_parent_is_no_circle(self):
        arrows = self.imports(lib="mod a; pub struct Thing;", a="use super::Thing;")
        self.assertEqual(arrows, ["a lib"])
        self.assertEqual(self.circles, [])

    def test_a_parent_that_imports_from_its_child_closes_the_circle(self):
        arrows = self.imports(lib="mod a; use self::a::run; pub struct Thing;", a="use super::Thing; pub fn run() {}")
        self.assertEqual(arrows, ["a lib", "lib a"])
        self.assertEqual(self.circles, [["a", "lib"]])
        self.assertEqual(self.report, [
            "circle of 2 files: a.rs, lib.rs",
            "  a.rs → lib.rs → a.rs",
            "      a.rs:1: use super::Thing → lib.rs",
            "      lib.rs:1: use self::a::run → a.rs",
        ])

    def test_a_reexport_of_a_child_is_no_import(self):
        arrows = self.imports(lib="mod a; pub(crate) use a::run; pub struct Thing;", a="use super::Thing; pub fn run() {}")
        self.assertEqual(arrows, ["a lib"])

    def test_a_reexported_name_belongs_to_the_file_that_defines_it(self):
        arrows = self.imports(
            lib="mod a; mod b; pub use self::a::Deep as Renamed;",
            a="mod c; pub use c::{Deep, Other};", a__c="pub struct Deep; pub enum Other { One }",
            b="use crate::{Renamed, a::Other::{self, One}};")
        self.assertEqual(arrows, ["b a/c"])

    def test_a_glob_reexport_is_followed(self):
        arrows = self.imports(lib="mod a; mod b; pub use a::*;", a="pub struct Deep;", b="use crate::Deep;")
        self.assertEqual(arrows, ["b a"])

    def test_a_module_folder_with_mod_rs_is_read(self):
        arrows = self.imports(lib="mod a;", a__mod="mod b; mod c;", a__b="use super::c::X;", a__c="pub struct X;")
        self.assertEqual(arrows, ["a/b a/c"])

    def test_a_path_attribute_names_the_file(self):
        arrows = self.imports(lib='#[path = "other.rs"] mod a; use a::X;', other="pub struct X;")
        self.assertEqual(arrows, ["lib other"])

    def test_inline_modules_belong_to_their_file(self):
        arrows = self.imports(
            lib="mod a; mod b;", a="pub mod inner { use super::super::b::Y; pub struct X; }",
            b="use crate::a::inner::X; pub struct Y;")
        self.assertEqual(arrows, ["a b", "b a"])

    def test_test_code_does_not_count(self):
        arrows = self.imports(
            lib="mod a; mod b;",
            a="#[cfg(test)] use crate::b::Y; pub struct X; #[cfg(test)] #[path = \"a_tests.rs\"] mod tests;",
            a_tests="use crate::b::Y;",
            b="use crate::a::X; pub struct Y; #[cfg(all(test, unix))] mod tests { use crate::a::X; }")
        self.assertEqual(arrows, ["b a"])

    def test_comments_and_literals_do_not_count(self):
        arrows = self.imports(
            lib="mod a; mod b;", a="pub struct X;",
            b='// use crate::a::X;\n/* use crate::a::X; */ const T: &str = "; use crate::a::X;";\n'
              "const R: &str = r#\"\"; use crate::a::X; \"#; const C: char = '\"'; fn f<'a>(_: &'a str) {}")
        self.assertEqual(arrows, [])

    def test_imports_inside_functions_count(self):
        arrows = self.imports(lib="mod a; mod b;", a="pub enum E { One }", b="fn f() { use crate::a::E::One; }")
        self.assertEqual(arrows, ["b a"])

    def test_imports_from_other_crates_do_not_count(self):
        arrows = self.imports(lib="mod a; mod b;", a="pub struct Path;", b="use std::path::Path; use a::X;")
        self.assertEqual(arrows, [])

    def test_a_name_of_another_crate_belongs_to_the_module_that_reexports_it(self):
        arrows = self.imports(lib="mod a; mod b;", a="pub use outside::X;", b="use crate::a::X;")
        self.assertEqual(arrows, ["b a"])

    def test_reexports_that_name_each_other_end(self):
        self.imports(lib="mod a; mod b;", a="pub use crate::b::X; pub use crate::b::*;",
                     b="pub use crate::a::X; pub use crate::a::*; use crate::a::Y;")
        self.assertEqual(self.circles, [["a", "b"]])


if __name__ == "__main__":
    unittest.main()
