from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.problem_code import ProblemCode
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.check_report import CheckReport
    from ..models.unmet import Unmet


T = TypeVar("T", bound="Problem")


@_attrs_define
class Problem:
    """The reason for an error response (RFC 9457).

    Attributes:
        type_ (str): The URL of the documentation of the code.
        title (str): The meaning of the code, which is the same in all responses with this code.
        status (int): The HTTP status.
        detail (str): The problem of this request, and how to solve it.
        code (ProblemCode): The error code, for programs. Codes never change.
        request_id (str): The id of the request, as in the header `X-Request-Id`.
        field (str | Unset): The field that has the error. Absent if no field has an error.
        unmet (list[Unmet] | None | Unset): The metrics that miss their threshold.
        jurisdiction (None | str | Unset): The jurisdiction whose compliance checks did not pass.
        checks (list[CheckReport] | None | Unset): The compliance checks of the jurisdiction, with their results.
    """

    type_: str
    title: str
    status: int
    detail: str
    code: ProblemCode
    request_id: str
    field: str | Unset = UNSET
    unmet: list[Unmet] | None | Unset = UNSET
    jurisdiction: None | str | Unset = UNSET
    checks: list[CheckReport] | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_

        title = self.title

        status = self.status

        detail = self.detail

        code = self.code.value

        request_id = self.request_id

        field = self.field

        unmet: list[dict[str, Any]] | None | Unset
        if isinstance(self.unmet, Unset):
            unmet = UNSET
        elif isinstance(self.unmet, list):
            unmet = []
            for unmet_type_0_item_data in self.unmet:
                unmet_type_0_item = unmet_type_0_item_data.to_dict()
                unmet.append(unmet_type_0_item)

        else:
            unmet = self.unmet

        jurisdiction: None | str | Unset
        if isinstance(self.jurisdiction, Unset):
            jurisdiction = UNSET
        else:
            jurisdiction = self.jurisdiction

        checks: list[dict[str, Any]] | None | Unset
        if isinstance(self.checks, Unset):
            checks = UNSET
        elif isinstance(self.checks, list):
            checks = []
            for checks_type_0_item_data in self.checks:
                checks_type_0_item = checks_type_0_item_data.to_dict()
                checks.append(checks_type_0_item)

        else:
            checks = self.checks

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "type": type_,
                "title": title,
                "status": status,
                "detail": detail,
                "code": code,
                "request_id": request_id,
            }
        )
        if field is not UNSET:
            field_dict["field"] = field
        if unmet is not UNSET:
            field_dict["unmet"] = unmet
        if jurisdiction is not UNSET:
            field_dict["jurisdiction"] = jurisdiction
        if checks is not UNSET:
            field_dict["checks"] = checks

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.check_report import CheckReport  # noqa: PLC0415
        from ..models.unmet import Unmet  # noqa: PLC0415

        d = dict(src_dict)
        type_ = d.pop("type")

        title = d.pop("title")

        status = d.pop("status")

        detail = d.pop("detail")

        code = ProblemCode(d.pop("code"))

        request_id = d.pop("request_id")

        field = d.pop("field", UNSET)

        def _parse_unmet(data: object) -> list[Unmet] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                unmet_type_0 = []
                _unmet_type_0 = data
                for unmet_type_0_item_data in _unmet_type_0:
                    unmet_type_0_item = Unmet.from_dict(unmet_type_0_item_data)

                    unmet_type_0.append(unmet_type_0_item)

                return unmet_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[Unmet] | None | Unset, data)

        unmet = _parse_unmet(d.pop("unmet", UNSET))

        def _parse_jurisdiction(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        jurisdiction = _parse_jurisdiction(d.pop("jurisdiction", UNSET))

        def _parse_checks(data: object) -> list[CheckReport] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                checks_type_0 = []
                _checks_type_0 = data
                for checks_type_0_item_data in _checks_type_0:
                    checks_type_0_item = CheckReport.from_dict(checks_type_0_item_data)

                    checks_type_0.append(checks_type_0_item)

                return checks_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[CheckReport] | None | Unset, data)

        checks = _parse_checks(d.pop("checks", UNSET))

        problem = cls(
            type_=type_,
            title=title,
            status=status,
            detail=detail,
            code=code,
            request_id=request_id,
            field=field,
            unmet=unmet,
            jurisdiction=jurisdiction,
            checks=checks,
        )

        problem.additional_properties = d
        return problem

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
