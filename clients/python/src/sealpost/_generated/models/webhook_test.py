from __future__ import annotations

from collections.abc import Mapping
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    TypeVar,
    cast,
)

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.event_metadata import EventMetadata


T = TypeVar("T", bound="WebhookTest")


@_attrs_define
class WebhookTest:
    """The JSON body of a `webhook.test` event.

    Attributes:
        event (Literal['webhook.test']): Always `webhook.test`.
        event_id (str): Id of any event other than `envelope.received`. The event `envelope.received` uses the id of the
            envelope.
        metadata (EventMetadata): The `metadata` object of an event.
    """

    event: Literal["webhook.test"]
    event_id: str
    metadata: EventMetadata
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        event = self.event

        event_id = self.event_id

        metadata = self.metadata.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "event": event,
                "event_id": event_id,
                "metadata": metadata,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.event_metadata import EventMetadata  # noqa: PLC0415

        d = dict(src_dict)
        event = cast(Literal["webhook.test"], d.pop("event"))
        if event != "webhook.test":
            raise ValueError(f"event must match const 'webhook.test', got '{event}'")

        event_id = d.pop("event_id")

        metadata = EventMetadata.from_dict(d.pop("metadata"))

        webhook_test = cls(
            event=event,
            event_id=event_id,
            metadata=metadata,
        )

        webhook_test.additional_properties = d
        return webhook_test

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
