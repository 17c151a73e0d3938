from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

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
        api_key_id (str | Unset): The API key to act as, if the header `X-DID-API-Key` is absent.
    """

    to: str
    message: str
    thread: None | str | Unset = UNSET
    reply_to: None | str | Unset = UNSET
    type_: None | str | Unset = UNSET
    api_key_id: str | Unset = UNSET

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

        api_key_id = self.api_key_id

        field_dict: dict[str, Any] = {}

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
        if api_key_id is not UNSET:
            field_dict["api_key_id"] = api_key_id

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

        api_key_id = d.pop("api_key_id", UNSET)

        send_request = cls(
            to=to,
            message=message,
            thread=thread,
            reply_to=reply_to,
            type_=type_,
            api_key_id=api_key_id,
        )

        return send_request
