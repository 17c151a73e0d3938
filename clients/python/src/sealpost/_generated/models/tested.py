from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.tested_outcome import TestedOutcome

T = TypeVar("T", bound="Tested")


@_attrs_define
class Tested:
    """The result of a test event.

    Attributes:
        webhook_id (str): Id of a webhook, a URL for the events of an API key.
        event_id (str): Id of any event other than `envelope.received`. The event `envelope.received` uses the id of the
            envelope.
        outcome (TestedOutcome): Result of the attempt: `succeeded` or `failed`.
        status_code (int | None): HTTP status of the response; `null` without a response.
        error (None | str): Class of the failure; `null` if the test succeeded.
        error_detail (None | str): The reason of a failure without a response, for example the error of the TLS library.
            `null` if the class says all.
        duration_ms (int): Duration of the attempt in milliseconds.
        response (None | str): Beginning of the response's body; `null` without a response.
    """

    webhook_id: str
    event_id: str
    outcome: TestedOutcome
    status_code: int | None
    error: None | str
    error_detail: None | str
    duration_ms: int
    response: None | str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        webhook_id = self.webhook_id

        event_id = self.event_id

        outcome = self.outcome.value

        status_code: int | None
        status_code = self.status_code

        error: None | str
        error = self.error

        error_detail: None | str
        error_detail = self.error_detail

        duration_ms = self.duration_ms

        response: None | str
        response = self.response

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "webhook_id": webhook_id,
                "event_id": event_id,
                "outcome": outcome,
                "status_code": status_code,
                "error": error,
                "error_detail": error_detail,
                "duration_ms": duration_ms,
                "response": response,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        webhook_id = d.pop("webhook_id")

        event_id = d.pop("event_id")

        outcome = TestedOutcome(d.pop("outcome"))

        def _parse_status_code(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        status_code = _parse_status_code(d.pop("status_code"))

        def _parse_error(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        error = _parse_error(d.pop("error"))

        def _parse_error_detail(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        error_detail = _parse_error_detail(d.pop("error_detail"))

        duration_ms = d.pop("duration_ms")

        def _parse_response(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        response = _parse_response(d.pop("response"))

        tested = cls(
            webhook_id=webhook_id,
            event_id=event_id,
            outcome=outcome,
            status_code=status_code,
            error=error,
            error_detail=error_detail,
            duration_ms=duration_ms,
            response=response,
        )

        tested.additional_properties = d
        return tested

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
