from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="CloseRequest")


@_attrs_define
class CloseRequest:
    """The login secret, which confirms that the owner of the account sends the request.

    Attributes:
        login_secret (str): The login secret of the account.
    """

    login_secret: str

    def to_dict(self) -> dict[str, Any]:
        login_secret = self.login_secret

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "login_secret": login_secret,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        login_secret = d.pop("login_secret")

        close_request = cls(
            login_secret=login_secret,
        )

        return close_request
