//! Shows a test of a program that sends messages, with a service of its own.

use sealpost_client::{Client, Login};
use sealpost_node::testing;

#[tokio::test]
async fn a_message_is_sent_and_opened() {
    let service = testing::start().unwrap();
    let account = Client::builder(service.url()).build().unwrap();
    let carol = account.activate("Carol", None, None).await.unwrap();
    let login = Login::new(carol.account_id, carol.login_secret.unwrap());
    let client = Client::builder(service.url()).login(login).api_key(carol.api_key_id);
    let client = client.build().unwrap();

    let to = carol.api_key_id.to_string();
    let sent = client.send(&to, "Meet me at noon.").await.unwrap();
    let opened = client.open(sent.envelope_id).await.unwrap();
    assert_eq!(opened.message, "Meet me at noon.");
}

#[tokio::test]
async fn services_share_nothing() {
    let (first, second) = (testing::start().unwrap(), testing::start().unwrap());
    for service in [&first, &second] {
        let client = Client::builder(service.url()).build().unwrap();
        client.activate("Carol", Some("carol"), None).await.unwrap();
    }
}
