from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.delivery_view_outcome import DeliveryViewOutcome

T = TypeVar("T", bound="DeliveryView")


@_attrs_define
class DeliveryView:
    """A completed attempt, or a pending delivery.

    Attributes:
        envelope_id (str): Id of the event: the id of the envelope, or `evt_…` for other events.
        attempt (int): Number of the attempt, from 1.
        at (datetime.datetime): ISO 8601 in UTC, with milliseconds and `Z`.
        outcome (DeliveryViewOutcome): State of the entry: `pending`, `succeeded`, `failed` or `exhausted`.
        status_code (int | None): HTTP status of the response; `null` without a response.
        error (None | str): Class of the failure; `null` without a failure. For a pending delivery, the class of the
            failure of its last attempt.
        error_detail (None | str): The reason of a failed attempt without a response, for example the error of the TLS
            library. `null` if the class says all, and for a pending delivery.
        duration_ms (int | None): Duration of the attempt in milliseconds; `null` for a pending delivery.
        next_attempt_at (datetime.datetime | None): Time at which the next attempt is due. `null` if no attempt follows,
            while an attempt is running, and while the webhook is disabled.
        response (None | str): Beginning of the response's body; `null` without a response.
    """

    envelope_id: str
    attempt: int
    at: datetime.datetime
    outcome: DeliveryViewOutcome
    status_code: int | None
    error: None | str
    error_detail: None | str
    duration_ms: int | None
    next_attempt_at: datetime.datetime | None
    response: None | str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        envelope_id = self.envelope_id

        attempt = self.attempt

        at = self.at.isoformat()

        outcome = self.outcome.value

        status_code: int | None
        status_code = self.status_code

        error: None | str
        error = self.error

        error_detail: None | str
        error_detail = self.error_detail

        duration_ms: int | None
        duration_ms = self.duration_ms

        next_attempt_at: None | str
        if isinstance(self.next_attempt_at, datetime.datetime):
            next_attempt_at = self.next_attempt_at.isoformat()
        else:
            next_attempt_at = self.next_attempt_at

        response: None | str
        response = self.response

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "envelope_id": envelope_id,
                "attempt": attempt,
                "at": at,
                "outcome": outcome,
                "status_code": status_code,
                "error": error,
                "error_detail": error_detail,
                "duration_ms": duration_ms,
                "next_attempt_at": next_attempt_at,
                "response": response,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        envelope_id = d.pop("envelope_id")

        attempt = d.pop("attempt")

        at = datetime.datetime.fromisoformat(d.pop("at").replace("Z", "+00:00"))

        outcome = DeliveryViewOutcome(d.pop("outcome"))

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

        def _parse_duration_ms(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        duration_ms = _parse_duration_ms(d.pop("duration_ms"))

        def _parse_next_attempt_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                next_attempt_at_type_0 = datetime.datetime.fromisoformat(data.replace("Z", "+00:00"))

                return next_attempt_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        next_attempt_at = _parse_next_attempt_at(d.pop("next_attempt_at"))

        def _parse_response(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        response = _parse_response(d.pop("response"))

        delivery_view = cls(
            envelope_id=envelope_id,
            attempt=attempt,
            at=at,
            outcome=outcome,
            status_code=status_code,
            error=error,
            error_detail=error_detail,
            duration_ms=duration_ms,
            next_attempt_at=next_attempt_at,
            response=response,
        )

        delivery_view.additional_properties = d
        return delivery_view

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
