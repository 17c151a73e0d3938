from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="RecoverAccountRequest")


@_attrs_define
class RecoverAccountRequest:
    """The account and its recovery code.

    Attributes:
        account_id (str): The id of the account, from the response to its activation.
        recovery_code (str): The newest recovery code of the account.
    """

    account_id: str
    recovery_code: str

    def to_dict(self) -> dict[str, Any]:
        account_id = self.account_id

        recovery_code = self.recovery_code

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "account_id": account_id,
                "recovery_code": recovery_code,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        account_id = d.pop("account_id")

        recovery_code = d.pop("recovery_code")

        recover_account_request = cls(
            account_id=account_id,
            recovery_code=recovery_code,
        )

        return recover_account_request
