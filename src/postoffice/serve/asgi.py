"""`uvicorn postoffice.serve.asgi:app`: the application, with settings from the environment."""

from postoffice.config import read_settings
from postoffice.serve.app import create_app
from postoffice.serve.logs import set_up_logs, tell_of_slips

_settings = read_settings()
set_up_logs(_settings.log_level, _settings.log_format)
tell_of_slips(_settings.slips)
app = create_app(_settings)
