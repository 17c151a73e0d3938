//! Reads the standard process metrics of Prometheus from `/proc`, which only Linux has.

use std::fs;

use super::float;

/// Reads the values of the process metrics and updates the metrics. Skips unreadable values.
pub(crate) fn observe() {
    if let Ok(status) = fs::read_to_string("/proc/self/status")
        && let Some(kib) = resident_kib(&status)
    {
        metrics::gauge!("process_resident_memory_bytes").set(float(kib) * 1024.0);
    }
    if let Ok(stat) = fs::read_to_string("/proc/self/stat")
        && let Some(ticks) = cpu_ticks(&stat)
    {
        metrics::gauge!("process_cpu_seconds_total").set(float(ticks) / TICKS_PER_SECOND);
    }
    if let Ok(open) = fs::read_dir("/proc/self/fd") {
        // Subtracts the open file of the directory listing itself.
        metrics::gauge!("process_open_fds").set(float(open.count().saturating_sub(1)));
    }
    if let Ok((soft, _hard)) = rlimit::getrlimit(rlimit::Resource::NOFILE) {
        metrics::gauge!("process_max_fds").set(float(soft));
    }
}

fn resident_kib(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

/// Returns the CPU time of the process in ticks, user plus system time; `None` if the text has another format. Skips
/// all text up to the last parenthesis, because the program name before it can contain any character.
fn cpu_ticks(stat: &str) -> Option<u64> {
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(user.saturating_add(system))
}

/// `USER_HZ`, the number of CPU clock ticks per second. It is 100 on all Linux platforms that Sealpost supports.
const TICKS_PER_SECOND: f64 = 100.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_linux_are_parsed() {
        assert_eq!(resident_kib("Name:\tx\nVmRSS:\t   12345 kB\nRssAnon:\t1 kB\n"), Some(12345));
        let stat = "42 (a) b) S 1 2 3 4 5 6 7 8 9 10 250 150 0 0 20 0 9 0";
        assert_eq!(cpu_ticks(stat), Some(400));
    }
}
