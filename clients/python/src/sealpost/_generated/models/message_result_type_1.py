from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.message_result_type_1_code import MessageResultType1Code

T = TypeVar("T", bound="MessageResultType1")


@_attrs_define
class MessageResultType1:
    """The message was refused. Nothing was stored.

    Attributes:
        status (int): The HTTP status that the message would get as a send of its own.
        code (MessageResultType1Code): The error code.
        detail (str): Describes the error and a remedy.
        field (None | str): The member of the message that caused the error; null if no single member caused it.
    """

    status: int
    code: MessageResultType1Code
    detail: str
    field: None | str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        status = self.status

        code = self.code.value

        detail = self.detail

        field: None | str
        field = self.field

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "status": status,
                "code": code,
                "detail": detail,
                "field": field,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        status = d.pop("status")

        code = MessageResultType1Code(d.pop("code"))

        detail = d.pop("detail")

        def _parse_field(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        field = _parse_field(d.pop("field"))

        message_result_type_1 = cls(
            status=status,
            code=code,
            detail=detail,
            field=field,
        )

        message_result_type_1.additional_properties = d
        return message_result_type_1

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
