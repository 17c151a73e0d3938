from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.check_report import CheckReport
    from ..models.explanation import Explanation


T = TypeVar("T", bound="Validated")


@_attrs_define
class Validated:
    """The result of all checks of a jurisdiction.

    Attributes:
        jurisdiction (str): The name of a jurisdiction, such as `EU`: 2 to 16 characters of `A-Z 0-9 -`. Lower case is
            converted to upper case.
        passed (bool): True if all required checks passed.
        checks (list[CheckReport]): The results of all checks, in the order of the circuit.
        dry_run (bool | Unset): Always `true`.
        refusals (list[Explanation] | Unset): All refusals that the same request without `dry_run` could return.
    """

    jurisdiction: str
    passed: bool
    checks: list[CheckReport]
    dry_run: bool | Unset = UNSET
    refusals: list[Explanation] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        jurisdiction = self.jurisdiction

        passed = self.passed

        checks = []
        for checks_item_data in self.checks:
            checks_item = checks_item_data.to_dict()
            checks.append(checks_item)

        dry_run = self.dry_run

        refusals: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.refusals, Unset):
            refusals = []
            for refusals_item_data in self.refusals:
                refusals_item = refusals_item_data.to_dict()
                refusals.append(refusals_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "jurisdiction": jurisdiction,
                "passed": passed,
                "checks": checks,
            }
        )
        if dry_run is not UNSET:
            field_dict["dry_run"] = dry_run
        if refusals is not UNSET:
            field_dict["refusals"] = refusals

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.check_report import CheckReport  # noqa: PLC0415
        from ..models.explanation import Explanation  # noqa: PLC0415

        d = dict(src_dict)
        jurisdiction = d.pop("jurisdiction")

        passed = d.pop("passed")

        checks = []
        _checks = d.pop("checks")
        for checks_item_data in _checks:
            checks_item = CheckReport.from_dict(checks_item_data)

            checks.append(checks_item)

        dry_run = d.pop("dry_run", UNSET)

        _refusals = d.pop("refusals", UNSET)
        refusals: list[Explanation] | Unset = UNSET
        if _refusals is not UNSET:
            refusals = []
            for refusals_item_data in _refusals:
                refusals_item = Explanation.from_dict(refusals_item_data)

                refusals.append(refusals_item)

        validated = cls(
            jurisdiction=jurisdiction,
            passed=passed,
            checks=checks,
            dry_run=dry_run,
            refusals=refusals,
        )

        validated.additional_properties = d
        return validated

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
