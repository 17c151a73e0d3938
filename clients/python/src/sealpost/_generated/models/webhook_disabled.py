from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.disabling_cause import DisablingCause
from ..models.event_kind import EventKind

if TYPE_CHECKING:
    from ..models.event_metadata import EventMetadata
    from ..models.last_failure import LastFailure


T = TypeVar("T", bound="WebhookDisabled")


@_attrs_define
class WebhookDisabled:
    """The JSON body of an event: the fields that all kinds of events have, and the fields of its own kind.

    Attributes:
        event (EventKind): A kind of event. A webhook subscribes to one or more kinds. `envelope.bounced`: An envelope
            that the webhook's key sent could not be delivered to its recipient. Needs `--events v1.1`. `envelope.received`:
            An envelope for the webhook's key was stored and can be opened. `identity.rotated`: A correspondent changed: a
            key that has sent envelopes to this key, or received envelopes from it. Either its sealing key was replaced, its
            handle moved to another key, or the correspondent was revoked. Needs `--events v1.1`. `usage.threshold`: The
            webhook's key has used 80 % or 100 % of a limit. Needs `--events v1.1`. `webhook.disabled`: Another webhook of
            the account was disabled. Needs `--events v1.1`. `webhook.failing`: All attempts at another webhook of the
            account have failed for an hour. Needs `--events v1.1`.
        event_id (str): Id of any event other than `envelope.received`. The event `envelope.received` uses the id of the
            envelope.
        webhook_id (str): Id of a webhook, a URL for the events of an API key.
        api_key_id (str): Id of an API key. The id is the public name of one identity.
        description (None | str): The owner's note about the webhook; null if there is none.
        reason (DisablingCause): The reason why a webhook was disabled. `failing`: All attempts failed for longer than
            the allowed time. `gone`: The receiver responded with status 410 (Gone). `operator`: An operator disabled the
            webhook.
        since (datetime.datetime): ISO 8601 in UTC, with milliseconds and `Z`.
        last_failure (LastFailure | None): The newest failed attempt; null if no attempt has failed.
        metadata (EventMetadata): The `metadata` object of an event.
    """

    event: EventKind
    event_id: str
    webhook_id: str
    api_key_id: str
    description: None | str
    reason: DisablingCause
    since: datetime.datetime
    last_failure: LastFailure | None
    metadata: EventMetadata
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.last_failure import LastFailure  # noqa: PLC0415

        event = self.event.value

        event_id = self.event_id

        webhook_id = self.webhook_id

        api_key_id = self.api_key_id

        description: None | str
        description = self.description

        reason = self.reason.value

        since = self.since.isoformat()

        last_failure: dict[str, Any] | None
        if isinstance(self.last_failure, LastFailure):
            last_failure = self.last_failure.to_dict()
        else:
            last_failure = self.last_failure

        metadata = self.metadata.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "event": event,
                "event_id": event_id,
                "webhook_id": webhook_id,
                "api_key_id": api_key_id,
                "description": description,
                "reason": reason,
                "since": since,
                "last_failure": last_failure,
                "metadata": metadata,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.event_metadata import EventMetadata  # noqa: PLC0415
        from ..models.last_failure import LastFailure  # noqa: PLC0415

        d = dict(src_dict)
        event = EventKind(d.pop("event"))

        event_id = d.pop("event_id")

        webhook_id = d.pop("webhook_id")

        api_key_id = d.pop("api_key_id")

        def _parse_description(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        description = _parse_description(d.pop("description"))

        reason = DisablingCause(d.pop("reason"))

        since = datetime.datetime.fromisoformat(d.pop("since").replace("Z", "+00:00"))

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

        metadata = EventMetadata.from_dict(d.pop("metadata"))

        webhook_disabled = cls(
            event=event,
            event_id=event_id,
            webhook_id=webhook_id,
            api_key_id=api_key_id,
            description=description,
            reason=reason,
            since=since,
            last_failure=last_failure,
            metadata=metadata,
        )

        webhook_disabled.additional_properties = d
        return webhook_disabled

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
