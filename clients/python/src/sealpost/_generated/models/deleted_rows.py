from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="DeletedRows")


@_attrs_define
class DeletedRows:
    """Numbers of rows that the closing of an account deleted or changed.

    Attributes:
        sessions (int): Number of deleted sessions.
        api_tokens (int): Number of deleted API tokens.
        keys_revoked (int): Number of revoked keys. The secrets of these keys are destroyed, so envelopes to these keys
            cannot be opened.
        webhooks (int): Number of deleted webhooks, with their URLs and secrets.
        deliveries (int): Number of deleted deliveries (events to be sent) to these webhooks. If there are very many,
            housekeeping deletes the rest later.
        handles (int): Number of erased handles.
        labels (int): Number of erased labels of keys. If a label is erased, the allowlist and the blocklist of its key
            are emptied too.
        activity (int): Number of deleted entries of the activity log, which contain client addresses.
        idempotency_keys (int): Number of deleted values of the header `Idempotency-Key`.
        daily_counts (int): Number of deleted daily counts of sent, received and delivered messages.
        contacts (int): Number of deleted contacts (keys to which a key of the account has sent).
    """

    sessions: int
    api_tokens: int
    keys_revoked: int
    webhooks: int
    deliveries: int
    handles: int
    labels: int
    activity: int
    idempotency_keys: int
    daily_counts: int
    contacts: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        sessions = self.sessions

        api_tokens = self.api_tokens

        keys_revoked = self.keys_revoked

        webhooks = self.webhooks

        deliveries = self.deliveries

        handles = self.handles

        labels = self.labels

        activity = self.activity

        idempotency_keys = self.idempotency_keys

        daily_counts = self.daily_counts

        contacts = self.contacts

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "sessions": sessions,
                "api_tokens": api_tokens,
                "keys_revoked": keys_revoked,
                "webhooks": webhooks,
                "deliveries": deliveries,
                "handles": handles,
                "labels": labels,
                "activity": activity,
                "idempotency_keys": idempotency_keys,
                "daily_counts": daily_counts,
                "contacts": contacts,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        sessions = d.pop("sessions")

        api_tokens = d.pop("api_tokens")

        keys_revoked = d.pop("keys_revoked")

        webhooks = d.pop("webhooks")

        deliveries = d.pop("deliveries")

        handles = d.pop("handles")

        labels = d.pop("labels")

        activity = d.pop("activity")

        idempotency_keys = d.pop("idempotency_keys")

        daily_counts = d.pop("daily_counts")

        contacts = d.pop("contacts")

        deleted_rows = cls(
            sessions=sessions,
            api_tokens=api_tokens,
            keys_revoked=keys_revoked,
            webhooks=webhooks,
            deliveries=deliveries,
            handles=handles,
            labels=labels,
            activity=activity,
            idempotency_keys=idempotency_keys,
            daily_counts=daily_counts,
            contacts=contacts,
        )

        deleted_rows.additional_properties = d
        return deleted_rows

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
