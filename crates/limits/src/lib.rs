//! Plans, windows, throughput: the decision whether a request is admitted. Pure.
