from sealpost import Sealpost

url = "https://sealpost.example"
account = Sealpost(url).open_account("Alice")
me = account.identity.api_key_id
alice = Sealpost(url, login=account.login, api_key=me)
sent = alice.send(me, "Hello, Alice.")
print(alice.open(sent.envelope_id).message)
