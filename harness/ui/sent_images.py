"""Images in the prompts of programs and editors."""

import base64
import binascii
from functools import partial

from harness.base.concurrency import in_thread
from harness.base.errors import SettingsError
from harness.media.mentions import mention
from harness.session import Session


async def mention_of_image(data: str, session: Session) -> str:
    """Keep an image that was sent in base64 as a file; returns its mention. Raises SettingsError."""
    try:
        decoded = base64.b64decode(data, validate=True)
    except binascii.Error as error:
        raise SettingsError(f"An image is not written in base64: {error}.") from error
    return mention(str(await in_thread(partial(session.keep_image, decoded))))
