from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.metric import Metric
from ..models.unmet_must_be import UnmetMustBe

T = TypeVar("T", bound="Unmet")


@_attrs_define
class Unmet:
    """A badge threshold that a metric of the key does not meet.

    Attributes:
        metric (Metric): The name of a metric in an assessment.
        value (None | str): The measured value of the metric. Null if the API key was never assessed.
        bound (str): A decimal from 0 to 1 with up to 18 decimal places.
        must_be (UnmetMustBe): The required relation of the value to the threshold: `>=` or `<=`.
    """

    metric: Metric
    value: None | str
    bound: str
    must_be: UnmetMustBe
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        metric = self.metric.value

        value: None | str
        value = self.value

        bound = self.bound

        must_be = self.must_be.value

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "metric": metric,
                "value": value,
                "bound": bound,
                "must_be": must_be,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        metric = Metric(d.pop("metric"))

        def _parse_value(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        value = _parse_value(d.pop("value"))

        bound = d.pop("bound")

        must_be = UnmetMustBe(d.pop("must_be"))

        unmet = cls(
            metric=metric,
            value=value,
            bound=bound,
            must_be=must_be,
        )

        unmet.additional_properties = d
        return unmet

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
