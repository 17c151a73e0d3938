//! CPU time and memory of this process and its threads, of servers and databases, and of the machine.

use std::{fs, time::Duration};

use rustix::time::{ClockId, clock_gettime};

/// Returns the CPU time of this thread.
pub(crate) fn of_this_thread() -> Duration {
    duration(ClockId::ThreadCPUTime)
}

/// Returns the CPU time of this process.
pub(crate) fn of_this_process() -> Duration {
    duration(ClockId::ProcessCPUTime)
}

/// Returns the CPU time of a process.
pub(crate) fn of(pid: u32) -> Duration {
    let stat = Stat::read(pid).expect("the process runs");
    ticks(stat.own)
}

/// Returns the CPU time of a process and its children, including ended children.
pub(crate) fn of_family(pid: u32) -> Duration {
    let head = Stat::read(pid).expect("the process runs");
    let children = processes().filter_map(Stat::read).filter(|stat| stat.parent == pid);
    ticks(head.own + head.ended_children + children.map(|stat| stat.own).sum::<u64>())
}

/// Returns the parent of a process and the name of the process.
pub(crate) fn parent_of(pid: u32) -> Option<(u32, String)> {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    Some((Stat::read(pid)?.parent, name.trim().to_owned()))
}

/// Returns the resident memory in KiB: the current value and the peak.
pub(crate) fn memory_kib(pid: u32) -> (u64, u64) {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("the process runs");
    let of = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let number = line.and_then(|rest| rest.split_whitespace().next()?.parse().ok());
        number.expect("/proc has the memory of a process")
    };
    (of("VmRSS:"), of("VmHWM:"))
}

/// The time of all cores since boot.
#[derive(Clone, Copy)]
pub(crate) struct Machine {
    /// All time except idle time and I/O wait, including stolen time.
    pub(crate) busy: Duration,
    /// Time that the hypervisor gave to other machines.
    pub(crate) stolen: Duration,
}

impl Machine {
    pub(crate) fn now() -> Self {
        let stat = fs::read_to_string("/proc/stat").expect("/proc has the time of the cores");
        let line = stat.lines().next().unwrap_or_default();
        let numbers: Vec<u64> =
            line.split_whitespace().skip(1).filter_map(|text| text.parse().ok()).collect();
        let [user, nice, system, _idle, _waiting, interrupts, soft_interrupts, stolen, ..] =
            *numbers
        else {
            panic!("/proc/stat is not as expected: {line}");
        };
        let busy = user + nice + system + interrupts + soft_interrupts;
        Self { busy: ticks(busy), stolen: ticks(stolen) }
    }
}

/// The fields of /proc/PID/stat, in ticks.
struct Stat {
    parent: u32,
    own: u64,
    ended_children: u64,
}

impl Stat {
    /// Returns `None` if the process does not exist.
    fn read(pid: u32) -> Option<Self> {
        let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name in brackets may contain any character.
        let (_, rest) = text.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let number = |place: usize| fields.get(place)?.parse::<u64>().ok();
        Some(Self {
            parent: u32::try_from(number(1)?).ok()?,
            own: number(11)? + number(12)?,
            ended_children: number(13)? + number(14)?,
        })
    }
}

fn processes() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").expect("/proc is readable");
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

fn ticks(count: u64) -> Duration {
    Duration::from_micros(count * 1_000_000 / rustix::param::clock_ticks_per_second())
}

fn duration(clock: ClockId) -> Duration {
    Duration::try_from(clock_gettime(clock)).expect("CPU time is not negative")
}
