from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="LoginRequest")


@_attrs_define
class LoginRequest:
    """An account and its login secret.

    Attributes:
        account_id (str): The id of the account, from the response to its activation.
        login_secret (str): The login secret of the account.
    """

    account_id: str
    login_secret: str

    def to_dict(self) -> dict[str, Any]:
        account_id = self.account_id

        login_secret = self.login_secret

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "account_id": account_id,
                "login_secret": login_secret,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        account_id = d.pop("account_id")

        login_secret = d.pop("login_secret")

        login_request = cls(
            account_id=account_id,
            login_secret=login_secret,
        )

        return login_request
