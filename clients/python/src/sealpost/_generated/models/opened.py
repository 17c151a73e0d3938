from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.encryption import Encryption
    from ..models.metadata import Metadata


T = TypeVar("T", bound="Opened")


@_attrs_define
class Opened:
    """An opened envelope. The message is zeroized on drop.

    Attributes:
        envelope_id (str): Id of an envelope, a message sealed for one recipient.
        envelope_hash (str): SHA-256 over the sealed bytes of an envelope. As text: `sha256:` and 64 hexadecimal digits.
        sender (str): Id of an API key. The id is the public name of one identity.
        sender_handle (None | str): The current handle of the sender's key; null if the key has none.
        message (str): The decrypted message.
        thread (None | str): The thread of the message; null if the sender gave none.
        reply_to (None | str): The envelope that the message replies to; null if the message is no reply.
        type_ (None | str): The type of the message, such as `text/plain`; null if the sender gave none.
        encryption (Encryption): The encryption of an envelope.
        metadata (Metadata): Size of an envelope, and time of its sealing.
        opened_at (datetime.datetime): ISO 8601 in UTC, with milliseconds and `Z`.
    """

    envelope_id: str
    envelope_hash: str
    sender: str
    sender_handle: None | str
    message: str
    thread: None | str
    reply_to: None | str
    type_: None | str
    encryption: Encryption
    metadata: Metadata
    opened_at: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        envelope_id = self.envelope_id

        envelope_hash = self.envelope_hash

        sender = self.sender

        sender_handle: None | str
        sender_handle = self.sender_handle

        message = self.message

        thread: None | str
        thread = self.thread

        reply_to: None | str
        reply_to = self.reply_to

        type_: None | str
        type_ = self.type_

        encryption = self.encryption.to_dict()

        metadata = self.metadata.to_dict()

        opened_at = self.opened_at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "envelope_id": envelope_id,
                "envelope_hash": envelope_hash,
                "sender": sender,
                "sender_handle": sender_handle,
                "message": message,
                "thread": thread,
                "reply_to": reply_to,
                "type": type_,
                "encryption": encryption,
                "metadata": metadata,
                "opened_at": opened_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.encryption import Encryption  # noqa: PLC0415
        from ..models.metadata import Metadata  # noqa: PLC0415

        d = dict(src_dict)
        envelope_id = d.pop("envelope_id")

        envelope_hash = d.pop("envelope_hash")

        sender = d.pop("sender")

        def _parse_sender_handle(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        sender_handle = _parse_sender_handle(d.pop("sender_handle"))

        message = d.pop("message")

        def _parse_thread(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        thread = _parse_thread(d.pop("thread"))

        def _parse_reply_to(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        reply_to = _parse_reply_to(d.pop("reply_to"))

        def _parse_type_(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        type_ = _parse_type_(d.pop("type"))

        encryption = Encryption.from_dict(d.pop("encryption"))

        metadata = Metadata.from_dict(d.pop("metadata"))

        opened_at = datetime.datetime.fromisoformat(d.pop("opened_at").replace("Z", "+00:00"))

        opened = cls(
            envelope_id=envelope_id,
            envelope_hash=envelope_hash,
            sender=sender,
            sender_handle=sender_handle,
            message=message,
            thread=thread,
            reply_to=reply_to,
            type_=type_,
            encryption=encryption,
            metadata=metadata,
            opened_at=opened_at,
        )

        opened.additional_properties = d
        return opened

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
