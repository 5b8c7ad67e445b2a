"""Where the bytes of attachments are kept."""
