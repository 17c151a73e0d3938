from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="WindowReport")


@_attrs_define
class WindowReport:
    """Used and remaining units of one limit in its current time window.

    Attributes:
        limit (int): Maximum number of requests or messages in the window.
        used (int): Number of requests or messages admitted so far. Can exceed the limit after a change of plan, or with
            overage.
        remaining (int): Number of requests or messages that will still be admitted within the limit.
        resets_at (datetime.datetime): ISO 8601 in UTC, with milliseconds and `Z`.
    """

    limit: int
    used: int
    remaining: int
    resets_at: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        limit = self.limit

        used = self.used

        remaining = self.remaining

        resets_at = self.resets_at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "limit": limit,
                "used": used,
                "remaining": remaining,
                "resets_at": resets_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        limit = d.pop("limit")

        used = d.pop("used")

        remaining = d.pop("remaining")

        resets_at = datetime.datetime.fromisoformat(d.pop("resets_at").replace("Z", "+00:00"))

        window_report = cls(
            limit=limit,
            used=used,
            remaining=remaining,
            resets_at=resets_at,
        )

        window_report.additional_properties = d
        return window_report

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
