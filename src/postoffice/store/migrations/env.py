"""Alembic's environment when the program itself migrates: the target is in the configuration's attributes."""

from alembic import context

from postoffice.store.migrations.transaction import migrate

migrate(*context.config.attributes["target"])
