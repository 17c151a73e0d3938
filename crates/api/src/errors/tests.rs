use sealpost_domain::Code;

use super::*;

#[test]
fn each_example_has_the_code_that_it_explains() {
    for code in Code::ALL {
        let problem = (meaning(code).example)();
        let document = serde_json::to_value(problem.document("http://x", EXAMPLE_REQUEST)).unwrap();
        assert_eq!(document["code"], code.as_str());
    }
}

#[test]
fn every_code_says_when_it_comes_and_what_to_do() {
    for code in Code::ALL {
        let Meaning { means, when, remedy, .. } = meaning(code);
        let texts = [means].into_iter().chain(when.iter().copied()).chain(remedy.iter().copied());
        assert!(!when.is_empty() && !remedy.is_empty(), "{code}");
        for text in texts {
            assert!(text.ends_with('.') && text.matches('`').count() % 2 == 0, "{code}: {text}");
        }
    }
}
