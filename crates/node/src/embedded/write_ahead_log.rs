//! Finds damage in the write-ahead log of an SQLite file. SQLite reads such a log up to the first damaged frame, and
//! ignores the commits after it without an error. Format: <https://www.sqlite.org/fileformat2.html#the_write_ahead_log>

use std::io::{self, Read};

/// Returns the number of bytes before the first damaged frame, if a commit follows this frame. Returns `None` if SQLite
/// reads all commits. An incomplete commit at the end is no damage, because a crash during its write leaves one.
pub(super) fn damaged_at(mut log: impl Read) -> io::Result<Option<u64>> {
    let mut header = [0; HEADER];
    if !read_whole(&mut log, &mut header)? {
        return Ok(None);
    }
    let is_big_endian = match word(&header, 0, true) {
        MAGIC => false,
        MAGIC_BIG_ENDIAN => true,
        _ => return Ok(Some(0)),
    };
    let (body, sum) = header.split_at(HEADER - 8);
    let mut state = checksum((0, 0), body, is_big_endian);
    let page_size = word(&header, 8, true);
    if state != (word(sum, 0, true), word(sum, 4, true)) || page_size > PAGE_MAX {
        return Ok(Some(0));
    }
    let salts = header.get(16..24);
    let mut frame = vec![0; FRAME_HEADER + usize::try_from(page_size).unwrap_or_default()];
    let (mut valid, mut is_valid) = (HEADER, true);
    while read_whole(&mut log, &mut frame)? {
        let is_current = frame.get(8..16) == salts;
        let (head, page) = frame.split_at(FRAME_HEADER);
        state = checksum(
            checksum(state, head.get(..8).unwrap_or_default(), is_big_endian),
            page,
            is_big_endian,
        );
        is_valid = is_valid && is_current && state == (word(head, 16, true), word(head, 20, true));
        let is_commit = word(head, 4, true) > 0;
        if is_valid {
            valid += frame.len();
        } else if is_current && is_commit {
            return Ok(u64::try_from(valid).ok());
        }
    }
    Ok(None)
}

/// Fills the buffer. Returns `false` if the end comes first.
fn read_whole(log: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match log.read_exact(buffer) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        done => done.map(|()| true),
    }
}

/// Continues SQLite's checksum `state` over `bytes`, whose length must be a multiple of eight.
fn checksum(state: (u32, u32), bytes: &[u8], is_big_endian: bool) -> (u32, u32) {
    bytes.chunks_exact(8).fold(state, |(first, second), pair| {
        let first = first.wrapping_add(word(pair, 0, is_big_endian)).wrapping_add(second);
        (first, second.wrapping_add(word(pair, 4, is_big_endian)).wrapping_add(first))
    })
}

fn word(bytes: &[u8], at: usize, is_big_endian: bool) -> u32 {
    let word = bytes.get(at..).and_then(|rest| rest.first_chunk()).copied().unwrap_or_default();
    if is_big_endian { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) }
}

const MAGIC: u32 = 0x377f_0682;
const MAGIC_BIG_ENDIAN: u32 = 0x377f_0683;
const HEADER: usize = 32;
const FRAME_HEADER: usize = 24;
const PAGE_MAX: u32 = 65_536;
