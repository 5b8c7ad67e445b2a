"""Acts about attachments: bytes are brought here, and gone once nobody needs them."""
