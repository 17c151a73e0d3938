from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.deleted_rows import DeletedRows
    from ..models.kept_data import KeptData


T = TypeVar("T", bound="AccountClosed")


@_attrs_define
class AccountClosed:
    """The result of closing an account.

    Attributes:
        account_id (str): Id of an account. An account owns API keys.
        closed_at (datetime.datetime): ISO 8601 in UTC, with milliseconds and `Z`.
        erased (bool): Whether the personal data of the owner, such as labels and handles, was erased too.
        complete (bool): Whether all rows are deleted. If not, housekeeping deletes the remaining rows.
        deleted (DeletedRows): Numbers of rows that the closing of an account deleted or changed.
        kept (list[KeptData]): The data that is kept, with the reasons.
    """

    account_id: str
    closed_at: datetime.datetime
    erased: bool
    complete: bool
    deleted: DeletedRows
    kept: list[KeptData]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        account_id = self.account_id

        closed_at = self.closed_at.isoformat()

        erased = self.erased

        complete = self.complete

        deleted = self.deleted.to_dict()

        kept = []
        for kept_item_data in self.kept:
            kept_item = kept_item_data.to_dict()
            kept.append(kept_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "account_id": account_id,
                "closed_at": closed_at,
                "erased": erased,
                "complete": complete,
                "deleted": deleted,
                "kept": kept,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.deleted_rows import DeletedRows  # noqa: PLC0415
        from ..models.kept_data import KeptData  # noqa: PLC0415

        d = dict(src_dict)
        account_id = d.pop("account_id")

        closed_at = datetime.datetime.fromisoformat(d.pop("closed_at").replace("Z", "+00:00"))

        erased = d.pop("erased")

        complete = d.pop("complete")

        deleted = DeletedRows.from_dict(d.pop("deleted"))

        kept = []
        _kept = d.pop("kept")
        for kept_item_data in _kept:
            kept_item = KeptData.from_dict(kept_item_data)

            kept.append(kept_item)

        account_closed = cls(
            account_id=account_id,
            closed_at=closed_at,
            erased=erased,
            complete=complete,
            deleted=deleted,
            kept=kept,
        )

        account_closed.additional_properties = d
        return account_closed

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
