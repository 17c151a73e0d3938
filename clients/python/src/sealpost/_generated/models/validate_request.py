from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="ValidateRequest")


@_attrs_define
class ValidateRequest:
    """The jurisdiction whose checks are evaluated.

    Attributes:
        jurisdiction (str): The name of the jurisdiction.
        dry_run (bool | None | Unset): If true, responds with 200 even if a required check has not passed.
        api_key_id (str | Unset): The API key to act as, if the header `X-DID-API-Key` is absent.
    """

    jurisdiction: str
    dry_run: bool | None | Unset = UNSET
    api_key_id: str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        jurisdiction = self.jurisdiction

        dry_run: bool | None | Unset
        if isinstance(self.dry_run, Unset):
            dry_run = UNSET
        else:
            dry_run = self.dry_run

        api_key_id = self.api_key_id

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "jurisdiction": jurisdiction,
            }
        )
        if dry_run is not UNSET:
            field_dict["dry_run"] = dry_run
        if api_key_id is not UNSET:
            field_dict["api_key_id"] = api_key_id

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        jurisdiction = d.pop("jurisdiction")

        def _parse_dry_run(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        dry_run = _parse_dry_run(d.pop("dry_run", UNSET))

        api_key_id = d.pop("api_key_id", UNSET)

        validate_request = cls(
            jurisdiction=jurisdiction,
            dry_run=dry_run,
            api_key_id=api_key_id,
        )

        return validate_request
