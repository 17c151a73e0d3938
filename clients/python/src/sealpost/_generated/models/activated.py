from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.activated_plan import ActivatedPlan
from ..models.key_status import KeyStatus
from ..types import UNSET, Unset

T = TypeVar("T", bound="Activated")


@_attrs_define
class Activated:
    """A new identity.

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
        plan (ActivatedPlan): The initial plan, which sets the limits of the key.
        account_id (str): Id of an account. An account owns API keys.
        created_at (datetime.datetime): ISO 8601 in UTC, with milliseconds and `Z`.
        login_secret (str | Unset): The login secret of a new account, shown only in this response. Absent if the
            account existed before the request.
        recovery_code (str | Unset): The recovery code of a new account, which replaces a lost login secret; shown only
            in this response.
    """

    api_key_id: str
    label: str
    handle: None | str
    did: str
    status: KeyStatus
    plan: ActivatedPlan
    account_id: str
    created_at: datetime.datetime
    login_secret: str | Unset = UNSET
    recovery_code: str | Unset = UNSET
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

        login_secret = self.login_secret

        recovery_code = self.recovery_code

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
            }
        )
        if login_secret is not UNSET:
            field_dict["login_secret"] = login_secret
        if recovery_code is not UNSET:
            field_dict["recovery_code"] = recovery_code

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
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

        plan = ActivatedPlan(d.pop("plan"))

        account_id = d.pop("account_id")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at").replace("Z", "+00:00"))

        login_secret = d.pop("login_secret", UNSET)

        recovery_code = d.pop("recovery_code", UNSET)

        activated = cls(
            api_key_id=api_key_id,
            label=label,
            handle=handle,
            did=did,
            status=status,
            plan=plan,
            account_id=account_id,
            created_at=created_at,
            login_secret=login_secret,
            recovery_code=recovery_code,
        )

        activated.additional_properties = d
        return activated

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
