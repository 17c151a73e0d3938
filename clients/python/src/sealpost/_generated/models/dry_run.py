from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.explanation import Explanation


T = TypeVar("T", bound="DryRun")


@_attrs_define
class DryRun:
    """The result of a dry run, which issues no badge.

    Attributes:
        dry_run (bool): Always `true`.
        granted (bool): True if a badge would be issued.
        refusals (list[Explanation]): All reasons for a refusal. A request without `dry_run` returns only the first
            reason.
    """

    dry_run: bool
    granted: bool
    refusals: list[Explanation]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        dry_run = self.dry_run

        granted = self.granted

        refusals = []
        for refusals_item_data in self.refusals:
            refusals_item = refusals_item_data.to_dict()
            refusals.append(refusals_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "dry_run": dry_run,
                "granted": granted,
                "refusals": refusals,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.explanation import Explanation  # noqa: PLC0415

        d = dict(src_dict)
        dry_run = d.pop("dry_run")

        granted = d.pop("granted")

        refusals = []
        _refusals = d.pop("refusals")
        for refusals_item_data in _refusals:
            refusals_item = Explanation.from_dict(refusals_item_data)

            refusals.append(refusals_item)

        dry_run = cls(
            dry_run=dry_run,
            granted=granted,
            refusals=refusals,
        )

        dry_run.additional_properties = d
        return dry_run

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
