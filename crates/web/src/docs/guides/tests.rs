//! Tests of the guides against the folder `docs` of the repository.

use std::{
    collections::{BTreeSet, HashMap},
    fs,
    path::{Path, PathBuf},
};

use sealpost_api::openapi;
use serde_json::Value;

use super::{
    FILES, Guide, all,
    links::{self, is_external},
    markdown,
};
use crate::html::SiteAddress;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn guide(name: &str) -> &'static Guide {
    all().find(|guide| guide.name == name).unwrap()
}

fn render(guide: &Guide, base_url: &str) -> markdown::RenderedGuide {
    markdown::render(guide, &SiteAddress::new(base_url))
}

#[test]
fn every_file_of_the_folder_is_served() {
    let pages = all().map(|guide| repository().join(guide.source));
    // The pages of the error codes have the content of errors.md.
    let errors = repository().join("docs/errors.md");
    let files = FILES.iter().map(|file| repository().join(file.path));
    let served: BTreeSet<_> = pages.chain([errors]).chain(files).collect();
    let mut folders = vec![repository().join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let shown = path.display();
                assert!(served.contains(&path), "{shown} is missing in guides.rs or files.rs");
            }
        }
    }
}

#[test]
fn no_link_of_a_guide_is_dead() {
    let rendered: HashMap<_, _> =
        all().map(|guide| (guide.path(), render(guide, "http://localhost"))).collect();
    for (path, guide) in &rendered {
        let pictures = guide.html.split(" src=\"").skip(1);
        for link in guide.html.split("href=\"").skip(1).chain(pictures) {
            let link = link.split('"').next().unwrap();
            assert!(link.starts_with(['/', '#']) || is_external(link), "{path}: {link} is dead");
            let (page, anchor) = link.split_once('#').unwrap_or((link, ""));
            let page = if page.is_empty() { path } else { page };
            let target = rendered.get(page);
            if anchor.is_empty() || is_external(link) || target.is_none() {
                continue;
            }
            let has_anchor = target.unwrap().headings.iter().any(|heading| heading.id == anchor);
            assert!(has_anchor, "{path}: {link} leads to a heading that does not exist");
        }
    }
}

#[test]
fn each_folder_has_one_heading_and_links_lead_to_it() {
    let pages: HashMap<_, _> =
        super::pages(&SiteAddress::new("http://localhost")).into_iter().collect();
    let headings = pages["/docs/files"].split("<h2 id=\"").skip(1);
    let headings: Vec<_> = headings
        .map(|rest| rest.split("</h2>").next().unwrap().split_once("\">").unwrap())
        .collect();
    assert!(headings.is_sorted_by_key(|(_, path)| *path), "{headings:?}");
    let anchors: BTreeSet<_> = headings.iter().map(|(anchor, _)| *anchor).collect();
    assert_eq!(anchors.len(), headings.len(), "{headings:?}");
    for file in FILES {
        let mut folder = file.folder();
        while folder != "docs" {
            let link = links::target("README.md", folder).unwrap();
            let anchor = link.strip_prefix("/docs/files#").unwrap();
            assert!(headings.contains(&(anchor, folder)), "{link} has no heading");
            folder = folder.rsplit_once('/').unwrap().0;
        }
    }
}

#[test]
fn no_link_has_the_name_of_a_page_as_its_text() {
    for guide in all() {
        let html = render(guide, "http://localhost").html;
        assert!(!html.contains(".md</a>"), "{}: name the title of the page", guide.name);
    }
}

#[test]
fn pictures_have_a_drawing_for_narrow_screens() {
    let html: String = all().map(|guide| render(guide, "http://localhost").html).collect();
    let drawings: Vec<_> = html.split(" srcset=\"/").skip(1).collect();
    assert_eq!(html.matches("<img").count(), drawings.len());
    for drawing in drawings {
        let path = drawing.split('"').next().unwrap();
        let file = FILES.iter().find(|file| file.path == path);
        assert!(file.is_some_and(|file| file.text.contains(" width=\"340\" ")), "{path}");
    }
}

#[test]
fn the_first_example_of_an_event_is_the_example_of_the_reference() {
    let (_, example) = guide("receiving").markdown.split_once("```json\n").unwrap();
    let example: Value = serde_json::from_str(example.split("```").next().unwrap()).unwrap();
    let document = openapi("http://localhost");
    let content = &document["webhooks"]["envelope.received"]["post"]["requestBody"]["content"];
    assert_eq!(example, content["application/json"]["examples"]["example1"]["value"]);
}

#[test]
fn html_in_a_guide_is_dropped() {
    let receiving = guide("receiving");
    assert!(receiving.markdown.contains("<!-- "));
    assert!(!render(receiving, "http://localhost").html.contains("<!--"));
}

#[test]
fn links_begin_with_the_path_of_the_base_url() {
    let html = render(guide("quickstart"), "https://example.org/seal").html;
    assert!(html.contains("href=\"/seal/docs/receiving\""), "{html}");
    assert!(!html.contains("href=\"/docs/"), "{html}");
}

#[test]
fn the_pages_of_a_service_have_its_address() {
    for guide in all() {
        let html = render(guide, "https://example.org/seal").html;
        let local = html.matches("http://127.0.0.1:8080").count();
        // Only the start of a server on the reader's machine has the local address.
        let expected = match guide.name {
            "quickstart" => 1,
            "clients" => 3,
            _ => 0,
        };
        assert_eq!(local, expected, "{}", guide.name);
    }
    let html = render(guide("quickstart"), "https://example.org/seal").html;
    assert!(html.contains("service=https://example.org/seal\n"), "{html}");
}
