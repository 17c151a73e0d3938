//! Records the progress of responses, so that a connection passes its next request to the HTTP library only after a
//! complete response.

use std::{
    cell::Cell,
    fmt,
    pin::Pin,
    rc::Rc,
    task::{Context, Poll},
};

use actix_http::{Request, Response};
use actix_service::{IntoServiceFactory, Service, ServiceFactory, apply_fn_factory};
use actix_web::{
    Error,
    body::{BodySize, BoxBody, MessageBody},
    web::Bytes,
};

/// The progress of the response to the current request of a connection.
#[derive(Debug, Clone, Default)]
pub(super) struct ResponseRecord(Rc<Cell<ResponseStage>>);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum ResponseStage {
    /// No handler has been called. In this stage, the HTTP library writes only if it refuses the received bytes.
    #[default]
    Awaited,
    /// A handler runs, or the body of its response is being written.
    Begun,
    /// The whole response is in the write buffer of the HTTP library.
    Complete,
}

impl ResponseRecord {
    pub(super) fn stage(&self) -> ResponseStage {
        self.0.get()
    }

    pub(super) fn set(&self, stage: ResponseStage) {
        self.0.set(stage);
    }
}

/// Wraps a service so that requests and responses update the [`ResponseRecord`] of their connection. A request sets the
/// stage to `Begun`. The end of the response body sets the stage to `Complete`.
pub(super) fn record_responses<I, S, B>(
    service: I,
) -> impl ServiceFactory<
    Request,
    Config = S::Config,
    Response = Response<RecordedBody>,
    Error = Error,
    InitError = S::InitError,
    Service = impl Service<Request, Response = Response<RecordedBody>, Error = Error, Future: 'static>,
>
where
    I: IntoServiceFactory<S, Request>,
    S: ServiceFactory<Request, Config = (), Error = Error> + 'static,
    S::InitError: fmt::Debug,
    S::Response: Into<Response<B>>,
    <S::Service as Service<Request>>::Future: 'static,
    B: MessageBody + 'static,
{
    apply_fn_factory(service, |request: Request, service: &S::Service| {
        let record = request.conn_data::<ResponseRecord>().cloned().unwrap_or_default();
        record.set(ResponseStage::Begun);
        let response = service.call(request);
        async move {
            let response: Response<BoxBody> = match response.await {
                Ok(response) => response.into().map_body(|_, body| body.boxed()),
                Err(error) => error.into(),
            };
            Ok(response.map_body(|_, body| RecordedBody { body, record }))
        }
    })
}

/// The body of a response. The HTTP library drops the body after the last byte, and the drop sets `Complete`.
pub(super) struct RecordedBody {
    body: BoxBody,
    record: ResponseRecord,
}

impl MessageBody for RecordedBody {
    type Error = <BoxBody as MessageBody>::Error;

    fn size(&self) -> BodySize {
        self.body.size()
    }

    fn poll_next(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Self::Error>>> {
        Pin::new(&mut self.body).poll_next(cx)
    }
}

impl Drop for RecordedBody {
    fn drop(&mut self) {
        self.record.set(ResponseStage::Complete);
    }
}
