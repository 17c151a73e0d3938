from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="RotateSecretRequest")


@_attrs_define
class RotateSecretRequest:
    """The current login secret, which is replaced.

    Attributes:
        login_secret (str): The current login secret of the account.
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

        rotate_secret_request = cls(
            login_secret=login_secret,
        )

        return rotate_secret_request
