from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.accept_policy import AcceptPolicy
from ..models.receipt_policy import ReceiptPolicy

T = TypeVar("T", bound="PolicyView")


@_attrs_define
class PolicyView:
    """The policy of a key as a recipient.

    Attributes:
        accept (AcceptPolicy): The senders from which a recipient accepts messages. `allowlist`: Accepts the keys on the
            recipient's allowlist. `anyone`: Accepts every key, except keys on the recipient's blocklist. `contacts`:
            Accepts the contacts of the recipient and the keys on the allowlist. Contacts are the keys to which the
            recipient has sent a message within the retention time of envelopes. `nobody`: Accepts no key.
        receipts (ReceiptPolicy): The part of a receipt (the state of a sent envelope) that the recipient shows to the
            sender. `none`: The sender sees only that the envelope was sent. `notified`: The sender sees whether the
            envelope was delivered, waits or bounced, but not whether it was opened. `opened`: The sender sees the whole
            state, including whether the envelope was opened.
        listed (bool): Whether other keys can see the label (display name) of the key.
        allowed (list[str]): The allowlist: keys that are accepted if `accept` is `allowlist` or `contacts`.
        blocked (list[str]): The blocklist: keys that are always refused.
    """

    accept: AcceptPolicy
    receipts: ReceiptPolicy
    listed: bool
    allowed: list[str]
    blocked: list[str]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        accept = self.accept.value

        receipts = self.receipts.value

        listed = self.listed

        allowed = self.allowed

        blocked = self.blocked

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "accept": accept,
                "receipts": receipts,
                "listed": listed,
                "allowed": allowed,
                "blocked": blocked,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        accept = AcceptPolicy(d.pop("accept"))

        receipts = ReceiptPolicy(d.pop("receipts"))

        listed = d.pop("listed")

        allowed = cast(list[str], d.pop("allowed"))

        blocked = cast(list[str], d.pop("blocked"))

        policy_view = cls(
            accept=accept,
            receipts=receipts,
            listed=listed,
            allowed=allowed,
            blocked=blocked,
        )

        policy_view.additional_properties = d
        return policy_view

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
