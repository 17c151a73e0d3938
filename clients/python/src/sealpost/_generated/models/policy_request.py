from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.accept_policy import AcceptPolicy
from ..models.receipt_policy import ReceiptPolicy
from ..types import UNSET, Unset

T = TypeVar("T", bound="PolicyRequest")


@_attrs_define
class PolicyRequest:
    """The changes to the policy of the API key. All members are optional. An omitted member changes nothing.

    Attributes:
        accept (AcceptPolicy | None | Unset): The senders whose messages the key accepts.
        receipts (None | ReceiptPolicy | Unset): The part of a receipt (the state of a received envelope) that the key
            shows to the sender.
        listed (bool | None | Unset): If true, other keys can see the label of this key.
        allow (list[str] | None | Unset): API keys or handles to add to the allowlist.
        unallow (list[str] | None | Unset): API keys or handles to remove from the allowlist.
        block (list[str] | None | Unset): API keys or handles to add to the blocklist.
        unblock (list[str] | None | Unset): API keys or handles to remove from the blocklist.
        api_key_id (str | Unset): The API key to act as, if the header `X-DID-API-Key` is absent.
    """

    accept: AcceptPolicy | None | Unset = UNSET
    receipts: None | ReceiptPolicy | Unset = UNSET
    listed: bool | None | Unset = UNSET
    allow: list[str] | None | Unset = UNSET
    unallow: list[str] | None | Unset = UNSET
    block: list[str] | None | Unset = UNSET
    unblock: list[str] | None | Unset = UNSET
    api_key_id: str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        accept: None | str | Unset
        if isinstance(self.accept, Unset):
            accept = UNSET
        elif isinstance(self.accept, AcceptPolicy):
            accept = self.accept.value
        else:
            accept = self.accept

        receipts: None | str | Unset
        if isinstance(self.receipts, Unset):
            receipts = UNSET
        elif isinstance(self.receipts, ReceiptPolicy):
            receipts = self.receipts.value
        else:
            receipts = self.receipts

        listed: bool | None | Unset
        if isinstance(self.listed, Unset):
            listed = UNSET
        else:
            listed = self.listed

        allow: list[str] | None | Unset
        if isinstance(self.allow, Unset):
            allow = UNSET
        elif isinstance(self.allow, list):
            allow = self.allow

        else:
            allow = self.allow

        unallow: list[str] | None | Unset
        if isinstance(self.unallow, Unset):
            unallow = UNSET
        elif isinstance(self.unallow, list):
            unallow = self.unallow

        else:
            unallow = self.unallow

        block: list[str] | None | Unset
        if isinstance(self.block, Unset):
            block = UNSET
        elif isinstance(self.block, list):
            block = self.block

        else:
            block = self.block

        unblock: list[str] | None | Unset
        if isinstance(self.unblock, Unset):
            unblock = UNSET
        elif isinstance(self.unblock, list):
            unblock = self.unblock

        else:
            unblock = self.unblock

        api_key_id = self.api_key_id

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if accept is not UNSET:
            field_dict["accept"] = accept
        if receipts is not UNSET:
            field_dict["receipts"] = receipts
        if listed is not UNSET:
            field_dict["listed"] = listed
        if allow is not UNSET:
            field_dict["allow"] = allow
        if unallow is not UNSET:
            field_dict["unallow"] = unallow
        if block is not UNSET:
            field_dict["block"] = block
        if unblock is not UNSET:
            field_dict["unblock"] = unblock
        if api_key_id is not UNSET:
            field_dict["api_key_id"] = api_key_id

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_accept(data: object) -> AcceptPolicy | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                accept_type_0 = AcceptPolicy(data)

                return accept_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(AcceptPolicy | None | Unset, data)

        accept = _parse_accept(d.pop("accept", UNSET))

        def _parse_receipts(data: object) -> None | ReceiptPolicy | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                receipts_type_0 = ReceiptPolicy(data)

                return receipts_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | ReceiptPolicy | Unset, data)

        receipts = _parse_receipts(d.pop("receipts", UNSET))

        def _parse_listed(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        listed = _parse_listed(d.pop("listed", UNSET))

        def _parse_allow(data: object) -> list[str] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                allow_type_0 = cast(list[str], data)

                return allow_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None | Unset, data)

        allow = _parse_allow(d.pop("allow", UNSET))

        def _parse_unallow(data: object) -> list[str] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                unallow_type_0 = cast(list[str], data)

                return unallow_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None | Unset, data)

        unallow = _parse_unallow(d.pop("unallow", UNSET))

        def _parse_block(data: object) -> list[str] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                block_type_0 = cast(list[str], data)

                return block_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None | Unset, data)

        block = _parse_block(d.pop("block", UNSET))

        def _parse_unblock(data: object) -> list[str] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                unblock_type_0 = cast(list[str], data)

                return unblock_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None | Unset, data)

        unblock = _parse_unblock(d.pop("unblock", UNSET))

        api_key_id = d.pop("api_key_id", UNSET)

        policy_request = cls(
            accept=accept,
            receipts=receipts,
            listed=listed,
            allow=allow,
            unallow=unallow,
            block=block,
            unblock=unblock,
            api_key_id=api_key_id,
        )

        return policy_request
