"""Chat of a stream: read message by message, or exported to a file (platform-api.md, "Chat log")."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence

from pydantic import StrictBool

from livedeck.client.chat_export.export import ChatExport, ExportProgress, ExportResult, export_chat, select_messages
from livedeck.client.chat_export.filter import ChatMessageDict
from livedeck.client.http.files import FileTarget
from livedeck.client.http.request import Identifier, describe_call, id_text
from livedeck.client.resources.base import Model, Resource
from livedeck.client.resources.fields import Timestamp
from livedeck.client.resources.validation import read_model


class Message(Model):
    """Chat message. `is_admin`: `true` or `false` as a string; `by_admin` parses it.

    `cteated_at_local`: the platform's spelling.
    """

    id: str | None = None
    username: str | None = None
    external_id: str | None = None
    is_admin: str | StrictBool | None = None
    message: str | None = None
    created_at: Timestamp | None = None
    cteated_at_local: Timestamp | None = None

    @property
    def by_admin(self) -> bool | None:
        """True if an administrator wrote it; None if unknown."""
        return {"true": True, "false": False}.get(str(self.is_admin).lower())


class Chat(Resource):
    """Chat logs of streams."""

    async def messages(self, event_id: Identifier, stream_id: Identifier) -> AsyncIterator[Message]:
        """Yield every message of the log as it arrives, without holding the whole log. Raises ApiError.

        >>> texts = [message.message async for message in api.chat.messages(event_id, stream_id) if message.by_admin]
        """
        summary = describe_call("read chat of event", event_id)
        async for batch in self.selected(ChatExport(id_text(event_id, summary), id_text(stream_id, summary))):
            for row in batch:
                message, faults = read_model(Message, row)
                if message is not None:
                    yield self._note(message, faults)

    def selected(self, export: ChatExport) -> AsyncGenerator[Sequence[ChatMessageDict], None]:
        """Yield, in batches, the unchanged messages that an export would write, for a preview. Raises ApiError.

        >>> export = ChatExport(event_id, stream_id, filter=MessageFilter(admins=True))
        >>> async for batch in api.chat.selected(export):
        ...     names = [message["username"] for message in batch]
        """
        return select_messages(self._transport, export)

    async def export(
        self,
        export: ChatExport,
        to: FileTarget,
        *,
        replace: bool = False,
        unchecked: bool = False,
        progress: Callable[[ExportProgress], object] | None = None,
    ) -> ExportResult:
        """Write the export to a file, which gets its name only when it is complete, or to an open pipe or file.

        `replace`: replace an existing file too, but only with a reply that is proved to be the log. `unchecked`:
        accept any complete reply. `progress`: called for each chunk. A cancelled task leaves nothing. Raises Unproved,
        FileFault, Misconfigured if the package of a format is missing, and any other ApiError; BrokenPipeError if
        nobody reads the pipe.

        >>> export = ChatExport(event_id, stream_id, "csv", safe_csv=True)
        >>> result = await api.chat.export(export, folder / "chat.csv", replace=True)
        >>> result.messages == result.read
        True
        """
        return await export_chat(self._transport, export, to, replace=replace, unchecked=unchecked, progress=progress)
