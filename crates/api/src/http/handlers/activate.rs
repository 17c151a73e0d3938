//! `POST /v1/did/activate`: a new identity.

use actix_web::web;
use sealpost_domain::{Handle, Label, Refusal};
use sealpost_service::{Activate, Activated};

use super::Answer;
use crate::http::{
    ApiState,
    caller::Visitor,
    fields::{Fields, invalid},
};

pub(crate) async fn activate(app: web::Data<ApiState>, visitor: Visitor) -> Answer<Activated> {
    let body = visitor.body.and_then(read);
    let session = match visitor.token.as_deref() {
        None => None,
        token => Some(app.sealpost.authenticate_session(token).await?),
    };
    Ok(web::Json(app.sealpost.activate(session.as_ref(), body?).await?))
}

fn read(mut fields: Fields) -> Result<Activate, Refusal> {
    fields.require(&["label"])?;
    let label = Label::parse(&fields.text("label")?)
        .map_err(|fault| invalid("label", fault.to_string()))?;
    let handle = fields
        .optional_text("handle")?
        .map(|text| Handle::parse(&text))
        .transpose()
        .map_err(|fault| invalid("handle", fault.to_string()))?;
    Ok(Activate { label, handle })
}
