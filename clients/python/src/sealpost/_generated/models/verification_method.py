from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.jwk import Jwk


T = TypeVar("T", bound="VerificationMethod")


@_attrs_define
class VerificationMethod:
    """
    Attributes:
        id (str):
        type_ (str):
        controller (str): A decentralised identifier (DID). The DID of an identity is a `did:key` of its Ed25519 signing
            key, and never changes, not even after revocation. The DID of the service is a `did:web` of its base URL.
        public_key_jwk (Jwk): A public key as a JSON Web Key (RFC 8037).
        standard_webhooks_key (str): The same key in the format of Standard Webhooks libraries. This is an extension,
            which other readers ignore.
    """

    id: str
    type_: str
    controller: str
    public_key_jwk: Jwk
    standard_webhooks_key: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        type_ = self.type_

        controller = self.controller

        public_key_jwk = self.public_key_jwk.to_dict()

        standard_webhooks_key = self.standard_webhooks_key

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "type": type_,
                "controller": controller,
                "publicKeyJwk": public_key_jwk,
                "standardWebhooksKey": standard_webhooks_key,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.jwk import Jwk  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        type_ = d.pop("type")

        controller = d.pop("controller")

        public_key_jwk = Jwk.from_dict(d.pop("publicKeyJwk"))

        standard_webhooks_key = d.pop("standardWebhooksKey")

        verification_method = cls(
            id=id,
            type_=type_,
            controller=controller,
            public_key_jwk=public_key_jwk,
            standard_webhooks_key=standard_webhooks_key,
        )

        verification_method.additional_properties = d
        return verification_method

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
