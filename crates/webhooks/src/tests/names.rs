//! Names that lead where the tests want them to.

use std::{cell::Cell, net::IpAddr, rc::Rc};

use futures_util::{FutureExt as _, future::LocalBoxFuture};

use crate::names::{Names, Unresolved};

pub(crate) fn fixed() -> Rc<dyn Names> {
    Rc::new(FixedNames)
}

struct FixedNames;

impl Names for FixedNames {
    fn lookup<'a>(&'a self, name: &'a str) -> LocalBoxFuture<'a, Result<Vec<IpAddr>, Unresolved>> {
        let ips: &[&str] = match name {
            "loopback.test" => &["127.0.0.1"],
            "metadata.test" => &["169.254.169.254"],
            "mixed.test" => &["8.8.8.8", "10.0.0.1"],
            "private.test" => &["10.0.0.1"],
            "public.test" => &["8.8.8.8"],
            _ => &[],
        };
        let found: Vec<IpAddr> = ips.iter().map(|ip| ip.parse().unwrap()).collect();
        let answer = if found.is_empty() { Err(Unresolved) } else { Ok(found) };
        async move { answer }.boxed_local()
    }
}

/// The first answer is a loopback address, all others are private: what somebody does who wants to get past a check.
pub(crate) fn rebinding() -> Rc<dyn Names> {
    Rc::new(RebindingNames { is_first: Cell::new(true) })
}

struct RebindingNames {
    is_first: Cell<bool>,
}

impl Names for RebindingNames {
    fn lookup<'a>(&'a self, _: &'a str) -> LocalBoxFuture<'a, Result<Vec<IpAddr>, Unresolved>> {
        let ip = if self.is_first.replace(false) { "127.0.0.1" } else { "10.0.0.1" };
        async move { Ok(vec![ip.parse().unwrap()]) }.boxed_local()
    }
}
