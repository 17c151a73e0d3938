from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.event_kind import EventKind
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.encryption import Encryption
    from ..models.metadata import Metadata


T = TypeVar("T", bound="EnvelopeReceived")


@_attrs_define
class EnvelopeReceived:
    """The JSON body of the event `envelope.received`. The order of the fields is part of the API contract.

    Attributes:
        event (EventKind): A kind of event. A webhook subscribes to one or more kinds. `envelope.bounced`: An envelope
            that the webhook's key sent could not be delivered to its recipient. Needs `--events v1.1`. `envelope.received`:
            An envelope for the webhook's key was stored and can be opened. `identity.rotated`: A correspondent changed: a
            key that has sent envelopes to this key, or received envelopes from it. Either its sealing key was replaced, its
            handle moved to another key, or the correspondent was revoked. Needs `--events v1.1`. `usage.threshold`: The
            webhook's key has used 80 % or 100 % of a limit. Needs `--events v1.1`. `webhook.disabled`: Another webhook of
            the account was disabled. Needs `--events v1.1`. `webhook.failing`: All attempts at another webhook of the
            account have failed for an hour. Needs `--events v1.1`.
        envelope_id (str): Id of an envelope, a message sealed for one recipient.
        envelope_hash (str): SHA-256 over the sealed bytes of an envelope. As text: `sha256:` and 64 hexadecimal digits.
        sender (str): Id of an API key. The id is the public name of one identity.
        encryption (Encryption): The encryption of an envelope.
        metadata (Metadata): Size of an envelope, and time of its sealing.
        sender_handle (None | str | Unset): The handle of the sender; null if the sender has no handle. Only events of
            version v1.1 (server setting `--events`) contain this field.
        thread (None | str | Unset): The thread of the message; null if the sender gave none.
        reply_to (None | str | Unset): The envelope that the message replies to; null if the message is no reply.
        type_ (None | str | Unset): The type of the message, such as `text/plain`; null if the sender gave none.
    """

    event: EventKind
    envelope_id: str
    envelope_hash: str
    sender: str
    encryption: Encryption
    metadata: Metadata
    sender_handle: None | str | Unset = UNSET
    thread: None | str | Unset = UNSET
    reply_to: None | str | Unset = UNSET
    type_: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        event = self.event.value

        envelope_id = self.envelope_id

        envelope_hash = self.envelope_hash

        sender = self.sender

        encryption = self.encryption.to_dict()

        metadata = self.metadata.to_dict()

        sender_handle: None | str | Unset
        if isinstance(self.sender_handle, Unset):
            sender_handle = UNSET
        else:
            sender_handle = self.sender_handle

        thread: None | str | Unset
        if isinstance(self.thread, Unset):
            thread = UNSET
        else:
            thread = self.thread

        reply_to: None | str | Unset
        if isinstance(self.reply_to, Unset):
            reply_to = UNSET
        else:
            reply_to = self.reply_to

        type_: None | str | Unset
        if isinstance(self.type_, Unset):
            type_ = UNSET
        else:
            type_ = self.type_

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "event": event,
                "envelope_id": envelope_id,
                "envelope_hash": envelope_hash,
                "sender": sender,
                "encryption": encryption,
                "metadata": metadata,
            }
        )
        if sender_handle is not UNSET:
            field_dict["sender_handle"] = sender_handle
        if thread is not UNSET:
            field_dict["thread"] = thread
        if reply_to is not UNSET:
            field_dict["reply_to"] = reply_to
        if type_ is not UNSET:
            field_dict["type"] = type_

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.encryption import Encryption  # noqa: PLC0415
        from ..models.metadata import Metadata  # noqa: PLC0415

        d = dict(src_dict)
        event = EventKind(d.pop("event"))

        envelope_id = d.pop("envelope_id")

        envelope_hash = d.pop("envelope_hash")

        sender = d.pop("sender")

        encryption = Encryption.from_dict(d.pop("encryption"))

        metadata = Metadata.from_dict(d.pop("metadata"))

        def _parse_sender_handle(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        sender_handle = _parse_sender_handle(d.pop("sender_handle", UNSET))

        def _parse_thread(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        thread = _parse_thread(d.pop("thread", UNSET))

        def _parse_reply_to(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        reply_to = _parse_reply_to(d.pop("reply_to", UNSET))

        def _parse_type_(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        type_ = _parse_type_(d.pop("type", UNSET))

        envelope_received = cls(
            event=event,
            envelope_id=envelope_id,
            envelope_hash=envelope_hash,
            sender=sender,
            encryption=encryption,
            metadata=metadata,
            sender_handle=sender_handle,
            thread=thread,
            reply_to=reply_to,
            type_=type_,
        )

        envelope_received.additional_properties = d
        return envelope_received

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
