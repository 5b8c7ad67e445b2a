"""A TLS context for clients that never use it. Each would make its own and read all the world's authorities, which takes longer than most tests."""

import httpx

TLS = httpx.create_ssl_context()
