"""What a client is told when a request is refused: a status and a sentence, nothing from inside."""

from __future__ import annotations


class RefusalError(Exception):
    """A request that is not answered; `message` is for the client."""

    def __init__(self, status: int, message: str, *, retry_after: int | None = None) -> None:
        """`retry_after`: seconds after which the request is worth another try."""
        super().__init__(message)
        self.status = status
        self.message = message
        self.retry_after = retry_after
