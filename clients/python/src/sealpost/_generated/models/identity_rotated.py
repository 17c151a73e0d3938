from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.event_kind import EventKind
from ..models.rotation_reason import RotationReason

if TYPE_CHECKING:
    from ..models.event_metadata import EventMetadata


T = TypeVar("T", bound="IdentityRotated")


@_attrs_define
class IdentityRotated:
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
        handle (None | str): The handle of the key before the change; null if the key had no handle.
        replaced_by (None | str): The API key to which the handle was moved; null if the handle was not moved.
        reason (RotationReason): The kind of change of an API key. `replaced`: The handle of the key was moved to
            another key. `revoked`: The key was revoked. `sealing_key`: The sealing key (the key pair to which messages are
            encrypted) was replaced. The DID is unchanged.
        metadata (EventMetadata): The `metadata` object of an event.
    """

    event: EventKind
    event_id: str
    api_key_id: str
    handle: None | str
    replaced_by: None | str
    reason: RotationReason
    metadata: EventMetadata
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        event = self.event.value

        event_id = self.event_id

        api_key_id = self.api_key_id

        handle: None | str
        handle = self.handle

        replaced_by: None | str
        replaced_by = self.replaced_by

        reason = self.reason.value

        metadata = self.metadata.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "event": event,
                "event_id": event_id,
                "api_key_id": api_key_id,
                "handle": handle,
                "replaced_by": replaced_by,
                "reason": reason,
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

        def _parse_handle(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        handle = _parse_handle(d.pop("handle"))

        def _parse_replaced_by(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        replaced_by = _parse_replaced_by(d.pop("replaced_by"))

        reason = RotationReason(d.pop("reason"))

        metadata = EventMetadata.from_dict(d.pop("metadata"))

        identity_rotated = cls(
            event=event,
            event_id=event_id,
            api_key_id=api_key_id,
            handle=handle,
            replaced_by=replaced_by,
            reason=reason,
            metadata=metadata,
        )

        identity_rotated.additional_properties = d
        return identity_rotated

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
