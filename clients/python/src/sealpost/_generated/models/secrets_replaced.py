from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="SecretsReplaced")


@_attrs_define
class SecretsReplaced:
    """New secrets of an account.

    Attributes:
        account_id (str): Id of an account. An account owns API keys.
        login_secret (str): The new login secret, shown only in this response.
        recovery_code (str): The new recovery code, shown only in this response.
    """

    account_id: str
    login_secret: str
    recovery_code: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        account_id = self.account_id

        login_secret = self.login_secret

        recovery_code = self.recovery_code

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "account_id": account_id,
                "login_secret": login_secret,
                "recovery_code": recovery_code,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        account_id = d.pop("account_id")

        login_secret = d.pop("login_secret")

        recovery_code = d.pop("recovery_code")

        secrets_replaced = cls(
            account_id=account_id,
            login_secret=login_secret,
            recovery_code=recovery_code,
        )

        secrets_replaced.additional_properties = d
        return secrets_replaced

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
