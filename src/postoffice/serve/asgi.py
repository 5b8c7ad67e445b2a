"""`uvicorn postoffice.serve.asgi:app`: the application with settings from the environment."""

from postoffice.config import read_settings
from postoffice.serve.app import create_app

app = create_app(read_settings())
