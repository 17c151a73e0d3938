//! Tests of council actions and partner suspensions: the requests that they block and allow, and the end of a block.

use serde_json::{Value, json};

use crate::support::{Client, Database, Identity, Receiver, Server, has, on_both, text};

on_both!(
    a_council_action_on_a_key_blocks_that_key,
    a_council_action_on_an_account_blocks_all_its_keys,
    a_proposal_does_not_block,
    a_suspended_partner_blocks_all_its_accounts,
    two_block_reasons_are_lifted_separately,
);

fn a_council_action_on_a_key_blocks_that_key(database: &Database) {
    let scene = Scene::new(database);
    let decision = database.operate(&council("enforce", &scene.bob.key));
    has(&decision, &json!({"subject": scene.bob.key, "status": "enforced"}));
    scene.check_blocked(&scene.bob, "council_action");
    scene.check_free(&scene.sibling);
    database.operate(&council("lift", &scene.bob.key));
    scene.check_free(&scene.bob);
}

fn a_council_action_on_an_account_blocks_all_its_keys(database: &Database) {
    let scene = Scene::new(database);
    database.operate(&council("enforce", &scene.bob.account));
    scene.check_blocked(&scene.bob, "council_action");
    scene.check_blocked(&scene.sibling, "council_action");
    // The account may activate more keys, which are blocked too.
    scene.check_blocked(&scene.client().sibling(&scene.bob), "council_action");
    scene.check_free(&scene.alice);
    database.operate(&council("lift", &scene.bob.account));
    scene.check_free(&scene.bob);
    scene.check_free(&scene.sibling);
}

fn a_suspended_partner_blocks_all_its_accounts(database: &Database) {
    let scene = Scene::new(database);
    let assigned = database.operate(&["partner", "assign", &scene.bob.account, "Acme_Corp"]);
    assert_eq!(assigned, json!({"account_id": scene.bob.account, "partner": "Acme_Corp"}));
    // A partner with a name in another case is another partner.
    database.operate(&["partner", "assign", &scene.alice.account, "acme_corp"]);
    scene.check_free(&scene.bob);
    database.operate(&["partner", "suspend", "Acme_Corp", "--reason", REASON]);
    scene.check_blocked(&scene.bob, "partner_suspension");
    scene.check_blocked(&scene.sibling, "partner_suspension");
    scene.check_free(&scene.alice);
    database.operate(&["partner", "restore", "Acme_Corp", "--reason", "all is well"]);
    scene.check_free(&scene.bob);
    for id in [&scene.bob.account, &scene.bob.key] {
        let line = database.operate_refused(2, &["partner", "suspend", id, "--reason", REASON]);
        assert!(line.contains("ak_ or acct_"), "{line}");
    }
}

fn a_proposal_does_not_block(database: &Database) {
    let scene = Scene::new(database);
    database.operate(&council("propose", &scene.bob.key));
    scene.client().send(&scene.bob, &scene.alice.key, "x").ok();
    scene.client().send(&scene.alice, &scene.bob.key, "x").ok();
    let governance = &scene.client().status(&scene.bob).ok()["governance"];
    assert_eq!(governance["blocked"], false);
    assert_eq!(governance["reasons"][0]["status"], "proposed");
    assert_eq!(governance["reasons"][0]["reason"], REASON);
    database.operate(&council("enforce", &scene.bob.key));
    scene.check_blocked(&scene.bob, "council_action");
    database.operate(&council("lift", &scene.bob.key));
    scene.check_free(&scene.bob);
    database.operate_refused(1, &council("lift", &scene.bob.key));
    let (key, long) = (&*scene.bob.key, "x".repeat(1001));
    for reason in [" ", &long, "\u{200b}", "a\u{202e}b", "a\u{1b}[2J"] {
        database.operate_refused(2, &["governance", "propose", key, "--reason", reason]);
    }
}

fn two_block_reasons_are_lifted_separately(database: &Database) {
    let scene = Scene::new(database);
    let (key, account) = (&scene.bob.key, &scene.bob.account);
    database.operate(&council("enforce", key));
    database.operate(&council("enforce", account));
    let reasons = scene.client().status(&scene.bob).ok()["governance"]["reasons"].clone();
    assert_eq!(reasons.as_array().map(Vec::len), Some(2), "{reasons}");
    database.operate(&council("lift", key));
    scene.check_blocked(&scene.bob, "council_action");
    database.operate(&council("lift", account));
    scene.check_free(&scene.bob);
}

struct Scene {
    /// One or two nodes on the same database.
    nodes: Vec<Server>,
    receiver: Receiver,
    alice: Identity,
    bob: Identity,
    /// Another key of Bob's account.
    sibling: Identity,
}

impl Scene {
    fn new(database: &Database) -> Self {
        let nodes = database.serve_on_every_node();
        let client = nodes[0].client();
        let (alice, bob) = (client.new_identity(), client.new_identity_with_handle("bob"));
        let sibling = client.sibling(&bob);
        for identity in [&alice, &bob, &sibling] {
            database.set_enterprise(&identity.key, [1000, 1000, 1000, 1000]);
        }
        // Every node has the keys in its cache.
        for node in &nodes {
            node.send(&alice, "bob", "x").ok();
            node.send(&bob, &alice.key, "x").ok();
        }
        Self { nodes, receiver: Receiver::start(), alice, bob, sibling }
    }

    fn client(&self) -> &Client {
        self.nodes[0].client()
    }

    /// Checks that the key can neither send, open nor register, that no key can send to it, and that all
    /// other requests work.
    #[track_caller]
    fn check_blocked(&self, identity: &Identity, kind: &str) {
        for node in &self.nodes {
            let client = node.client();
            for (path, body) in self.executions(identity) {
                let problem = client.act(identity, path, &body).refused(403, "GOVERNANCE_BLOCKED");
                assert_eq!(problem.get("field"), None, "{path}");
            }
            let problem =
                client.send(&self.alice, &identity.key, "x").refused(403, "GOVERNANCE_BLOCKED");
            assert_eq!(problem["field"], "to");
            let status = client.status(identity).ok();
            assert_eq!(status["status"], "active");
            assert_eq!(status["governance"]["blocked"], true);
            let reason = &status["governance"]["reasons"][0];
            assert_eq!((&reason["kind"], &reason["status"]), (&json!(kind), &json!("enforced")));
            assert_eq!(reason["reason"], REASON);
            assert!(text(reason, "since").ends_with('Z'));
            client.manage(identity, &json!({"action": "list"})).ok();
            let delete = json!({"action": "delete", "webhook_id": "wh_x"});
            client.manage(identity, &delete).refused(404, "WEBHOOK_NOT_FOUND");
            let secret = self.bob.secret();
            let session = client.login(&identity.account, secret).ok();
            client.post("/v1/auth/logout").token(&text(&session, "session_token")).response().ok();
        }
    }

    #[track_caller]
    fn check_free(&self, identity: &Identity) {
        for node in &self.nodes {
            let client = node.client();
            let sent = client.send(&self.alice, &identity.key, "x").ok();
            client.open(identity, &text(&sent, "envelope_id")).ok();
            client.send(identity, &self.alice.key, "x").ok();
            let webhook = client.register(identity, &self.receiver.url);
            client
                .manage(identity, &json!({"action": "delete", "webhook_id": webhook["webhook_id"]}))
                .ok();
            let governance = &client.status(identity).ok()["governance"];
            assert_eq!(*governance, json!({"blocked": false, "reasons": []}));
        }
    }

    fn executions(&self, identity: &Identity) -> [(&'static str, Value); 4] {
        [
            ("/v1/channel/send", json!({"to": self.alice.key, "message": "x"})),
            ("/v1/channel/send", json!({"to": identity.key})),
            ("/v1/channel/open", json!({"envelope_id": "env_x"})),
            (
                "/v1/webhooks/register",
                json!({"url": self.receiver.url, "events": ["envelope.received"]}),
            ),
        ]
    }
}

fn council<'a>(verb: &'a str, subject: &'a str) -> [&'a str; 5] {
    ["governance", verb, subject, "--reason", REASON]
}

const REASON: &str = "under review";
