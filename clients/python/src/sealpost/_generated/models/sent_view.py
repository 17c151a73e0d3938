from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.receipt_state import ReceiptState

T = TypeVar("T", bound="SentView")


@_attrs_define
class SentView:
    """A sent envelope and its state.

    Attributes:
        envelope_id (str): Id of an envelope, a message sealed for one recipient.
        recipient (str): Id of an API key. The id is the public name of one identity.
        sent_at (datetime.datetime): ISO 8601 in UTC, with milliseconds and `Z`.
        state (ReceiptState): The state of an envelope, as its sender sees it. `bounced`: The envelope could not be
            delivered. No further delivery attempt is scheduled. `notified`: A webhook of the recipient responded with
            success. `opened`: The recipient opened the envelope. `sent`: The envelope is stored. No other state applies, or
            the recipient hides the other state. `waiting`: The envelope waits, because its recipient has no webhook for
            received envelopes.
        thread (None | str): The thread of the message; null if the sender gave none.
        reply_to (None | str): The envelope that the message replies to; null if the message is no reply.
        type_ (None | str): The type of the message, such as `text/plain`; null if the sender gave none.
    """

    envelope_id: str
    recipient: str
    sent_at: datetime.datetime
    state: ReceiptState
    thread: None | str
    reply_to: None | str
    type_: None | str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        envelope_id = self.envelope_id

        recipient = self.recipient

        sent_at = self.sent_at.isoformat()

        state = self.state.value

        thread: None | str
        thread = self.thread

        reply_to: None | str
        reply_to = self.reply_to

        type_: None | str
        type_ = self.type_

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "envelope_id": envelope_id,
                "recipient": recipient,
                "sent_at": sent_at,
                "state": state,
                "thread": thread,
                "reply_to": reply_to,
                "type": type_,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        envelope_id = d.pop("envelope_id")

        recipient = d.pop("recipient")

        sent_at = datetime.datetime.fromisoformat(d.pop("sent_at").replace("Z", "+00:00"))

        state = ReceiptState(d.pop("state"))

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

        sent_view = cls(
            envelope_id=envelope_id,
            recipient=recipient,
            sent_at=sent_at,
            state=state,
            thread=thread,
            reply_to=reply_to,
            type_=type_,
        )

        sent_view.additional_properties = d
        return sent_view

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
