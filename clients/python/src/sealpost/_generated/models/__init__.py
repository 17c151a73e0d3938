"""Contains all the data models used in inputs/outputs"""

from .accept_policy import AcceptPolicy
from .account_closed import AccountClosed
from .activate_request import ActivateRequest
from .activated import Activated
from .activated_plan import ActivatedPlan
from .activity_kind import ActivityKind
from .activity_page import ActivityPage
from .activity_request import ActivityRequest
from .activity_view import ActivityView
from .api_token_created import ApiTokenCreated
from .api_token_list import ApiTokenList
from .api_token_revoked import ApiTokenRevoked
from .api_token_view import ApiTokenView
from .badge_verdict import BadgeVerdict
from .badge_verified import BadgeVerified
from .bounce_reason import BounceReason
from .check_report import CheckReport
from .check_status import CheckStatus
from .close_request import CloseRequest
from .context_type_1 import ContextType1
from .create_token_request import CreateTokenRequest
from .delete_webhook import DeleteWebhook
from .delete_webhook_action import DeleteWebhookAction
from .deleted import Deleted
from .deleted_rows import DeletedRows
from .deliveries_page import DeliveriesPage
from .delivery_view import DeliveryView
from .delivery_view_outcome import DeliveryViewOutcome
from .did_document import DidDocument
from .disabled_reason import DisabledReason
from .disabling_cause import DisablingCause
from .dry_run import DryRun
from .enable_webhook import EnableWebhook
from .enable_webhook_action import EnableWebhookAction
from .enabled import Enabled
from .encryption import Encryption
from .envelope_bounced import EnvelopeBounced
from .envelope_received import EnvelopeReceived
from .event_kind import EventKind
from .event_metadata import EventMetadata
from .explanation import Explanation
from .explanation_code import ExplanationCode
from .failing_cause import FailingCause
from .get_openapi_document_response_200 import GetOpenapiDocumentResponse200
from .governance_kind import GovernanceKind
from .governance_reason import GovernanceReason
from .governance_status import GovernanceStatus
from .governance_view import GovernanceView
from .identity_rotated import IdentityRotated
from .issue_request import IssueRequest
from .issued_badge import IssuedBadge
from .jwk import Jwk
from .kept_data import KeptData
from .key_standing import KeyStanding
from .key_standing_plan import KeyStandingPlan
from .key_status import KeyStatus
from .last_failure import LastFailure
from .list_deliveries import ListDeliveries
from .list_deliveries_action import ListDeliveriesAction
from .list_deliveries_action_state import ListDeliveriesActionState
from .list_deliveries_state import ListDeliveriesState
from .list_request import ListRequest
from .list_webhooks import ListWebhooks
from .list_webhooks_action import ListWebhooksAction
from .logged_in import LoggedIn
from .logged_out import LoggedOut
from .login_request import LoginRequest
from .logout_request import LogoutRequest
from .message_result_type_0 import MessageResultType0
from .message_result_type_1 import MessageResultType1
from .message_result_type_1_code import MessageResultType1Code
from .metadata import Metadata
from .metric import Metric
from .open_request import OpenRequest
from .opened import Opened
from .policy_request import PolicyRequest
from .policy_view import PolicyView
from .pong import Pong
from .problem import Problem
from .problem_code import ProblemCode
from .receipt import Receipt
from .receipt_policy import ReceiptPolicy
from .receipt_request import ReceiptRequest
from .receipt_state import ReceiptState
from .recover_account_request import RecoverAccountRequest
from .recover_deliveries import RecoverDeliveries
from .recover_deliveries_action import RecoverDeliveriesAction
from .recovered import Recovered
from .redeliver_event import RedeliverEvent
from .redeliver_event_action import RedeliverEventAction
from .redelivered import Redelivered
from .register_request import RegisterRequest
from .register_request_waiting import RegisterRequestWaiting
from .registered import Registered
from .report import Report
from .resolve_request import ResolveRequest
from .resolved import Resolved
from .retiring import Retiring
from .revoke_token_request import RevokeTokenRequest
from .rotate_secret_request import RotateSecretRequest
from .rotate_webhook_secret import RotateWebhookSecret
from .rotate_webhook_secret_action import RotateWebhookSecretAction
from .rotation_reason import RotationReason
from .secrets_replaced import SecretsReplaced
from .send_batch_request import SendBatchRequest
from .send_batch_response import SendBatchResponse
from .send_request import SendRequest
from .sent import Sent
from .sent_page import SentPage
from .sent_view import SentView
from .status_request import StatusRequest
from .test_webhook import TestWebhook
from .test_webhook_action import TestWebhookAction
from .tested import Tested
from .tested_outcome import TestedOutcome
from .threshold_window import ThresholdWindow
from .token_scope import TokenScope
from .unmet import Unmet
from .unmet_must_be import UnmetMustBe
from .update_webhook import UpdateWebhook
from .update_webhook_action import UpdateWebhookAction
from .updated import Updated
from .usage_threshold import UsageThreshold
from .usage_threshold_threshold import UsageThresholdThreshold
from .validate_request import ValidateRequest
from .validated import Validated
from .verification_method import VerificationMethod
from .verify_request import VerifyRequest
from .webhook_disabled import WebhookDisabled
from .webhook_failing import WebhookFailing
from .webhook_list import WebhookList
from .webhook_secret_rotated import WebhookSecretRotated
from .webhook_status import WebhookStatus
from .webhook_test import WebhookTest
from .webhook_view import WebhookView
from .window_report import WindowReport

__all__ = (
    "AcceptPolicy",
    "AccountClosed",
    "Activated",
    "ActivatedPlan",
    "ActivateRequest",
    "ActivityKind",
    "ActivityPage",
    "ActivityRequest",
    "ActivityView",
    "ApiTokenCreated",
    "ApiTokenList",
    "ApiTokenRevoked",
    "ApiTokenView",
    "BadgeVerdict",
    "BadgeVerified",
    "BounceReason",
    "CheckReport",
    "CheckStatus",
    "CloseRequest",
    "ContextType1",
    "CreateTokenRequest",
    "Deleted",
    "DeletedRows",
    "DeleteWebhook",
    "DeleteWebhookAction",
    "DeliveriesPage",
    "DeliveryView",
    "DeliveryViewOutcome",
    "DidDocument",
    "DisabledReason",
    "DisablingCause",
    "DryRun",
    "Enabled",
    "EnableWebhook",
    "EnableWebhookAction",
    "Encryption",
    "EnvelopeBounced",
    "EnvelopeReceived",
    "EventKind",
    "EventMetadata",
    "Explanation",
    "ExplanationCode",
    "FailingCause",
    "GetOpenapiDocumentResponse200",
    "GovernanceKind",
    "GovernanceReason",
    "GovernanceStatus",
    "GovernanceView",
    "IdentityRotated",
    "IssuedBadge",
    "IssueRequest",
    "Jwk",
    "KeptData",
    "KeyStanding",
    "KeyStandingPlan",
    "KeyStatus",
    "LastFailure",
    "ListDeliveries",
    "ListDeliveriesAction",
    "ListDeliveriesActionState",
    "ListDeliveriesState",
    "ListRequest",
    "ListWebhooks",
    "ListWebhooksAction",
    "LoggedIn",
    "LoggedOut",
    "LoginRequest",
    "LogoutRequest",
    "MessageResultType0",
    "MessageResultType1",
    "MessageResultType1Code",
    "Metadata",
    "Metric",
    "Opened",
    "OpenRequest",
    "PolicyRequest",
    "PolicyView",
    "Pong",
    "Problem",
    "ProblemCode",
    "Receipt",
    "ReceiptPolicy",
    "ReceiptRequest",
    "ReceiptState",
    "RecoverAccountRequest",
    "RecoverDeliveries",
    "RecoverDeliveriesAction",
    "Recovered",
    "Redelivered",
    "RedeliverEvent",
    "RedeliverEventAction",
    "Registered",
    "RegisterRequest",
    "RegisterRequestWaiting",
    "Report",
    "Resolved",
    "ResolveRequest",
    "Retiring",
    "RevokeTokenRequest",
    "RotateSecretRequest",
    "RotateWebhookSecret",
    "RotateWebhookSecretAction",
    "RotationReason",
    "SecretsReplaced",
    "SendBatchRequest",
    "SendBatchResponse",
    "SendRequest",
    "Sent",
    "SentPage",
    "SentView",
    "StatusRequest",
    "Tested",
    "TestedOutcome",
    "TestWebhook",
    "TestWebhookAction",
    "ThresholdWindow",
    "TokenScope",
    "Unmet",
    "UnmetMustBe",
    "Updated",
    "UpdateWebhook",
    "UpdateWebhookAction",
    "UsageThreshold",
    "UsageThresholdThreshold",
    "Validated",
    "ValidateRequest",
    "VerificationMethod",
    "VerifyRequest",
    "WebhookDisabled",
    "WebhookFailing",
    "WebhookList",
    "WebhookSecretRotated",
    "WebhookStatus",
    "WebhookTest",
    "WebhookView",
    "WindowReport",
)
