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

T = TypeVar("T", bound="Encryption")


@_attrs_define
class Encryption:
    """The encryption of an envelope.

    Attributes:
        algorithm (str): Name of the sealing suite: a combination of cryptographic algorithms.
        status (Literal['sealed']): Always `sealed`.
    """

    algorithm: str
    status: Literal["sealed"]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        algorithm = self.algorithm

        status = self.status

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "algorithm": algorithm,
                "status": status,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        algorithm = d.pop("algorithm")

        status = cast(Literal["sealed"], d.pop("status"))
        if status != "sealed":
            raise ValueError(f"status must match const 'sealed', got '{status}'")

        encryption = cls(
            algorithm=algorithm,
            status=status,
        )

        encryption.additional_properties = d
        return encryption

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
