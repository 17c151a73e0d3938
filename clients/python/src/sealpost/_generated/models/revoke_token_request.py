from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="RevokeTokenRequest")


@_attrs_define
class RevokeTokenRequest:
    """The API token to revoke.

    Attributes:
        token_id (str): The id of the token.
    """

    token_id: str

    def to_dict(self) -> dict[str, Any]:
        token_id = self.token_id

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "token_id": token_id,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        token_id = d.pop("token_id")

        revoke_token_request = cls(
            token_id=token_id,
        )

        return revoke_token_request
