from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="RecoverDeliveries")


@_attrs_define
class RecoverDeliveries:
    """The webhook and the time range of the failed events.

    Attributes:
        webhook_id (str): The id of the webhook.
        since (datetime.datetime): ISO 8601 in UTC, with milliseconds and `Z`.
        until (datetime.datetime | None | Unset): The end of the time range, inclusive. If absent, the current time.
        dry_run (bool | None | Unset): If true, only counts the events and sends nothing.
        api_key_id (str | Unset): The API key to act as, if the header `X-DID-API-Key` is absent.
    """

    webhook_id: str
    since: datetime.datetime
    until: datetime.datetime | None | Unset = UNSET
    dry_run: bool | None | Unset = UNSET
    api_key_id: str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        webhook_id = self.webhook_id

        since = self.since.isoformat()

        until: None | str | Unset
        if isinstance(self.until, Unset):
            until = UNSET
        elif isinstance(self.until, datetime.datetime):
            until = self.until.isoformat()
        else:
            until = self.until

        dry_run: bool | None | Unset
        if isinstance(self.dry_run, Unset):
            dry_run = UNSET
        else:
            dry_run = self.dry_run

        api_key_id = self.api_key_id

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "webhook_id": webhook_id,
                "since": since,
            }
        )
        if until is not UNSET:
            field_dict["until"] = until
        if dry_run is not UNSET:
            field_dict["dry_run"] = dry_run
        if api_key_id is not UNSET:
            field_dict["api_key_id"] = api_key_id

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        webhook_id = d.pop("webhook_id")

        since = datetime.datetime.fromisoformat(d.pop("since").replace("Z", "+00:00"))

        def _parse_until(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                until_type_0 = datetime.datetime.fromisoformat(data.replace("Z", "+00:00"))

                return until_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        until = _parse_until(d.pop("until", UNSET))

        def _parse_dry_run(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        dry_run = _parse_dry_run(d.pop("dry_run", UNSET))

        api_key_id = d.pop("api_key_id", UNSET)

        recover_deliveries = cls(
            webhook_id=webhook_id,
            since=since,
            until=until,
            dry_run=dry_run,
            api_key_id=api_key_id,
        )

        return recover_deliveries
