//! Limits how many tasks with blocking database work run at the same time.

use std::sync::Arc;

use tokio::{sync::Semaphore, task::spawn_blocking};

use crate::error::Error;

/// Limits the number of concurrent blocking tasks of one service. The tasks run on the blocking threads of the
/// embedding program's tokio runtime.
pub(super) struct BlockingPool(Arc<Semaphore>);

impl BlockingPool {
    pub(super) fn new(tasks_max: usize) -> Self {
        Self(Arc::new(Semaphore::new(tasks_max.clamp(1, Semaphore::MAX_PERMITS))))
    }

    /// Runs `task` on a blocking thread as soon as the limit allows. A started task runs to its end, even if the future
    /// is dropped.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        task: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Error> {
        let permit = Arc::clone(&self.0).acquire_owned().await.map_err(|_closed| Error::Lost)?;
        let task = move || {
            let _permit = permit;
            task()
        };
        spawn_blocking(task).await.map_err(|_panicked| Error::Lost)
    }
}
