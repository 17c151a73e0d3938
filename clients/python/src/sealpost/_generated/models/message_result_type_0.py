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

from ..models.receipt_state import ReceiptState

if TYPE_CHECKING:
    from ..models.encryption import Encryption
    from ..models.metadata import Metadata


T = TypeVar("T", bound="MessageResultType0")


@_attrs_define
class MessageResultType0:
    """The envelope is stored.

    Attributes:
        status (Literal[200]): Always 200.
        envelope_id (str): Id of an envelope, a message sealed for one recipient.
        envelope_hash (str): SHA-256 over the sealed bytes of an envelope. As text: `sha256:` and 64 hexadecimal digits.
        state (ReceiptState): The state of an envelope, as its sender sees it. `bounced`: The envelope could not be
            delivered. No further delivery attempt is scheduled. `notified`: A webhook of the recipient responded with
            success. `opened`: The recipient opened the envelope. `sent`: The envelope is stored. No other state applies, or
            the recipient hides the other state. `waiting`: The envelope waits, because its recipient has no webhook for
            received envelopes.
        sender (str): Id of an API key. The id is the public name of one identity.
        recipient (str): Id of an API key. The id is the public name of one identity.
        encryption (Encryption): The encryption of an envelope.
        metadata (Metadata): Size of an envelope, and time of its sealing.
    """

    status: Literal[200]
    envelope_id: str
    envelope_hash: str
    state: ReceiptState
    sender: str
    recipient: str
    encryption: Encryption
    metadata: Metadata
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        status = self.status

        envelope_id = self.envelope_id

        envelope_hash = self.envelope_hash

        state = self.state.value

        sender = self.sender

        recipient = self.recipient

        encryption = self.encryption.to_dict()

        metadata = self.metadata.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "status": status,
                "envelope_id": envelope_id,
                "envelope_hash": envelope_hash,
                "state": state,
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
        status = cast(Literal[200], d.pop("status"))
        if status != 200:
            raise ValueError(f"status must match const 200, got '{status}'")

        envelope_id = d.pop("envelope_id")

        envelope_hash = d.pop("envelope_hash")

        state = ReceiptState(d.pop("state"))

        sender = d.pop("sender")

        recipient = d.pop("recipient")

        encryption = Encryption.from_dict(d.pop("encryption"))

        metadata = Metadata.from_dict(d.pop("metadata"))

        message_result_type_0 = cls(
            status=status,
            envelope_id=envelope_id,
            envelope_hash=envelope_hash,
            state=state,
            sender=sender,
            recipient=recipient,
            encryption=encryption,
            metadata=metadata,
        )

        message_result_type_0.additional_properties = d
        return message_result_type_0

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
