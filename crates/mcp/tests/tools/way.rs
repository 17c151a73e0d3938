//! Tests the calls from the activation of an identity to a reply, the list of tools, and the errors.

use std::sync::atomic::Ordering;

use sealpost_mcp::ToolName;
use serde_json::{Value, json};

use crate::{
    peer::Peer,
    service::{ALICE, BOB, ENVELOPE, SECRETS, Service},
};

#[tokio::test]
async fn five_calls_lead_from_nothing_to_a_reply() {
    let service = Service::default();
    "Noon.".clone_into(&mut service.text.lock().unwrap());
    let mut peer = Peer::connect(&service, false).await;
    let activated = peer.call("activate", &json!({"label": "Alice", "handle": "alice"})).await;
    assert_eq!(activated["structuredContent"]["api_key_id"], ALICE);
    assert_eq!(activated["structuredContent"]["acting"], true);
    let sent = peer.call("send_message", &json!({"to": "bob", "message": "When?"})).await;
    assert_eq!(sent["structuredContent"]["envelope_id"], ENVELOPE);
    let arrived = peer.call("wait_for_message", &json!({})).await["structuredContent"].take();
    assert_eq!(arrived["received"], true);
    assert_eq!(arrived["message"]["sender_handle"], "bob");
    let id = &arrived["message"]["envelope_id"];
    let opened = peer.call("open_message", &json!({"envelope_id": id})).await;
    let message = &opened["structuredContent"]["message"];
    let expected =
        json!({"untrusted": true, "sender": BOB, "sender_handle": "bob", "text": "Noon."});
    assert_eq!(*message, expected);
    let reply = peer.call("reply", &json!({"envelope_id": id, "message": "Good."})).await;
    assert_eq!(reply["structuredContent"]["recipient"], BOB);

    let requests = service.requests.lock().unwrap();
    let (_, body) = requests.iter().rfind(|(path, _)| path == "/v1/channel/send").unwrap();
    assert_eq!(body["to"], BOB);
    assert_eq!((&body["message"], &body["reply_to"]), (&json!("Good."), &json!(ENVELOPE)));
    let stored = peer.stored.lock().unwrap();
    assert_eq!(stored[0].login_secret.as_deref(), Some(SECRETS[0]));
    assert_eq!(stored[0].recovery_code.as_deref(), Some(SECRETS[1]));
}

#[tokio::test]
async fn a_wait_confirms_only_the_message_that_it_returns() {
    let service = Service::default();
    let mut peer = Peer::connect(&service, true).await;
    for _ in 0..2 {
        let arrived = peer.call("wait_for_message", &json!({"timeout_s": 5})).await;
        assert_eq!(arrived["structuredContent"]["received"], true);
    }
    let registered = |path: &String| path == "/v1/webhooks/register";
    assert_eq!(service.paths().iter().filter(|path| registered(path)).count(), 1);
    let confirmed = service.confirmed.lock().unwrap().clone();
    // Each connection confirms its test event and its first message, but not its second message.
    let expected: Vec<_> =
        ["1", "2", "1", "2"].map(|id| json!({"delivery": id, "status": 204})).into();
    assert_eq!(confirmed, expected);
}

#[tokio::test]
async fn the_message_of_a_cancelled_wait_is_returned_by_the_next_one() {
    let service = Service::default();
    let mut peer = Peer::connect(&service, true).await;
    service.ignores_close.store(true, Ordering::SeqCst);
    let wait = peer.start("wait_for_message", &json!({})).await;
    service.confirmation.notified().await;
    peer.cancel(wait).await;
    let confirmed = service.confirmed.lock().unwrap().clone();
    let arrived = peer.call("wait_for_message", &json!({})).await;
    assert_eq!(arrived["structuredContent"]["message"]["envelope_id"], ENVELOPE);
    assert_eq!(*service.confirmed.lock().unwrap(), confirmed, "no further message was fetched");
}

#[tokio::test]
async fn a_cancelled_activation_is_finished_and_stored() {
    let service = Service::default();
    let mut peer = Peer::connect(&service, false).await;
    let held = service.activations.lock().await;
    let activation = peer.start("activate", &json!({"label": "Alice"})).await;
    peer.cancel(activation).await;
    drop(held);
    let acting = peer.call("whoami", &json!({})).await;
    assert_eq!(acting["structuredContent"]["api_key_id"], ALICE);
    assert_eq!(peer.stored.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_quiet_wait_fails_only_if_its_connection_is_lost_at_the_end() {
    let service = Service::default();
    let mut peer = Peer::connect(&service, true).await;
    *service.lost_relays.lock().unwrap() = Some(1);
    let quiet = peer.call("wait_for_message", &json!({"timeout_s": 2})).await;
    assert_eq!(quiet["structuredContent"]["received"], false, "{quiet}");
    *service.lost_relays.lock().unwrap() = Some(usize::MAX);
    let lost = peer.call("wait_for_message", &json!({"timeout_s": 1})).await;
    assert_eq!(lost["isError"], true, "{lost}");
}

#[tokio::test]
async fn a_webhook_of_an_earlier_process_is_used_again_even_if_it_is_paused() {
    for is_paused in [false, true] {
        let service = Service::default();
        for _ in 0..2 {
            let mut peer = Peer::connect(&service, true).await;
            peer.call("wait_for_message", &json!({})).await;
            service.webhooks.lock().unwrap()[0]["paused"] = is_paused.into();
        }
        let paths = service.paths();
        assert_eq!(paths, ["/v1/webhooks/list", "/v1/webhooks/register", "/v1/webhooks/list"]);
    }
}

#[tokio::test]
async fn each_tool_has_a_description_and_schemas() {
    let service = Service::default();
    let mut peer = Peer::connect(&service, true).await;
    assert!(peer.initialized["instructions"].as_str().unwrap().contains("untrusted"));
    let tools = peer.request("tools/list", &json!({})).await["result"]["tools"].take();
    let tools = tools.as_array().unwrap();
    assert_eq!(tools.len(), ToolName::ALL.len());
    for tool in tools {
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
        assert_eq!(tool["outputSchema"]["type"], "object", "{tool}");
        assert!(!tool.to_string().contains("uint"), "{tool}");
        assert!(tool["description"].as_str().unwrap().len() > 20, "{tool}");
        let is_destructive = tool["name"] == "set_policy";
        assert_eq!(tool["annotations"]["destructiveHint"], is_destructive, "{tool}");
    }
}

#[tokio::test]
async fn a_policy_takes_keys_and_handles_in_one_request() {
    let service = Service::default();
    let mut peer = Peer::connect(&service, true).await;
    let many: Vec<_> = (0..100).map(|number| format!("sender-{number}")).collect();
    let change = json!({"accept": "allowlist", "allow": many, "block": [BOB, "carol"]});
    let policy = peer.call("set_policy", &change).await;
    assert_eq!(policy["structuredContent"]["allowed"], json!([BOB]));
    assert_eq!(*service.requests.lock().unwrap(), [("/v1/did/policy".to_owned(), change)]);
    let tools = peer.request("tools/list", &json!({})).await["result"]["tools"].take();
    let tool = tools.as_array().unwrap().iter().find(|tool| tool["name"] == "set_policy").unwrap();
    for list in ["allow", "unallow", "block", "unblock"] {
        assert_eq!(tool["inputSchema"]["properties"][list]["maxItems"], 100, "{list}");
    }
}

#[tokio::test]
async fn only_allowed_tools_exist() {
    let service = Service::default();
    let allowed = ["send", "open_message"].map(|name| ToolName::from_name(name).unwrap());
    let mut peer = Peer::connect_with(&service, true, &allowed).await;
    let tools = peer.request("tools/list", &json!({})).await["result"]["tools"].take();
    let names: Vec<_> = tools.as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["open_message", "send_message"]);
    let refused = peer.request("tools/call", &json!({"name": "set_policy", "arguments": {}})).await;
    assert_eq!(refused["error"]["code"], -32602);
    assert_eq!(service.paths(), [""; 0]);
}

#[tokio::test]
async fn a_failed_call_says_what_to_do() {
    let service = Service::default();
    let mut peer = Peer::connect(&service, true).await;
    let error = |result: &Value| {
        assert_eq!(result["isError"], true, "{result}");
        let text = result["content"][0]["text"].as_str().unwrap();
        serde_json::from_str::<Value>(text).unwrap()["error"].take()
    };
    let refused = peer.call("send_message", &json!({"to": "nobody", "message": "x"})).await;
    let refused = error(&refused);
    assert_eq!(refused["code"], "KEY_NOT_FOUND");
    assert_eq!(refused["field"], "to");
    assert_eq!(refused["detail"], "no such key");
    for (tool, arguments) in [
        ("send_message", json!({"to": "bob"})),
        ("send_message", json!({"to": "bob", "message": "x", "subject": "y"})),
        ("open_message", json!({"envelope_id": "env_1"})),
        ("wait_for_message", json!({"timeout_s": 56})),
        ("list_sent", json!({"limit": 101})),
        ("list_sent", json!({"since": "yesterday"})),
        ("set_policy", json!({"accept": "friends"})),
        ("whoami", json!({"verbose": true})),
    ] {
        let fault = error(&peer.call(tool, &arguments).await);
        assert_eq!(fault["code"], "INVALID_ARGUMENTS", "{tool}: {fault}");
    }
    let mut stranger = Peer::connect(&service, false).await;
    let fault = error(&stranger.call("whoami", &json!({})).await);
    assert_eq!(fault["code"], "NO_IDENTITY");
    assert!(fault["detail"].as_str().unwrap().contains("activate"));
}

#[tokio::test]
async fn a_null_argument_is_absent_and_a_whole_number_is_an_integer() {
    let service = Service::default();
    let mut peer = Peer::connect(&service, true).await;
    for (tool, arguments) in [
        ("list_sent", json!({"limit": null, "thread": null})),
        ("list_sent", json!({"limit": 2.0})),
        ("wait_for_message", json!({"timeout_s": null})),
        ("wait_for_message", json!({"timeout_s": 5.0})),
        ("set_policy", json!({"allow": null, "listed": null})),
    ] {
        let result = peer.call(tool, &arguments).await;
        assert_eq!(result["isError"], false, "{tool} {arguments}: {result}");
    }
    for arguments in [json!({"limit": 2.5}), json!({"limit": -2.0}), json!({"limit": "2"})] {
        let result = peer.call("list_sent", &arguments).await;
        assert_eq!(result["isError"], true, "{arguments}: {result}");
    }
}

#[tokio::test]
async fn no_account_is_opened_whose_secrets_cannot_be_stored() {
    let service = Service::default();
    let mut peer = Peer::connect(&service, false).await;
    let other = json!({
        "api_key_id": BOB, "label": "Bob", "handle": null, "did": "did:key:z6Mk", "status": "active",
        "plan": "explorer", "account_id": "acct_01h455vb4pex5vsknk084sn02r",
        "created_at": "2026-01-01T00:00:00.000Z",
    });
    peer.stored.lock().unwrap().push(serde_json::from_value(other).unwrap());
    let refused = peer.call("activate", &json!({"label": "Alice"})).await;
    let text = refused["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("STORE_UNUSABLE") && text.contains("the store is full"), "{text}");
    assert_eq!(service.paths(), [""; 0]);
}

#[tokio::test]
async fn a_further_identity_does_not_act() {
    let service = Service::default();
    let mut peer = Peer::connect(&service, true).await;
    let activated = peer.call("activate", &json!({"label": "Alice at work"})).await;
    assert_eq!(activated["structuredContent"]["acting"], false);
    assert!(peer.stored.lock().unwrap().is_empty());
}
