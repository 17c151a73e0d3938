from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.event_kind import EventKind
from ..models.webhook_status import WebhookStatus

T = TypeVar("T", bound="Registered")


@_attrs_define
class Registered:
    """A new webhook.

    Attributes:
        webhook_id (str): Id of a webhook, a URL for the events of an API key.
        api_key_id (str): Id of an API key. The id is the public name of one identity.
        url (str): The URL that receives the events.
        events (list[EventKind]): The events to deliver.
        description (None | str): The owner's note about the webhook; `null` if there is none.
        secret (str): The signing secret, shown only in this response.
        status (WebhookStatus): Whether a webhook gets events. `disabled`: The webhook gets no events. Its deliveries
            wait until it is enabled. `enabled`: Events are delivered to the webhook.
        created_at (datetime.datetime): ISO 8601 in UTC, with milliseconds and `Z`.
        warning (None | str): A problem that the owner should know, such as a host name that does not resolve yet;
            `null` if there is none.
        waiting (int): Number of envelopes that wait for a webhook of the key, at most 10,000.
        waiting_more (bool): Whether more envelopes wait than `waiting` counts.
    """

    webhook_id: str
    api_key_id: str
    url: str
    events: list[EventKind]
    description: None | str
    secret: str
    status: WebhookStatus
    created_at: datetime.datetime
    warning: None | str
    waiting: int
    waiting_more: bool
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        webhook_id = self.webhook_id

        api_key_id = self.api_key_id

        url = self.url

        events = []
        for events_item_data in self.events:
            events_item = events_item_data.value
            events.append(events_item)

        description: None | str
        description = self.description

        secret = self.secret

        status = self.status.value

        created_at = self.created_at.isoformat()

        warning: None | str
        warning = self.warning

        waiting = self.waiting

        waiting_more = self.waiting_more

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "webhook_id": webhook_id,
                "api_key_id": api_key_id,
                "url": url,
                "events": events,
                "description": description,
                "secret": secret,
                "status": status,
                "created_at": created_at,
                "warning": warning,
                "waiting": waiting,
                "waiting_more": waiting_more,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
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

        secret = d.pop("secret")

        status = WebhookStatus(d.pop("status"))

        created_at = datetime.datetime.fromisoformat(d.pop("created_at").replace("Z", "+00:00"))

        def _parse_warning(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        warning = _parse_warning(d.pop("warning"))

        waiting = d.pop("waiting")

        waiting_more = d.pop("waiting_more")

        registered = cls(
            webhook_id=webhook_id,
            api_key_id=api_key_id,
            url=url,
            events=events,
            description=description,
            secret=secret,
            status=status,
            created_at=created_at,
            warning=warning,
            waiting=waiting,
            waiting_more=waiting_more,
        )

        registered.additional_properties = d
        return registered

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
