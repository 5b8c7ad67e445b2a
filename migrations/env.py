"""Alembic's environment for `alembic upgrade head`: the target is read from Postoffice's own settings."""

from postoffice.config import read_settings
from postoffice.serve.migrate import migration_target
from postoffice.store.migrations.transaction import migrate

migrate(*migration_target(read_settings()))
