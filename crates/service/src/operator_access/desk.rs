//! Performs the actions of operators who signed in.

use std::{net::IpAddr, sync::Arc};

use sealpost_domain::Refusal;

use super::credentials::SignedInOperator;
use crate::{
    acts::audited::{Operator, OperatorClient, OperatorError},
    error::Error,
    sealpost::Sealpost,
};

/// The operator of a request, and the details of the request that the audit trail records.
#[derive(Debug, Clone)]
pub struct OperatorCall {
    /// The operator who signed in.
    pub operator: SignedInOperator,
    /// The address of the client. `None` if it is unknown.
    pub client_address: Option<IpAddr>,
    /// The reason for the action. `None` for requests that change nothing.
    pub reason: Option<String>,
}

impl Sealpost {
    /// Performs the work of an operator on the blocking pool. The caller has checked the role of the operator.
    pub async fn operate<T: Send + 'static>(
        &self,
        call: OperatorCall,
        work: impl FnOnce(&Operator) -> Result<T, OperatorError> + Send + 'static,
    ) -> Result<T, Error> {
        self.block(move |core| {
            let OperatorCall { operator, client_address, reason } = call;
            let actor = format!("console:{}", operator.name);
            let operator = Operator::new(Arc::clone(&core.store), Arc::clone(&core.clock), actor)
                .of_client(OperatorClient { client_address }, reason);
            Ok(work(&operator)?)
        })
        .await
    }
}

impl From<OperatorError> for Error {
    fn from(error: OperatorError) -> Self {
        match error {
            OperatorError::NotFound(what) => Refusal::SubjectNotFound(what).into(),
            OperatorError::Store(error) => error.into(),
            OperatorError::Wallet(error) => error.into(),
            refused @ (OperatorError::HandleInUse(_)
            | OperatorError::HasHandle(_)
            | OperatorError::IllegalTransition(_)
            | OperatorError::KekInUse { .. }
            | OperatorError::Pointless(_)) => Refusal::ActionRefused(refused.to_string()).into(),
        }
    }
}
