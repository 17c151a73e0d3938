from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.check_status import CheckStatus

T = TypeVar("T", bound="CheckReport")


@_attrs_define
class CheckReport:
    """The result of one compliance check for one API key.

    Attributes:
        name (str): The name of a compliance check, such as `identity_verified`: 1 to 64 characters of `a-z 0-9 _`.
        status (CheckStatus): The status of a compliance check for one API key, from best to worst. `passed`: A valid
            attestation of success exists. `expired`: An attestation of success exists, but is no longer valid. `failed`:
            The newest attestation reports a failure. `missing`: No attestation exists.
        valid_until (datetime.datetime | None): End of the attestation's validity, exclusive. Null if the attestation
            does not expire, or if the status is `failed` or `missing`.
        required (bool): Whether the circuit passes only if this check passes.
        any_of (list[str]): Names of the attestations that satisfy the check. One valid attestation is enough.
    """

    name: str
    status: CheckStatus
    valid_until: datetime.datetime | None
    required: bool
    any_of: list[str]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        status = self.status.value

        valid_until: None | str
        if isinstance(self.valid_until, datetime.datetime):
            valid_until = self.valid_until.isoformat()
        else:
            valid_until = self.valid_until

        required = self.required

        any_of = self.any_of

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
                "status": status,
                "valid_until": valid_until,
                "required": required,
                "any_of": any_of,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        name = d.pop("name")

        status = CheckStatus(d.pop("status"))

        def _parse_valid_until(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                valid_until_type_0 = datetime.datetime.fromisoformat(data.replace("Z", "+00:00"))

                return valid_until_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        valid_until = _parse_valid_until(d.pop("valid_until"))

        required = d.pop("required")

        any_of = cast(list[str], d.pop("any_of"))

        check_report = cls(
            name=name,
            status=status,
            valid_until=valid_until,
            required=required,
            any_of=any_of,
        )

        check_report.additional_properties = d
        return check_report

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
