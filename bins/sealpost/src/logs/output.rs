//! Writes log lines to standard error with a bounded wait. The program that reads the log can hang. Without the bound,
//! each thread that writes a line would then wait for it, and no request would get a response.

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

/// Writes each line to standard error. Waits at most [`WAIT_MAX`] for the reader, once for each [`PART_BYTES`] of the
/// line. After this time, lines are lost until the reader continues.
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

/// Returns true if standard error accepts [`PART_BYTES`] bytes without a wait, or becomes so within `wait`. Also returns
/// true if its reader has ended: a write then fails at once. A terminal may accept fewer bytes: a write can then wait
/// longer, if the terminal stands still just before it is full.
fn accepts(stderr: &impl AsFd, wait: Duration) -> io::Result<bool> {
    let wait = Timespec { tv_sec: 0, tv_nsec: i64::from(wait.subsec_nanos()) };
    let polled = retry_on_intr(|| poll(&mut [PollFd::new(stderr, PollFlags::OUT)], Some(&wait)));
    Ok(polled? > 0)
}

/// True after a line was lost, until a line is written.
static IS_STALLED: AtomicBool = AtomicBool::new(false);
/// True if only the beginning of a line was written. The next line then begins with a line end.
static IS_CUT: AtomicBool = AtomicBool::new(false);
/// Lines that were lost, or not written to their end, since the last report.
static LOST: AtomicU64 = AtomicU64::new(0);

/// Maximum time in which a line waits for the reader. Must be less than a second.
const WAIT_MAX: Duration = Duration::from_millis(500);
const CHECK_EVERY: Duration = Duration::from_secs(1);
/// A pipe that can be written to accepts at least 4,096 bytes (`PIPE_BUF`, pipe(7)): this many, and a line end.
const PART_BYTES: usize = 4_095;
