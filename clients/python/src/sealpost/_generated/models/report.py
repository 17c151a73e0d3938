from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.window_report import WindowReport


T = TypeVar("T", bound="Report")


@_attrs_define
class Report:
    """Used and remaining units of the limits per minute, day and month.

    Attributes:
        minute (WindowReport): Used and remaining units of one limit in its current time window.
        day (WindowReport): Used and remaining units of one limit in its current time window.
        month (WindowReport): Used and remaining units of one limit in its current time window.
    """

    minute: WindowReport
    day: WindowReport
    month: WindowReport
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        minute = self.minute.to_dict()

        day = self.day.to_dict()

        month = self.month.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "minute": minute,
                "day": day,
                "month": month,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.window_report import WindowReport  # noqa: PLC0415

        d = dict(src_dict)
        minute = WindowReport.from_dict(d.pop("minute"))

        day = WindowReport.from_dict(d.pop("day"))

        month = WindowReport.from_dict(d.pop("month"))

        report = cls(
            minute=minute,
            day=day,
            month=month,
        )

        report.additional_properties = d
        return report

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
