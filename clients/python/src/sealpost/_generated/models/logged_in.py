from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import (
    Any,
    Literal,
    TypeVar,
    cast,
)

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="LoggedIn")


@_attrs_define
class LoggedIn:
    """A new session.

    Attributes:
        session_token (str): The value for `Authorization: Bearer`, shown only in this response.
        token_type (Literal['Bearer']): Always `Bearer`.
        expires_at (datetime.datetime): ISO 8601 in UTC, with milliseconds and `Z`.
        account_id (str): Id of an account. An account owns API keys.
    """

    session_token: str
    token_type: Literal["Bearer"]
    expires_at: datetime.datetime
    account_id: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        session_token = self.session_token

        token_type = self.token_type

        expires_at = self.expires_at.isoformat()

        account_id = self.account_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "session_token": session_token,
                "token_type": token_type,
                "expires_at": expires_at,
                "account_id": account_id,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        session_token = d.pop("session_token")

        token_type = cast(Literal["Bearer"], d.pop("token_type"))
        if token_type != "Bearer":
            raise ValueError(f"token_type must match const 'Bearer', got '{token_type}'")

        expires_at = datetime.datetime.fromisoformat(d.pop("expires_at").replace("Z", "+00:00"))

        account_id = d.pop("account_id")

        logged_in = cls(
            session_token=session_token,
            token_type=token_type,
            expires_at=expires_at,
            account_id=account_id,
        )

        logged_in.additional_properties = d
        return logged_in

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
