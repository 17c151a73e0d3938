from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.governance_kind import GovernanceKind
from ..models.governance_status import GovernanceStatus

T = TypeVar("T", bound="GovernanceReason")


@_attrs_define
class GovernanceReason:
    """A proposed or enforced governance decision (a block by an operator), as shown to the owner of the API key.

    Attributes:
        kind (GovernanceKind): The kind of a governance decision. `council_action`: A council action: an operator's
            decision that blocks one API key, or all API keys of one account. `partner_suspension`: A suspension of a
            partner. Blocks all API keys of the partner's accounts.
        status (GovernanceStatus): The status of a governance decision. `enforced`: In force: blocks all affected keys.
            `lifted`: No longer in force: the decision blocks nothing. `proposed`: Announced: the decision blocks nothing
            yet.
        reason (str): Reason for the decision, in the operator's words.
        since (datetime.datetime): ISO 8601 in UTC, with milliseconds and `Z`.
    """

    kind: GovernanceKind
    status: GovernanceStatus
    reason: str
    since: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        kind = self.kind.value

        status = self.status.value

        reason = self.reason

        since = self.since.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "kind": kind,
                "status": status,
                "reason": reason,
                "since": since,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        kind = GovernanceKind(d.pop("kind"))

        status = GovernanceStatus(d.pop("status"))

        reason = d.pop("reason")

        since = datetime.datetime.fromisoformat(d.pop("since").replace("Z", "+00:00"))

        governance_reason = cls(
            kind=kind,
            status=status,
            reason=reason,
            since=since,
        )

        governance_reason.additional_properties = d
        return governance_reason

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
