from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.token_scope import TokenScope
from ..types import UNSET, Unset

T = TypeVar("T", bound="CreateTokenRequest")


@_attrs_define
class CreateTokenRequest:
    """The new API token.

    Attributes:
        login_secret (str): The current login secret of the account.
        api_key_id (str): The only API key that the token can act as.
        name (str): A display name of 1 to 100 characters without control characters. Escape it before display, because
            the owner chose the text.
        scopes (list[TokenScope]): The requests that the token allows.
        expires_in_days (int | None | Unset): Lifetime in days.
    """

    login_secret: str
    api_key_id: str
    name: str
    scopes: list[TokenScope]
    expires_in_days: int | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        login_secret = self.login_secret

        api_key_id = self.api_key_id

        name = self.name

        scopes = []
        for scopes_item_data in self.scopes:
            scopes_item = scopes_item_data.value
            scopes.append(scopes_item)

        expires_in_days: int | None | Unset
        if isinstance(self.expires_in_days, Unset):
            expires_in_days = UNSET
        else:
            expires_in_days = self.expires_in_days

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "login_secret": login_secret,
                "api_key_id": api_key_id,
                "name": name,
                "scopes": scopes,
            }
        )
        if expires_in_days is not UNSET:
            field_dict["expires_in_days"] = expires_in_days

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        login_secret = d.pop("login_secret")

        api_key_id = d.pop("api_key_id")

        name = d.pop("name")

        scopes = []
        _scopes = d.pop("scopes")
        for scopes_item_data in _scopes:
            scopes_item = TokenScope(scopes_item_data)

            scopes.append(scopes_item)

        def _parse_expires_in_days(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        expires_in_days = _parse_expires_in_days(d.pop("expires_in_days", UNSET))

        create_token_request = cls(
            login_secret=login_secret,
            api_key_id=api_key_id,
            name=name,
            scopes=scopes,
            expires_in_days=expires_in_days,
        )

        return create_token_request
