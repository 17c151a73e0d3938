me=$(curl -s --json '{"label": "Alice"}' https://sealpost.example/v1/did/activate)
token=$(jq '{account_id, login_secret}' <<<"$me" |
    curl -s --json @- https://sealpost.example/v1/auth/login | jq -r .session_token)
call() {
    curl -s --json @- https://sealpost.example/v1/channel/$1 -H "Authorization: Bearer $token" \
        -H "X-DID-API-Key: $(jq -r .api_key_id <<<"$me")"
}
sent=$(jq '{to: .api_key_id, message: "Hello, Alice."}' <<<"$me" | call send)
jq '{envelope_id}' <<<"$sent" | call open | jq -r .message
