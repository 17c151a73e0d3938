//! Writes log lines to standard error with a bounded wait. Otherwise, if the program that reads the log hangs, each
//! thread that writes a line would wait for this program, and no request would get a response.

use std::{
    io::{self, Write},
    os::fd::AsFd,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::retry_on_intr,
};

/// Writes each line to standard error, in parts of [`PART_BYTES`]. Waits at most [`WAIT_MAX`] until the reader accepts
/// a part. After this time, lines are lost until the reader continues.
pub(super) struct LogOutput;

impl Write for LogOutput {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut stderr = io::stderr().lock();
        let mut wait = if IS_STALLED.load(Ordering::Relaxed) { Duration::ZERO } else { WAIT_MAX };
        for (number, part) in line.chunks(PART_BYTES).enumerate() {
            if !accepts(&stderr, wait)? {
                IS_STALLED.store(true, Ordering::Relaxed);
                IS_CUT.fetch_or(number > 0, Ordering::Relaxed);
                LOST.fetch_add(1, Ordering::Relaxed);
                break;
            }
            if IS_CUT.swap(false, Ordering::Relaxed) {
                stderr.write_all(b"\n")?;
            }
            stderr.write_all(part)?;
            IS_STALLED.store(false, Ordering::Relaxed);
            wait = WAIT_MAX;
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Logs the number of lost lines when the reader of the log continues. Checks once per second, and never returns.
pub(crate) async fn report_lost_lines() {
    let mut checks = actix_rt::time::interval(CHECK_EVERY);
    loop {
        checks.tick().await;
        let lines = LOST.load(Ordering::Relaxed);
        if lines > 0 && accepts(&io::stderr(), Duration::ZERO).unwrap_or(false) {
            LOST.fetch_sub(lines, Ordering::Relaxed);
            tracing::warn!(lines, "lines of the log were lost, because their reader stood still");
        }
    }
}

/// Returns true if standard error can accept [`PART_BYTES`] bytes within `wait`. Also returns true if its reader has
/// ended: a write then fails at once. A terminal may accept fewer bytes: a write can then wait longer.
fn accepts(stderr: &impl AsFd, wait: Duration) -> io::Result<bool> {
    let wait = Timespec { tv_sec: 0, tv_nsec: i64::from(wait.subsec_nanos()) };
    let polled = retry_on_intr(|| poll(&mut [PollFd::new(stderr, PollFlags::OUT)], Some(&wait)));
    Ok(polled? > 0)
}

/// True from the loss of a line until a line is written. During this time, lines do not wait for the reader.
static IS_STALLED: AtomicBool = AtomicBool::new(false);
/// True if only the beginning of a line was written. The next line then begins with a line end.
static IS_CUT: AtomicBool = AtomicBool::new(false);
/// Lines that were lost, or not written to their end, since the last report.
static LOST: AtomicU64 = AtomicU64::new(0);

/// Maximum time in which a part of a line waits for the reader. Must be less than a second, because [`accepts`] uses
/// only its fraction of a second.
const WAIT_MAX: Duration = Duration::from_millis(500);
const CHECK_EVERY: Duration = Duration::from_secs(1);
/// Maximum number of bytes in one part of a line. A writable pipe accepts at least 4,096 bytes (`PIPE_BUF`, pipe(7)): a
/// part and a line end.
const PART_BYTES: usize = 4_095;
