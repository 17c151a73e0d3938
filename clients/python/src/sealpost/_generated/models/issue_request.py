from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="IssueRequest")


@_attrs_define
class IssueRequest:
    """The options of a new badge.

    Attributes:
        jurisdiction (None | str | Unset): A jurisdiction. If given, the key must also pass the compliance circuit (set
            of checks) of this jurisdiction.
        disclose_did (bool | None | Unset): If true, the badge names the DID of the key instead of the key.
        dry_run (bool | None | Unset): If true, issues no badge and only lists the reasons for a refusal.
        api_key_id (str | Unset): The API key to act as, if the header `X-DID-API-Key` is absent.
    """

    jurisdiction: None | str | Unset = UNSET
    disclose_did: bool | None | Unset = UNSET
    dry_run: bool | None | Unset = UNSET
    api_key_id: str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        jurisdiction: None | str | Unset
        if isinstance(self.jurisdiction, Unset):
            jurisdiction = UNSET
        else:
            jurisdiction = self.jurisdiction

        disclose_did: bool | None | Unset
        if isinstance(self.disclose_did, Unset):
            disclose_did = UNSET
        else:
            disclose_did = self.disclose_did

        dry_run: bool | None | Unset
        if isinstance(self.dry_run, Unset):
            dry_run = UNSET
        else:
            dry_run = self.dry_run

        api_key_id = self.api_key_id

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if jurisdiction is not UNSET:
            field_dict["jurisdiction"] = jurisdiction
        if disclose_did is not UNSET:
            field_dict["disclose_did"] = disclose_did
        if dry_run is not UNSET:
            field_dict["dry_run"] = dry_run
        if api_key_id is not UNSET:
            field_dict["api_key_id"] = api_key_id

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_jurisdiction(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        jurisdiction = _parse_jurisdiction(d.pop("jurisdiction", UNSET))

        def _parse_disclose_did(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        disclose_did = _parse_disclose_did(d.pop("disclose_did", UNSET))

        def _parse_dry_run(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        dry_run = _parse_dry_run(d.pop("dry_run", UNSET))

        api_key_id = d.pop("api_key_id", UNSET)

        issue_request = cls(
            jurisdiction=jurisdiction,
            disclose_did=disclose_did,
            dry_run=dry_run,
            api_key_id=api_key_id,
        )

        return issue_request
