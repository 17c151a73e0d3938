"""The asynchronous client. `sealpost._sync` is generated from this package."""
