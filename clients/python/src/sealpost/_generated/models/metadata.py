from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Metadata")


@_attrs_define
class Metadata:
    """Size of an envelope, and time of its sealing.

    Attributes:
        payload_size_bytes (int): Length of the sealed bytes.
        timestamp (datetime.datetime): ISO 8601 in UTC, with milliseconds and `Z`.
    """

    payload_size_bytes: int
    timestamp: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        payload_size_bytes = self.payload_size_bytes

        timestamp = self.timestamp.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "payload_size_bytes": payload_size_bytes,
                "timestamp": timestamp,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        payload_size_bytes = d.pop("payload_size_bytes")

        timestamp = datetime.datetime.fromisoformat(d.pop("timestamp").replace("Z", "+00:00"))

        metadata = cls(
            payload_size_bytes=payload_size_bytes,
            timestamp=timestamp,
        )

        metadata.additional_properties = d
        return metadata

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
