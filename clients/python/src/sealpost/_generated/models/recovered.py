from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Recovered")


@_attrs_define
class Recovered:
    """The result of sending failed deliveries again.

    Attributes:
        webhook_id (str): Id of a webhook, a URL for the events of an API key.
        matched (int): Number of deliveries that failed in the time range. Excludes deliveries that are already due or
            in progress.
        recovered (int): Number of deliveries that this request made due.
        more (bool): True if further failed deliveries remain. Send the same request again.
        dry_run (bool): True if the request only counted deliveries, and changed none.
    """

    webhook_id: str
    matched: int
    recovered: int
    more: bool
    dry_run: bool
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        webhook_id = self.webhook_id

        matched = self.matched

        recovered = self.recovered

        more = self.more

        dry_run = self.dry_run

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "webhook_id": webhook_id,
                "matched": matched,
                "recovered": recovered,
                "more": more,
                "dry_run": dry_run,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        webhook_id = d.pop("webhook_id")

        matched = d.pop("matched")

        recovered = d.pop("recovered")

        more = d.pop("more")

        dry_run = d.pop("dry_run")

        recovered = cls(
            webhook_id=webhook_id,
            matched=matched,
            recovered=recovered,
            more=more,
            dry_run=dry_run,
        )

        recovered.additional_properties = d
        return recovered

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
