//! The pages of the guides, the list of all guides, and the list of all files.

use std::{collections::BTreeMap, iter};

use askama::Template;
use pulldown_cmark::HeadingLevel;

use super::{
    FILES, GROUPS, Guide, GuideGroup, SourceFile, all, links,
    markdown::{self, Heading, RenderedGuide},
};
use crate::{
    docs::layout::{DocsLayout, guide_sidebar},
    html::SiteAddress,
};

/// Renders all guides and the lists. Returns the path and the HTML of each page.
pub(crate) fn pages(site: &SiteAddress) -> Vec<(String, String)> {
    let mut pages: Vec<_> =
        all().enumerate().map(|(place, guide)| (guide.path(), page(site, place, guide))).collect();
    pages.push(("/docs".to_owned(), index(site)));
    pages.push((FILES_PATH.to_owned(), files(site)));
    pages
}

fn page(site: &SiteAddress, place: usize, guide: &Guide) -> String {
    let RenderedGuide { html, headings } = markdown::render(guide, site);
    let contents: Vec<Heading> =
        headings.into_iter().filter(|heading| heading.level == HeadingLevel::H2).collect();
    let main = GuidePage {
        base: &site.base_path,
        html,
        previous: place.checked_sub(1).and_then(|place| all().nth(place)),
        next: all().nth(place + 1),
    };
    // Omits the list of headings if it has only one entry.
    let headings = if contents.len() > 1 { contents.as_slice() } else { &[] };
    let (title, path, sidebar) = (guide.title(), &guide.path(), &guide_sidebar());
    DocsLayout { site, title, path, sidebar, headings }.render(&main)
}

fn index(site: &SiteAddress) -> String {
    let main = IndexPage { base: &site.base_path, groups: GROUPS };
    let (title, path, sidebar) = ("Documentation", "/docs", &guide_sidebar());
    DocsLayout { site, title, path, sidebar, headings: &[] }.render(&main)
}

fn files(site: &SiteAddress) -> String {
    let main = FilesPage { base: &site.base_path, folders: folders() };
    DocsLayout { site, title: "Files", path: FILES_PATH, sidebar: &guide_sidebar(), headings: &[] }
        .render(&main)
}

/// Returns each folder below `docs` once, sorted by path. Includes folders that contain only folders, because guides
/// link to them too.
fn folders() -> Vec<Folder> {
    let mut folders: BTreeMap<&'static str, Vec<&'static SourceFile>> = BTreeMap::new();
    for file in FILES {
        folders.entry(file.folder()).or_default().push(file);
        let parents = iter::successors(Some(file.folder()), |path| Some(path.rsplit_once('/')?.0));
        for parent in parents.take_while(|path| *path != ROOT) {
            folders.entry(parent).or_default();
        }
    }
    folders
        .into_iter()
        .map(|(path, files)| Folder { path, anchor: links::folder_anchor(path), files })
        .collect()
}

#[derive(Template)]
#[template(path = "docs/guide.html")]
struct GuidePage<'a> {
    base: &'a str,
    html: String,
    previous: Option<&'static Guide>,
    next: Option<&'static Guide>,
}

#[derive(Template)]
#[template(path = "docs/index.html")]
struct IndexPage<'a> {
    base: &'a str,
    groups: &'static [GuideGroup],
}

#[derive(Template)]
#[template(path = "docs/files.html")]
struct FilesPage<'a> {
    base: &'a str,
    folders: Vec<Folder>,
}

/// A folder of files that guides link to.
struct Folder {
    path: &'static str,
    anchor: String,
    files: Vec<&'static SourceFile>,
}

const FILES_PATH: &str = "/docs/files";
/// The folder that contains all files. The page of the files has no heading for this folder.
const ROOT: &str = "docs";
