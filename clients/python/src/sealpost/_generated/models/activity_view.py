from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.activity_kind import ActivityKind

T = TypeVar("T", bound="ActivityView")


@_attrs_define
class ActivityView:
    """An entry of the activity log. It describes one action on the account, such as a login.

    Attributes:
        at (datetime.datetime): ISO 8601 in UTC, with milliseconds and `Z`.
        kind (ActivityKind): The kind of an action in the activity log of an account. `key_activated`: An API key
            (identity) was created. `key_revoked`: The owner revoked an API key. `login`: A session began. `login_failed`: A
            login secret or a recovery code was wrong. `logout`: The owner ended one or all sessions. `operator`: An
            operator changed the account or one of its API keys. `policy_changed`: The owner changed the recipient policy of
            an API key. `recovered`: A client used the recovery code to get a new login secret. `secret_replaced`: The owner
            replaced the login secret, or the signing secret of a webhook. `token_created`: The owner created an API token.
            `token_revoked`: The owner revoked an API token. `webhook_deleted`: The owner deleted a webhook.
            `webhook_registered`: The owner registered a webhook. `webhook_updated`: The owner changed a webhook.
        actor (str): Author of the action: `client`, `operator`, `session:` and the name of the session on the
            dashboard, or `token:` and the id of the API token.
        client_address (None | str): Address of the client; `null` for operators.
        detail (None | str): Details of the action, such as the affected key, webhook or session; `null` if there are
            none.
    """

    at: datetime.datetime
    kind: ActivityKind
    actor: str
    client_address: None | str
    detail: None | str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        at = self.at.isoformat()

        kind = self.kind.value

        actor = self.actor

        client_address: None | str
        client_address = self.client_address

        detail: None | str
        detail = self.detail

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "at": at,
                "kind": kind,
                "actor": actor,
                "client_address": client_address,
                "detail": detail,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        at = datetime.datetime.fromisoformat(d.pop("at").replace("Z", "+00:00"))

        kind = ActivityKind(d.pop("kind"))

        actor = d.pop("actor")

        def _parse_client_address(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        client_address = _parse_client_address(d.pop("client_address"))

        def _parse_detail(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        detail = _parse_detail(d.pop("detail"))

        activity_view = cls(
            at=at,
            kind=kind,
            actor=actor,
            client_address=client_address,
            detail=detail,
        )

        activity_view.additional_properties = d
        return activity_view

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
