from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.key_standing_plan import KeyStandingPlan
from ..models.key_status import KeyStatus

if TYPE_CHECKING:
    from ..models.governance_view import GovernanceView
    from ..models.report import Report


T = TypeVar("T", bound="KeyStanding")


@_attrs_define
class KeyStanding:
    """The state, the limits and the usage of an API key.

    Attributes:
        api_key_id (str): Id of an API key. The id is the public name of one identity.
        label (str): A display name of 1 to 100 characters without control characters. Escape it before display, because
            the owner chose the text.
        handle (None | str): A unique name that senders can use instead of the API key.
        did (str): A decentralised identifier (DID). The DID of an identity is a `did:key` of its Ed25519 signing key,
            and never changes, not even after revocation. The DID of the service is a `did:web` of its base URL.
        status (KeyStatus): The status of an API key. `active`: The key can send and receive messages. `deactivated`: An
            operator disabled the key. An operator can enable it again. `revoked`: The key was revoked permanently.
            `rotating`: The key cannot be used for a moment, because its sealing key (the key pair to which messages are
            encrypted) is being replaced.
        plan (KeyStandingPlan): The plan of the key, which sets its limits.
        account_id (str): Id of an account. An account owns API keys.
        created_at (datetime.datetime): ISO 8601 in UTC, with milliseconds and `Z`.
        governance (GovernanceView): The governance decisions (blocks, proposed blocks and suspensions) that affect an
            API key.
        usage (Report): Used and remaining units of the limits per minute, day and month.
        throughput_per_second (int): Maximum number of messages per second. A burst of one second is allowed.
        webhooks (int): Number of webhooks of the key.
        waiting (int): Number of envelopes that wait for a webhook of the key, at most 10,000.
        waiting_more (bool): Whether more envelopes wait than `waiting` counts.
    """

    api_key_id: str
    label: str
    handle: None | str
    did: str
    status: KeyStatus
    plan: KeyStandingPlan
    account_id: str
    created_at: datetime.datetime
    governance: GovernanceView
    usage: Report
    throughput_per_second: int
    webhooks: int
    waiting: int
    waiting_more: bool
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        api_key_id = self.api_key_id

        label = self.label

        handle: None | str
        handle = self.handle

        did = self.did

        status = self.status.value

        plan = self.plan.value

        account_id = self.account_id

        created_at = self.created_at.isoformat()

        governance = self.governance.to_dict()

        usage = self.usage.to_dict()

        throughput_per_second = self.throughput_per_second

        webhooks = self.webhooks

        waiting = self.waiting

        waiting_more = self.waiting_more

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "api_key_id": api_key_id,
                "label": label,
                "handle": handle,
                "did": did,
                "status": status,
                "plan": plan,
                "account_id": account_id,
                "created_at": created_at,
                "governance": governance,
                "usage": usage,
                "throughput_per_second": throughput_per_second,
                "webhooks": webhooks,
                "waiting": waiting,
                "waiting_more": waiting_more,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.governance_view import GovernanceView  # noqa: PLC0415
        from ..models.report import Report  # noqa: PLC0415

        d = dict(src_dict)
        api_key_id = d.pop("api_key_id")

        label = d.pop("label")

        def _parse_handle(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        handle = _parse_handle(d.pop("handle"))

        did = d.pop("did")

        status = KeyStatus(d.pop("status"))

        plan = KeyStandingPlan(d.pop("plan"))

        account_id = d.pop("account_id")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at").replace("Z", "+00:00"))

        governance = GovernanceView.from_dict(d.pop("governance"))

        usage = Report.from_dict(d.pop("usage"))

        throughput_per_second = d.pop("throughput_per_second")

        webhooks = d.pop("webhooks")

        waiting = d.pop("waiting")

        waiting_more = d.pop("waiting_more")

        key_standing = cls(
            api_key_id=api_key_id,
            label=label,
            handle=handle,
            did=did,
            status=status,
            plan=plan,
            account_id=account_id,
            created_at=created_at,
            governance=governance,
            usage=usage,
            throughput_per_second=throughput_per_second,
            webhooks=webhooks,
            waiting=waiting,
            waiting_more=waiting_more,
        )

        key_standing.additional_properties = d
        return key_standing

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
