from __future__ import annotations

from collections.abc import Mapping
from typing import (
    Any,
    Literal,
    TypeVar,
    cast,
)

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Redelivered")


@_attrs_define
class Redelivered:
    """A delivery that is due now.

    Attributes:
        webhook_id (str): Id of a webhook, a URL for the events of an API key.
        envelope_id (str): Id of the event: the id of the envelope, or `evt_…` for other events.
        outcome (Literal['pending']): Always `pending`.
    """

    webhook_id: str
    envelope_id: str
    outcome: Literal["pending"]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        webhook_id = self.webhook_id

        envelope_id = self.envelope_id

        outcome = self.outcome

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "webhook_id": webhook_id,
                "envelope_id": envelope_id,
                "outcome": outcome,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        webhook_id = d.pop("webhook_id")

        envelope_id = d.pop("envelope_id")

        outcome = cast(Literal["pending"], d.pop("outcome"))
        if outcome != "pending":
            raise ValueError(f"outcome must match const 'pending', got '{outcome}'")

        redelivered = cls(
            webhook_id=webhook_id,
            envelope_id=envelope_id,
            outcome=outcome,
        )

        redelivered.additional_properties = d
        return redelivered

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
