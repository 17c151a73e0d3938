use sealpost_domain::Code;

use super::*;

#[test]
fn each_example_has_its_code() {
    for code in Code::ALL {
        let problem = (documentation(code).example)();
        let document = serde_json::to_value(problem.document("http://x", EXAMPLE_REQUEST)).unwrap();
        assert_eq!(document["code"], code.as_str());
    }
}

#[test]
fn each_code_has_causes_and_remedies() {
    for code in Code::ALL {
        let ErrorDocumentation { summary, causes, remedies, .. } = documentation(code);
        let texts =
            [summary].into_iter().chain(causes.iter().copied()).chain(remedies.iter().copied());
        assert!(!causes.is_empty() && !remedies.is_empty(), "{code}");
        for text in texts {
            assert!(text.ends_with('.') && text.matches('`').count() % 2 == 0, "{code}: {text}");
        }
    }
}
