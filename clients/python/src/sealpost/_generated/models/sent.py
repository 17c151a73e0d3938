from __future__ import annotations

from collections.abc import Mapping
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    TypeVar,
    cast,
)

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.encryption import Encryption
    from ..models.metadata import Metadata


T = TypeVar("T", bound="Sent")


@_attrs_define
class Sent:
    """The response to a send. The envelope and its deliveries are stored.

    Attributes:
        envelope_id (str): Id of an envelope, a message sealed for one recipient.
        envelope_hash (str): SHA-256 over the sealed bytes of an envelope. As text: `sha256:` and 64 hexadecimal digits.
        status (Literal['delivered']): Always `delivered`.
        sender (str): Id of an API key. The id is the public name of one identity.
        recipient (str): Id of an API key. The id is the public name of one identity.
        encryption (Encryption): The encryption of an envelope.
        metadata (Metadata): Size of an envelope, and time of its sealing.
    """

    envelope_id: str
    envelope_hash: str
    status: Literal["delivered"]
    sender: str
    recipient: str
    encryption: Encryption
    metadata: Metadata
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        envelope_id = self.envelope_id

        envelope_hash = self.envelope_hash

        status = self.status

        sender = self.sender

        recipient = self.recipient

        encryption = self.encryption.to_dict()

        metadata = self.metadata.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "envelope_id": envelope_id,
                "envelope_hash": envelope_hash,
                "status": status,
                "sender": sender,
                "recipient": recipient,
                "encryption": encryption,
                "metadata": metadata,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.encryption import Encryption  # noqa: PLC0415
        from ..models.metadata import Metadata  # noqa: PLC0415

        d = dict(src_dict)
        envelope_id = d.pop("envelope_id")

        envelope_hash = d.pop("envelope_hash")

        status = cast(Literal["delivered"], d.pop("status"))
        if status != "delivered":
            raise ValueError(f"status must match const 'delivered', got '{status}'")

        sender = d.pop("sender")

        recipient = d.pop("recipient")

        encryption = Encryption.from_dict(d.pop("encryption"))

        metadata = Metadata.from_dict(d.pop("metadata"))

        sent = cls(
            envelope_id=envelope_id,
            envelope_hash=envelope_hash,
            status=status,
            sender=sender,
            recipient=recipient,
            encryption=encryption,
            metadata=metadata,
        )

        sent.additional_properties = d
        return sent

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
