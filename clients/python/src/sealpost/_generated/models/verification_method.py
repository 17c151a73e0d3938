from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.jwk import Jwk


T = TypeVar("T", bound="VerificationMethod")


@_attrs_define
class VerificationMethod:
    """A public key, either as a JSON Web Key or as a Multikey (DID Core 1.0, section 5.2.1).

    Attributes:
        id (str):
        type_ (str):
        controller (str): A decentralised identifier (DID). The DID of an identity is a `did:key` of its Ed25519 signing
            key, and never changes, not even after revocation. The DID of the service is a `did:web` of its base URL.
        standard_webhooks_key (str): The same key in the format of Standard Webhooks libraries. This is an extension,
            which other readers ignore.
        public_key_jwk (Jwk | None | Unset):
        public_key_multibase (None | str | Unset):
    """

    id: str
    type_: str
    controller: str
    standard_webhooks_key: str
    public_key_jwk: Jwk | None | Unset = UNSET
    public_key_multibase: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.jwk import Jwk  # noqa: PLC0415

        id = self.id

        type_ = self.type_

        controller = self.controller

        standard_webhooks_key = self.standard_webhooks_key

        public_key_jwk: dict[str, Any] | None | Unset
        if isinstance(self.public_key_jwk, Unset):
            public_key_jwk = UNSET
        elif isinstance(self.public_key_jwk, Jwk):
            public_key_jwk = self.public_key_jwk.to_dict()
        else:
            public_key_jwk = self.public_key_jwk

        public_key_multibase: None | str | Unset
        if isinstance(self.public_key_multibase, Unset):
            public_key_multibase = UNSET
        else:
            public_key_multibase = self.public_key_multibase

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "type": type_,
                "controller": controller,
                "standardWebhooksKey": standard_webhooks_key,
            }
        )
        if public_key_jwk is not UNSET:
            field_dict["publicKeyJwk"] = public_key_jwk
        if public_key_multibase is not UNSET:
            field_dict["publicKeyMultibase"] = public_key_multibase

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.jwk import Jwk  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        type_ = d.pop("type")

        controller = d.pop("controller")

        standard_webhooks_key = d.pop("standardWebhooksKey")

        def _parse_public_key_jwk(data: object) -> Jwk | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                public_key_jwk_type_0 = Jwk.from_dict(data)

                return public_key_jwk_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Jwk | None | Unset, data)

        public_key_jwk = _parse_public_key_jwk(d.pop("publicKeyJwk", UNSET))

        def _parse_public_key_multibase(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        public_key_multibase = _parse_public_key_multibase(d.pop("publicKeyMultibase", UNSET))

        verification_method = cls(
            id=id,
            type_=type_,
            controller=controller,
            standard_webhooks_key=standard_webhooks_key,
            public_key_jwk=public_key_jwk,
            public_key_multibase=public_key_multibase,
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
