from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.token_scope import TokenScope

T = TypeVar("T", bound="ApiTokenCreated")


@_attrs_define
class ApiTokenCreated:
    """A new API token.

    Attributes:
        token_id (str): Id of an API token.
        token (str): The value for `Authorization: Bearer`, shown only in this response.
        name (str): A display name of 1 to 100 characters without control characters. Escape it before display, because
            the owner chose the text.
        api_key_id (str): Id of an API key. The id is the public name of one identity.
        scopes (list[TokenScope]): The requests that the token allows.
        created_at (datetime.datetime): ISO 8601 in UTC, with milliseconds and `Z`.
        expires_at (datetime.datetime): ISO 8601 in UTC, with milliseconds and `Z`.
    """

    token_id: str
    token: str
    name: str
    api_key_id: str
    scopes: list[TokenScope]
    created_at: datetime.datetime
    expires_at: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        token_id = self.token_id

        token = self.token

        name = self.name

        api_key_id = self.api_key_id

        scopes = []
        for scopes_item_data in self.scopes:
            scopes_item = scopes_item_data.value
            scopes.append(scopes_item)

        created_at = self.created_at.isoformat()

        expires_at = self.expires_at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "token_id": token_id,
                "token": token,
                "name": name,
                "api_key_id": api_key_id,
                "scopes": scopes,
                "created_at": created_at,
                "expires_at": expires_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        token_id = d.pop("token_id")

        token = d.pop("token")

        name = d.pop("name")

        api_key_id = d.pop("api_key_id")

        scopes = []
        _scopes = d.pop("scopes")
        for scopes_item_data in _scopes:
            scopes_item = TokenScope(scopes_item_data)

            scopes.append(scopes_item)

        created_at = datetime.datetime.fromisoformat(d.pop("created_at").replace("Z", "+00:00"))

        expires_at = datetime.datetime.fromisoformat(d.pop("expires_at").replace("Z", "+00:00"))

        api_token_created = cls(
            token_id=token_id,
            token=token,
            name=name,
            api_key_id=api_key_id,
            scopes=scopes,
            created_at=created_at,
            expires_at=expires_at,
        )

        api_token_created.additional_properties = d
        return api_token_created

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
