"""Every error a client can receive, one class per wire code.

An error is raised where the rule is broken. It carries its text in both wordings that the service uses
side by side (see `Wording`); the door chooses between them when it writes the answer, in one function,
so nothing in between needs to know which one is in force.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, ClassVar

MODEL = "com.amazonaws.dynamodb.v20120810"
SERVICE = "com.amazon.coral.service"
VALIDATE = "com.amazon.coral.validate"
AVAILABILITY = "com.amazon.coral.availability"


class Wording(StrEnum):
    """The two generations of request validation that the live service answers with."""

    NEWER = "newer"
    OLDER = "older"


class ClientError(Exception):
    """The client was wrong. The class name is the wire code."""

    namespace: ClassVar[str] = MODEL
    status: ClassVar[int] = 400
    capital_message: ClassVar[bool] = False  # says "Message" for "message", as every error with extra members does

    def __init__(self, message: str | None = None, **members: Any) -> None:
        super().__init__(message)
        self.message = message
        self.members = members  # extra members of the error body, such as Item or CancellationReasons

    @property
    def code(self) -> str:
        return type(self).__name__

    def text(self, wording: Wording, *, envelope: bool) -> str | None:
        """The message in the given wording; `envelope` tells whether the operation wraps request errors."""
        return self.message


class ValidationException(ClientError):
    """A request that breaks a rule.

    `newer` is the text of the newer wording where it differs. `enveloped` marks errors of the request's own
    shape (numbers, sets, expressions, parameter mixing), which the newer layer reports behind a prefix for
    the operations that moved to it; errors about keys, paths and sizes stay bare in both.
    """

    namespace = VALIDATE
    ENVELOPE: ClassVar[str] = "1 validation error detected: "

    def __init__(self, message: str, *, newer: str | None = None, enveloped: bool = False) -> None:
        super().__init__(message)
        self.newer = message if newer is None else newer
        self.enveloped = enveloped

    @property
    def code(self) -> str:
        """Of its subclasses too: they tell errors apart for us, not for clients."""
        return "ValidationException"

    def text(self, wording: Wording, *, envelope: bool) -> str | None:
        if wording is Wording.OLDER:
            return self.message
        return self.ENVELOPE + self.newer if envelope and self.enveloped else self.newer


class Oversized(ValidationException):
    """Something so much larger than its limit that nothing else about it is looked at."""


class InvalidContent(ValidationException):
    """A number or a set whose content is wrong. It is told in the same words wherever the value stands."""


class EmptyKeyValue(ValidationException):
    """A key that is empty. It is noticed before anything else about the table, also in a transaction."""

    NOT_VALID: ClassVar[str] = "One or more parameter values are not valid. "
    KINDS: ClassVar[dict[str, str]] = {"S": "string", "B": "binary"}

    @classmethod
    def rule(cls, type_code: str) -> str:
        """The sentence that is the same wherever a key is empty."""
        return f"The AttributeValue for a key attribute cannot contain an empty {cls.KINDS[type_code]} value."

    @classmethod
    def of(cls, name: str, type_code: str) -> EmptyKeyValue:
        """The error about a key attribute of a table or of what is queried."""
        return cls(f"{cls.NOT_VALID}{cls.rule(type_code)} Key: {name}")


class SerializationException(ClientError):
    """JSON that is broken, or a member of the wrong JSON type."""

    namespace = SERVICE
    capital_message = True


class UnknownOperationException(ClientError):
    namespace = SERVICE


class MissingAuthenticationTokenException(ClientError):
    namespace = SERVICE


class IncompleteSignatureException(ClientError):
    namespace = SERVICE


class InvalidSignatureException(ClientError):
    namespace = SERVICE


class UnrecognizedClientException(ClientError):
    namespace = SERVICE


class ExpiredTokenException(ClientError):
    namespace = SERVICE


class AccessDeniedException(ClientError):
    namespace = SERVICE


class InternalServerError(ClientError):
    """We were wrong, or the store could not. Never raised for anything the client did."""

    status = 500


class ServiceUnavailable(ClientError):
    namespace = AVAILABILITY
    status = 503


class ConditionalCheckFailedException(ClientError):
    """A condition was false. Carries `Item` when the client asked to see what it met."""

    def __init__(self, **members: Any) -> None:
        super().__init__("The conditional request failed", **members)


class ResourceNotFoundException(ClientError):
    def __init__(self, message: str = "Requested resource not found") -> None:
        super().__init__(message)


class ResourceInUseException(ClientError):
    pass


class LimitExceededException(ClientError):
    pass


class ItemCollectionSizeLimitExceededException(ClientError):
    def __init__(self) -> None:
        super().__init__("Collection size exceeded.")


class TransactionCanceledException(ClientError):
    """A transaction that did not happen. Carries `CancellationReasons`, one for each action."""


class TransactionConflictException(ClientError):
    def __init__(self) -> None:
        super().__init__("Transaction is ongoing for the item")


class IdempotentParameterMismatchException(ClientError):
    capital_message = True


class Throttled(ClientError):
    """There is not enough capacity for it now. Carries `ThrottlingReasons`, or `throttlingReasons`, as modelled."""


class ProvisionedThroughputExceededException(Throttled):
    """More than is provisioned for the table or an index."""


class RequestLimitExceeded(Throttled):
    """More than the account may use."""


class ThrottlingException(Throttled):
    """More than an on-demand table takes now, or too many requests of a kind."""

    namespace = AVAILABILITY


class DuplicateItemException(ClientError):
    def __init__(self) -> None:
        super().__init__("Duplicate primary key exists in table")


class ExpiredIteratorException(ClientError):
    pass


class TrimmedDataAccessException(ClientError):
    pass


class TableNotFoundException(ClientError):
    pass


class TableAlreadyExistsException(ClientError):
    pass


class TableInUseException(ClientError):
    pass


class BackupNotFoundException(ClientError):
    pass


class BackupInUseException(ClientError):
    pass


class ContinuousBackupsUnavailableException(ClientError):
    pass


class PointInTimeRecoveryUnavailableException(ClientError):
    pass


class InvalidRestoreTimeException(ClientError):
    pass


class InvalidExportTimeException(ClientError):
    pass


class ExportNotFoundException(ClientError):
    pass


class ExportConflictException(ClientError):
    pass


class ImportNotFoundException(ClientError):
    pass


class ImportConflictException(ClientError):
    pass


class PolicyNotFoundException(ClientError):
    pass


class ObjectNotFoundException(ClientError):
    """Application Auto Scaling's word for a target, policy or scheduled action that is not there."""


class InvalidNextTokenException(ClientError):
    pass


class TooManyTagsException(ClientError):
    pass


class InvalidParameterValueException(ClientError):
    """Lambda's word for a member that cannot be right."""


class InvalidParameterCombinationException(ClientError):
    """CloudWatch's word for members that cannot go together."""


class MissingRequiredParameterException(ClientError):
    pass


class InvalidNextToken(ClientError):
    def __init__(self) -> None:
        super().__init__("The next token is not valid.")


class LimitExceededFault(ClientError):
    pass


class InvalidFormatFault(ClientError):
    pass


class ResourceNotFound(ClientError):
    """CloudWatch's, of alarms."""

    status = 404


class ResourceConflictException(ClientError):
    status = 409
