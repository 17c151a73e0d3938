from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..models.event_kind import EventKind
from ..models.register_request_waiting import RegisterRequestWaiting
from ..types import UNSET, Unset

T = TypeVar("T", bound="RegisterRequest")


@_attrs_define
class RegisterRequest:
    """The URL and the events of a new webhook.

    Attributes:
        url (str): The https URL that receives the events. It must lead to a public address.
        events (list[EventKind]): The kinds of events to send.
        waiting (RegisterRequestWaiting | Unset): Applies to envelopes that arrived before the key had a webhook for
            `envelope.received`. If absent, the first such webhook receives these envelopes. With `skip`, no webhook
            receives these envelopes.
        api_key_id (str | Unset): The API key to act as, if the header `X-DID-API-Key` is absent.
    """

    url: str
    events: list[EventKind]
    waiting: RegisterRequestWaiting | Unset = UNSET
    api_key_id: str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        url = self.url

        events = []
        for events_item_data in self.events:
            events_item = events_item_data.value
            events.append(events_item)

        waiting: str | Unset = UNSET
        if not isinstance(self.waiting, Unset):
            waiting = self.waiting.value

        api_key_id = self.api_key_id

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "url": url,
                "events": events,
            }
        )
        if waiting is not UNSET:
            field_dict["waiting"] = waiting
        if api_key_id is not UNSET:
            field_dict["api_key_id"] = api_key_id

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        url = d.pop("url")

        events = []
        _events = d.pop("events")
        for events_item_data in _events:
            events_item = EventKind(events_item_data)

            events.append(events_item)

        _waiting = d.pop("waiting", UNSET)
        waiting: RegisterRequestWaiting | Unset
        if isinstance(_waiting, Unset):
            waiting = UNSET
        else:
            waiting = RegisterRequestWaiting(_waiting)

        api_key_id = d.pop("api_key_id", UNSET)

        register_request = cls(
            url=url,
            events=events,
            waiting=waiting,
            api_key_id=api_key_id,
        )

        return register_request
