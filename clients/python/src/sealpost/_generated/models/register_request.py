from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

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
        description (None | str | Unset): A note of at most 200 characters.
        waiting (RegisterRequestWaiting | Unset): Applies to envelopes that arrived before the key had a webhook for
            `envelope.received`. If absent, the first such webhook receives these envelopes. With `skip`, no webhook
            receives these envelopes.
        api_key_id (str | Unset): The API key to act as, if the header `X-DID-API-Key` is absent.
    """

    url: str
    events: list[EventKind]
    description: None | str | Unset = UNSET
    waiting: RegisterRequestWaiting | Unset = UNSET
    api_key_id: str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        url = self.url

        events = []
        for events_item_data in self.events:
            events_item = events_item_data.value
            events.append(events_item)

        description: None | str | Unset
        if isinstance(self.description, Unset):
            description = UNSET
        else:
            description = self.description

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
        if description is not UNSET:
            field_dict["description"] = description
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

        def _parse_description(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        description = _parse_description(d.pop("description", UNSET))

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
            description=description,
            waiting=waiting,
            api_key_id=api_key_id,
        )

        return register_request
