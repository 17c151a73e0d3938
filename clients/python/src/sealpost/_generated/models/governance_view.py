from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.governance_reason import GovernanceReason


T = TypeVar("T", bound="GovernanceView")


@_attrs_define
class GovernanceView:
    """The governance decisions (blocks, proposed blocks and suspensions) that affect an API key.

    Attributes:
        blocked (bool): True if a governance decision blocks the key.
        reasons (list[GovernanceReason]): All governance decisions about the key that have not been lifted.
    """

    blocked: bool
    reasons: list[GovernanceReason]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        blocked = self.blocked

        reasons = []
        for reasons_item_data in self.reasons:
            reasons_item = reasons_item_data.to_dict()
            reasons.append(reasons_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "blocked": blocked,
                "reasons": reasons,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.governance_reason import GovernanceReason  # noqa: PLC0415

        d = dict(src_dict)
        blocked = d.pop("blocked")

        reasons = []
        _reasons = d.pop("reasons")
        for reasons_item_data in _reasons:
            reasons_item = GovernanceReason.from_dict(reasons_item_data)

            reasons.append(reasons_item)

        governance_view = cls(
            blocked=blocked,
            reasons=reasons,
        )

        governance_view.additional_properties = d
        return governance_view

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
