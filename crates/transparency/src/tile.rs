//! Tiles: 256 consecutive hashes of one level of the tree, and bundles of 256 entries, with their paths (tlog-tiles).

use crate::hash::TreeHash;

/// Identifies a tile: up to 256 consecutive hashes of one level of the tree, from the hash number `index * 256` on.
/// Does not contain the hashes.
///
/// A partial tile has fewer than 256 hashes. Level 0 has the hashes of the entries. On a higher level, each hash is the
/// root hash of a full tile one level below.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Tile {
    /// The level, at most 7 in a tree of 2^64 entries.
    pub level: u8,
    /// The number of the tile in its level.
    pub index: u64,
    /// The number of hashes, 1 to 256.
    pub width: u16,
}

/// A path of tlog-tiles below `tile/`: a tile of hashes or a bundle of entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TilePath {
    /// A bundle of entries, with the index and width of the tile that has their hashes.
    Entries {
        /// The index of the bundle.
        index: u64,
        /// The number of entries, 1 to 256.
        width: u16,
    },
    /// A tile of hashes.
    Hashes(Tile),
}

impl Tile {
    /// The number of hashes of a full tile.
    pub const FULL: u16 = 256;

    /// Returns the path of the tile.
    pub fn path(&self) -> String {
        format!("tile/{}/{}", self.level, number_path(self.index, self.width))
    }

    /// Returns the tile with this level and index in a tree of `size` entries; `None` if the tree has no such tile.
    pub fn in_tree(level: u8, index: u64, size: u64) -> Option<Self> {
        let hashes = size.checked_shr(u32::from(level) * 8).unwrap_or(0);
        let before = index.checked_mul(u64::from(Self::FULL))?;
        let width = hashes.checked_sub(before)?.min(u64::from(Self::FULL));
        let width = u16::try_from(width).ok().filter(|width| *width > 0)?;
        Some(Self { level, index, width })
    }
}

impl TilePath {
    /// Reads the part of a path after `tile/`. `None` if the text is not the path of a tile or a bundle. Does not check
    /// whether the tile exists.
    pub fn parse(path: &str) -> Option<Self> {
        let (level, number) = path.split_once('/')?;
        let (index, width) = parse_number(number)?;
        if level == "entries" {
            return Some(Self::Entries { index, width });
        }
        let level = parse_decimal(level).and_then(|level| u8::try_from(level).ok())?;
        (level < 64).then_some(Self::Hashes(Tile { level, index, width }))
    }
}

/// Returns the bytes of a bundle: for each entry, its length in two bytes, and then the entry. `None` if an entry has
/// 64 KiB or more.
pub fn bundle(entries: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    for entry in entries {
        let entry = entry.as_ref();
        bytes.extend(u16::try_from(entry.len()).ok()?.to_be_bytes());
        bytes.extend(entry);
    }
    Some(bytes)
}

/// Returns the number of a tile as a path, such as `x001/x234/067`, or `000.p/12` for a partial tile with 12 hashes.
fn number_path(index: u64, width: u16) -> String {
    let mut path = format!("{:03}", index % 1000);
    let mut rest = index / 1000;
    while rest > 0 {
        path = format!("x{:03}/{path}", rest % 1000);
        rest /= 1000;
    }
    if width < Tile::FULL {
        path = format!("{path}.p/{width}");
    }
    path
}

fn parse_number(path: &str) -> Option<(u64, u16)> {
    let (number, width) = match path.split_once(".p/") {
        Some((number, width)) => {
            let width = u16::try_from(parse_decimal(width)?).ok()?;
            (number, Some(width).filter(|width| (1..Tile::FULL).contains(width))?)
        }
        None => (path, Tile::FULL),
    };
    let (higher, last) = number.rsplit_once('/').unwrap_or(("", number));
    let mut index: u64 = 0;
    for group in higher.split('/').filter(|_| !higher.is_empty()) {
        index = index.checked_mul(1000)?.checked_add(parse_thousand(group.strip_prefix('x')?)?)?;
    }
    index = index.checked_mul(1000)?.checked_add(parse_thousand(last)?)?;
    // Rejects other spellings of the path, for example with a leading group of zeros. Each tile has only one path.
    (number_path(index, Tile::FULL) == number).then_some((index, width))
}

fn parse_thousand(digits: &str) -> Option<u64> {
    (digits.len() == 3 && digits.bytes().all(|byte| byte.is_ascii_digit()))
        .then(|| digits.parse().ok())?
}

/// Reads a decimal number without a sign and without leading zeros.
pub(crate) fn parse_decimal(text: &str) -> Option<u64> {
    let is_canonical = text == "0" || text.starts_with(|first: char| ('1'..='9').contains(&first));
    (is_canonical && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok())?
}

/// Returns the root of a complete subtree with these hashes as leaves. Their number must be a power of two. `None` if
/// there are no hashes.
pub(crate) fn complete_root(hashes: &[TreeHash]) -> Option<TreeHash> {
    let mut level = hashes.to_vec();
    while level.len() > 1 {
        let pairs = level.chunks_exact(2);
        level =
            pairs.filter_map(|pair| Some(TreeHash::node(*pair.first()?, *pair.get(1)?))).collect();
    }
    level.first().copied()
}

/// Maximum number of hashes in an inclusion proof: one for each level of the largest tree.
pub(crate) const PATH_MAX: usize = 64;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn tiles_have_the_paths_of_the_specification() {
        for (level, index, width, path) in [
            (0, 0, 256, "tile/0/000"),
            (1, 0, 17, "tile/1/000.p/17"),
            (0, 999, 256, "tile/0/999"),
            (0, 1000, 256, "tile/0/x001/000"),
            (2, 1_234_067, 1, "tile/2/x001/x234/067.p/1"),
        ] {
            let tile = Tile { level, index, width };
            assert_eq!(tile.path(), path);
            assert_eq!(
                TilePath::parse(path.strip_prefix("tile/").unwrap()),
                Some(TilePath::Hashes(tile))
            );
        }
        let entries = TilePath::Entries { index: 5, width: 3 };
        assert_eq!(TilePath::parse("entries/005.p/3"), Some(entries));
    }

    #[test]
    fn other_paths_name_no_tile() {
        for path in [
            "",
            "0",
            "0/",
            "0/0",
            "0/00",
            "0/0000",
            "00/000",
            "64/000",
            "-1/000",
            "0/x000/001",
            "0/001/002",
            "0/x01/002",
            "0/000.p/0",
            "0/000.p/256",
            "0/000.p/01",
            "0/000.p/",
            "0/+01",
            "0/000/",
            "Entries/000",
            "0/x999/x999/x999/x999/x999/x999/999",
            "entries/x000/000",
        ] {
            assert_eq!(TilePath::parse(path), None, "{path}");
        }
    }

    #[test]
    fn a_tree_has_the_tiles_of_the_specification() {
        let widths = |size, level: u8| -> Vec<u16> {
            (0..)
                .map_while(|index| Tile::in_tree(level, index, size))
                .map(|tile| tile.width)
                .collect()
        };
        let at_0 = widths(70_000, 0);
        assert_eq!((at_0.len(), at_0.last()), (274, Some(&112)));
        assert_eq!(widths(70_000, 1), [256, 17]);
        assert_eq!(widths(70_000, 2), [1]);
        assert_eq!(widths(256, 1), [1]);
        assert_eq!(widths(0, 0), []);
        assert_eq!(Tile::in_tree(9, 0, u64::MAX), None);
    }

    proptest! {
        #[test]
        fn a_path_and_its_tile_are_the_same(level in 0..64_u8, index: u64, width in 1..=256_u16) {
            let tile = Tile { level, index, width };
            prop_assert_eq!(TilePath::parse(tile.path().strip_prefix("tile/").unwrap()), Some(TilePath::Hashes(tile)));
        }

        #[test]
        fn a_parsed_path_is_the_path_of_its_tile(path in "[0-9x]{1,4}/[0-9x]{3,4}(/[0-9]{3})?(.p/[0-9]{1,3})?") {
            if let Some(TilePath::Hashes(tile)) = TilePath::parse(&path) {
                prop_assert_eq!(tile.path(), format!("tile/{}", path));
            }
        }
    }
}
