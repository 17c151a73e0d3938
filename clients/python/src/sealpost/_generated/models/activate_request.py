from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="ActivateRequest")


@_attrs_define
class ActivateRequest:
    """The name and the handle of a new identity.

    Attributes:
        label (str): A display name of 1 to 100 characters without control characters. Escape it before display, because
            the owner chose the text.
        handle (None | str | Unset): A unique name of this key. Senders can address messages to it instead of the API
            key. Upper case becomes lower case.
        invite (None | str | Unset): The secret of an invite. Needed for a new account if sign-up is by invite, ignored
            otherwise.
    """

    label: str
    handle: None | str | Unset = UNSET
    invite: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        label = self.label

        handle: None | str | Unset
        if isinstance(self.handle, Unset):
            handle = UNSET
        else:
            handle = self.handle

        invite: None | str | Unset
        if isinstance(self.invite, Unset):
            invite = UNSET
        else:
            invite = self.invite

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "label": label,
            }
        )
        if handle is not UNSET:
            field_dict["handle"] = handle
        if invite is not UNSET:
            field_dict["invite"] = invite

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        label = d.pop("label")

        def _parse_handle(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        handle = _parse_handle(d.pop("handle", UNSET))

        def _parse_invite(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        invite = _parse_invite(d.pop("invite", UNSET))

        activate_request = cls(
            label=label,
            handle=handle,
            invite=invite,
        )

        return activate_request
