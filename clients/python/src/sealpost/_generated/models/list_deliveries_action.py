from __future__ import annotations

from collections.abc import Mapping
from typing import (
    Any,
    Literal,
    TypeVar,
    cast,
)

from attrs import define as _attrs_define

from ..models.list_deliveries_action_state import ListDeliveriesActionState
from ..types import UNSET, Unset

T = TypeVar("T", bound="ListDeliveriesAction")


@_attrs_define
class ListDeliveriesAction:
    """A page of the pending deliveries and the attempts of a webhook.

    Attributes:
        action (Literal['deliveries']):
        webhook_id (str): The id of the webhook.
        state (ListDeliveriesActionState | Unset): Shows only entries in this state. If absent, shows all entries.
        limit (int | None | Unset): The maximum number of entries, 20 by default.
        cursor (None | str | Unset): The `next_cursor` of the previous page. If absent, shows the first page.
        api_key_id (str | Unset): The API key to act as, if the header `X-DID-API-Key` is absent.
    """

    action: Literal["deliveries"]
    webhook_id: str
    state: ListDeliveriesActionState | Unset = UNSET
    limit: int | None | Unset = UNSET
    cursor: None | str | Unset = UNSET
    api_key_id: str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        action = self.action

        webhook_id = self.webhook_id

        state: str | Unset = UNSET
        if not isinstance(self.state, Unset):
            state = self.state.value

        limit: int | None | Unset
        if isinstance(self.limit, Unset):
            limit = UNSET
        else:
            limit = self.limit

        cursor: None | str | Unset
        if isinstance(self.cursor, Unset):
            cursor = UNSET
        else:
            cursor = self.cursor

        api_key_id = self.api_key_id

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "action": action,
                "webhook_id": webhook_id,
            }
        )
        if state is not UNSET:
            field_dict["state"] = state
        if limit is not UNSET:
            field_dict["limit"] = limit
        if cursor is not UNSET:
            field_dict["cursor"] = cursor
        if api_key_id is not UNSET:
            field_dict["api_key_id"] = api_key_id

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        action = cast(Literal["deliveries"], d.pop("action"))
        if action != "deliveries":
            raise ValueError(f"action must match const 'deliveries', got '{action}'")

        webhook_id = d.pop("webhook_id")

        _state = d.pop("state", UNSET)
        state: ListDeliveriesActionState | Unset
        if isinstance(_state, Unset):
            state = UNSET
        else:
            state = ListDeliveriesActionState(_state)

        def _parse_limit(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        limit = _parse_limit(d.pop("limit", UNSET))

        def _parse_cursor(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        cursor = _parse_cursor(d.pop("cursor", UNSET))

        api_key_id = d.pop("api_key_id", UNSET)

        list_deliveries_action = cls(
            action=action,
            webhook_id=webhook_id,
            state=state,
            limit=limit,
            cursor=cursor,
            api_key_id=api_key_id,
        )

        return list_deliveries_action
