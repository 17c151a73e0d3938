from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.event_kind import EventKind
from ..models.threshold_window import ThresholdWindow
from ..models.usage_threshold_threshold import UsageThresholdThreshold

if TYPE_CHECKING:
    from ..models.event_metadata import EventMetadata


T = TypeVar("T", bound="UsageThreshold")


@_attrs_define
class UsageThreshold:
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
        api_key_id (str): Id of an API key. The id is the public name of one identity.
        window (ThresholdWindow): A limit of a plan, named by its time window. An event is sent when usage reaches a
            percentage of the limit. `day`: Requests per UTC day. `month`: Messages per UTC month.
        threshold (UsageThresholdThreshold): The percentage of the limit that the usage has reached.
        used (int): Number of requests in the current day, or of messages in the current month.
        limit (int): Maximum number of requests per day, or of messages per month.
        resets_at (datetime.datetime): ISO 8601 in UTC, with milliseconds and `Z`.
        metadata (EventMetadata): The `metadata` object of an event.
    """

    event: EventKind
    event_id: str
    api_key_id: str
    window: ThresholdWindow
    threshold: UsageThresholdThreshold
    used: int
    limit: int
    resets_at: datetime.datetime
    metadata: EventMetadata
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        event = self.event.value

        event_id = self.event_id

        api_key_id = self.api_key_id

        window = self.window.value

        threshold = self.threshold.value

        used = self.used

        limit = self.limit

        resets_at = self.resets_at.isoformat()

        metadata = self.metadata.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "event": event,
                "event_id": event_id,
                "api_key_id": api_key_id,
                "window": window,
                "threshold": threshold,
                "used": used,
                "limit": limit,
                "resets_at": resets_at,
                "metadata": metadata,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.event_metadata import EventMetadata  # noqa: PLC0415

        d = dict(src_dict)
        event = EventKind(d.pop("event"))

        event_id = d.pop("event_id")

        api_key_id = d.pop("api_key_id")

        window = ThresholdWindow(d.pop("window"))

        threshold = UsageThresholdThreshold(d.pop("threshold"))

        used = d.pop("used")

        limit = d.pop("limit")

        resets_at = datetime.datetime.fromisoformat(d.pop("resets_at").replace("Z", "+00:00"))

        metadata = EventMetadata.from_dict(d.pop("metadata"))

        usage_threshold = cls(
            event=event,
            event_id=event_id,
            api_key_id=api_key_id,
            window=window,
            threshold=threshold,
            used=used,
            limit=limit,
            resets_at=resets_at,
            metadata=metadata,
        )

        usage_threshold.additional_properties = d
        return usage_threshold

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
