"""The first tables."""

import sqlalchemy as sa
import sqlmodel
from alembic import op

import spaces.tables

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "file",
        sa.Column("hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("kind", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("hash", name=op.f("pk_file")),
    )
    op.create_table(
        "space",
        sa.Column("id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("name", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("snapshot", sa.LargeBinary(), nullable=False),
        sa.Column("snapshot_seq", sa.Integer(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("created", spaces.tables.UtcTime(), nullable=False),
        sa.Column("changed", spaces.tables.UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_space")),
    )
    op.create_table(
        "token",
        sa.Column("hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("name", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("created", spaces.tables.UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("hash", name=op.f("pk_token")),
    )
    op.create_table(
        "journal",
        sa.Column("space", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("client", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("counter", sa.Integer(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("ops", sa.LargeBinary(), nullable=True),
        sa.Column("time", spaces.tables.UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(["space"], ["space.id"], name=op.f("fk_journal_space_space"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("space", "client", "counter", name=op.f("pk_journal")),
    )
    with op.batch_alter_table("journal", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_journal_seq"), ["seq"], unique=False)

    op.create_table(
        "run",
        sa.Column("id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("space", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("sem", sa.LargeBinary(length=32), nullable=False),
        sa.Column("status", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("reason", sqlmodel.sql.sqltypes.AutoString(), nullable=True),
        sa.Column("started", spaces.tables.UtcTime(), nullable=False),
        sa.Column("ended", spaces.tables.UtcTime(), nullable=True),
        sa.ForeignKeyConstraint(["space"], ["space.id"], name=op.f("fk_run_space_space"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_run")),
    )
    with op.batch_alter_table("run", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_run_space"), ["space"], unique=False)

    op.create_table(
        "version",
        sa.Column("space", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("message", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("author", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("created", spaces.tables.UtcTime(), nullable=False),
        sa.Column("file", sa.LargeBinary(length=32), nullable=False),
        sa.Column("sem", sa.LargeBinary(length=32), nullable=False),
        sa.Column("patch", sa.LargeBinary(length=32), nullable=True),
        sa.Column("dotbin", sa.LargeBinary(length=32), nullable=True),
        sa.ForeignKeyConstraint(["dotbin"], ["file.hash"], name=op.f("fk_version_dotbin_file")),
        sa.ForeignKeyConstraint(["file"], ["file.hash"], name=op.f("fk_version_file_file")),
        sa.ForeignKeyConstraint(["patch"], ["file.hash"], name=op.f("fk_version_patch_file")),
        sa.ForeignKeyConstraint(["space"], ["space.id"], name=op.f("fk_version_space_space"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("space", "number", name=op.f("pk_version")),
    )
    op.create_table(
        "run_tail",
        sa.Column("run", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("events", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["run"], ["run.id"], name=op.f("fk_run_tail_run_run"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run", name=op.f("pk_run_tail")),
    )


def downgrade() -> None:
    op.drop_table("run_tail")
    op.drop_table("version")
    with op.batch_alter_table("run", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_run_space"))

    op.drop_table("run")
    with op.batch_alter_table("journal", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_journal_seq"))

    op.drop_table("journal")
    op.drop_table("token")
    op.drop_table("space")
    op.drop_table("file")
