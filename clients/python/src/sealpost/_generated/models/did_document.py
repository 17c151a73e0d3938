from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.context_type_1 import ContextType1
    from ..models.verification_method import VerificationMethod


T = TypeVar("T", bound="DidDocument")


@_attrs_define
class DidDocument:
    """The DID document of the service, which publishes its public keys.

    Attributes:
        context (list[ContextType1 | str]):
        id (str): A decentralised identifier (DID). The DID of an identity is a `did:key` of its Ed25519 signing key,
            and never changes, not even after revocation. The DID of the service is a `did:web` of its base URL.
        verification_method (list[VerificationMethod]):
        assertion_method (list[str]):
    """

    context: list[ContextType1 | str]
    id: str
    verification_method: list[VerificationMethod]
    assertion_method: list[str]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.context_type_1 import ContextType1  # noqa: PLC0415

        context = []
        for context_item_data in self.context:
            context_item: dict[str, Any] | str
            if isinstance(context_item_data, ContextType1):
                context_item = context_item_data.to_dict()
            else:
                context_item = context_item_data
            context.append(context_item)

        id = self.id

        verification_method = []
        for verification_method_item_data in self.verification_method:
            verification_method_item = verification_method_item_data.to_dict()
            verification_method.append(verification_method_item)

        assertion_method = self.assertion_method

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "@context": context,
                "id": id,
                "verificationMethod": verification_method,
                "assertionMethod": assertion_method,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.context_type_1 import ContextType1  # noqa: PLC0415
        from ..models.verification_method import VerificationMethod  # noqa: PLC0415

        d = dict(src_dict)
        context = []
        _context = d.pop("@context")
        for context_item_data in _context:

            def _parse_context_item(data: object) -> ContextType1 | str:
                try:
                    if not isinstance(data, dict):
                        raise TypeError()
                    componentsschemas_context_type_1 = ContextType1.from_dict(data)

                    return componentsschemas_context_type_1
                except (TypeError, ValueError, AttributeError, KeyError):
                    pass
                return cast(ContextType1 | str, data)

            context_item = _parse_context_item(context_item_data)

            context.append(context_item)

        id = d.pop("id")

        verification_method = []
        _verification_method = d.pop("verificationMethod")
        for verification_method_item_data in _verification_method:
            verification_method_item = VerificationMethod.from_dict(verification_method_item_data)

            verification_method.append(verification_method_item)

        assertion_method = cast(list[str], d.pop("assertionMethod"))

        did_document = cls(
            context=context,
            id=id,
            verification_method=verification_method,
            assertion_method=assertion_method,
        )

        did_document.additional_properties = d
        return did_document

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
