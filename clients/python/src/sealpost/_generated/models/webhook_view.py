from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.disabled_reason import DisabledReason
from ..models.event_kind import EventKind
from ..models.webhook_status import WebhookStatus

if TYPE_CHECKING:
    from ..models.last_failure import LastFailure


T = TypeVar("T", bound="WebhookView")


@_attrs_define
class WebhookView:
    """A webhook without its secrets.

    Attributes:
        webhook_id (str): Id of a webhook, a URL for the events of an API key.
        api_key_id (str): Id of an API key. The id is the public name of one identity.
        url (str):
        events (list[EventKind]):
        description (None | str):
        status (WebhookStatus): Whether a webhook gets events. `disabled`: The webhook gets no events. Its deliveries
            wait until it is enabled. `enabled`: Events are delivered to the webhook.
        paused (bool): Whether the owner paused the webhook. A paused webhook gets no events, whatever its status is.
        disabled_reason (DisabledReason | None):
        failing_since (datetime.datetime | None):
        created_at (datetime.datetime): ISO 8601 in UTC, with milliseconds and `Z`.
        last_success_at (datetime.datetime | None):
        last_failure (LastFailure | None):
    """

    webhook_id: str
    api_key_id: str
    url: str
    events: list[EventKind]
    description: None | str
    status: WebhookStatus
    paused: bool
    disabled_reason: DisabledReason | None
    failing_since: datetime.datetime | None
    created_at: datetime.datetime
    last_success_at: datetime.datetime | None
    last_failure: LastFailure | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.last_failure import LastFailure  # noqa: PLC0415

        webhook_id = self.webhook_id

        api_key_id = self.api_key_id

        url = self.url

        events = []
        for events_item_data in self.events:
            events_item = events_item_data.value
            events.append(events_item)

        description: None | str
        description = self.description

        status = self.status.value

        paused = self.paused

        disabled_reason: None | str
        if isinstance(self.disabled_reason, DisabledReason):
            disabled_reason = self.disabled_reason.value
        else:
            disabled_reason = self.disabled_reason

        failing_since: None | str
        if isinstance(self.failing_since, datetime.datetime):
            failing_since = self.failing_since.isoformat()
        else:
            failing_since = self.failing_since

        created_at = self.created_at.isoformat()

        last_success_at: None | str
        if isinstance(self.last_success_at, datetime.datetime):
            last_success_at = self.last_success_at.isoformat()
        else:
            last_success_at = self.last_success_at

        last_failure: dict[str, Any] | None
        if isinstance(self.last_failure, LastFailure):
            last_failure = self.last_failure.to_dict()
        else:
            last_failure = self.last_failure

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "webhook_id": webhook_id,
                "api_key_id": api_key_id,
                "url": url,
                "events": events,
                "description": description,
                "status": status,
                "paused": paused,
                "disabled_reason": disabled_reason,
                "failing_since": failing_since,
                "created_at": created_at,
                "last_success_at": last_success_at,
                "last_failure": last_failure,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.last_failure import LastFailure  # noqa: PLC0415

        d = dict(src_dict)
        webhook_id = d.pop("webhook_id")

        api_key_id = d.pop("api_key_id")

        url = d.pop("url")

        events = []
        _events = d.pop("events")
        for events_item_data in _events:
            events_item = EventKind(events_item_data)

            events.append(events_item)

        def _parse_description(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        description = _parse_description(d.pop("description"))

        status = WebhookStatus(d.pop("status"))

        paused = d.pop("paused")

        def _parse_disabled_reason(data: object) -> DisabledReason | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                disabled_reason_type_0 = DisabledReason(data)

                return disabled_reason_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(DisabledReason | None, data)

        disabled_reason = _parse_disabled_reason(d.pop("disabled_reason"))

        def _parse_failing_since(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                failing_since_type_0 = datetime.datetime.fromisoformat(data.replace("Z", "+00:00"))

                return failing_since_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        failing_since = _parse_failing_since(d.pop("failing_since"))

        created_at = datetime.datetime.fromisoformat(d.pop("created_at").replace("Z", "+00:00"))

        def _parse_last_success_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                last_success_at_type_0 = datetime.datetime.fromisoformat(data.replace("Z", "+00:00"))

                return last_success_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        last_success_at = _parse_last_success_at(d.pop("last_success_at"))

        def _parse_last_failure(data: object) -> LastFailure | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                last_failure_type_0 = LastFailure.from_dict(data)

                return last_failure_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(LastFailure | None, data)

        last_failure = _parse_last_failure(d.pop("last_failure"))

        webhook_view = cls(
            webhook_id=webhook_id,
            api_key_id=api_key_id,
            url=url,
            events=events,
            description=description,
            status=status,
            paused=paused,
            disabled_reason=disabled_reason,
            failing_since=failing_since,
            created_at=created_at,
            last_success_at=last_success_at,
            last_failure=last_failure,
        )

        webhook_view.additional_properties = d
        return webhook_view

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
