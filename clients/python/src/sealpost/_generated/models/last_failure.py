from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="LastFailure")


@_attrs_define
class LastFailure:
    """The newest failed attempt to deliver an event to a webhook.

    Attributes:
        at (datetime.datetime): ISO 8601 in UTC, with milliseconds and `Z`.
        error (str): What went wrong, as a class: such as `dns`, `connect`, `timeout` or `http_status`.
        error_detail (None | str): The reason of the failure; `null` if its class says all.
    """

    at: datetime.datetime
    error: str
    error_detail: None | str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        at = self.at.isoformat()

        error = self.error

        error_detail: None | str
        error_detail = self.error_detail

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "at": at,
                "error": error,
                "error_detail": error_detail,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        at = datetime.datetime.fromisoformat(d.pop("at").replace("Z", "+00:00"))

        error = d.pop("error")

        def _parse_error_detail(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        error_detail = _parse_error_detail(d.pop("error_detail"))

        last_failure = cls(
            at=at,
            error=error,
            error_detail=error_detail,
        )

        last_failure.additional_properties = d
        return last_failure

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
