from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="SendRequest")


@_attrs_define
class SendRequest:
    """A message and its recipient.

    Attributes:
        to (str): The recipient: an API key, or a handle (the readable name of a key).
        message (str): The text of the message.
        thread (None | str | Unset): The thread of the message, a name of your choice. It is signed, but not encrypted.
            A reply without a thread gets the thread of the envelope that it replies to.
        reply_to (None | str | Unset): The envelope that the message replies to. You must have sent or received it, and
            it must still be stored. It is signed, but not encrypted.
        type_ (None | str | Unset): The type of the message, such as `text/plain` or `order.created`. It is signed, but
            not encrypted.
    """

    to: str
    message: str
    thread: None | str | Unset = UNSET
    reply_to: None | str | Unset = UNSET
    type_: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        to = self.to

        message = self.message

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
                "to": to,
                "message": message,
            }
        )
        if thread is not UNSET:
            field_dict["thread"] = thread
        if reply_to is not UNSET:
            field_dict["reply_to"] = reply_to
        if type_ is not UNSET:
            field_dict["type"] = type_

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        to = d.pop("to")

        message = d.pop("message")

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

        send_request = cls(
            to=to,
            message=message,
            thread=thread,
            reply_to=reply_to,
            type_=type_,
        )

        send_request.additional_properties = d
        return send_request

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
