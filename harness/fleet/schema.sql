-- The tables of a fleet, version 1 (docs/fleet.md). A store of one machine is a file; here it is a scope of the tables
-- of its kind. The stores see views with the names and columns of their files: a view shows the rows of the scope of the
-- transaction, and new rows get it by default.
CREATE SCHEMA harness;
CREATE TABLE harness.version (number bigint NOT NULL);
CREATE TABLE harness.scopes (
    kind text, scope text, since timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (kind, scope)
);
-- The last transaction of each connection, by which one whose answer was lost is recognized.
CREATE TABLE harness.receipts (client text PRIMARY KEY, number bigint NOT NULL, at timestamptz NOT NULL DEFAULT now());

CREATE TABLE harness.slots_claims (
    scope text NOT NULL DEFAULT current_setting('harness.scope'),
    place bigint GENERATED ALWAYS AS IDENTITY,
    id text NOT NULL,
    session text NOT NULL, host text NOT NULL, pid bigint NOT NULL, born text NOT NULL,
    label text NOT NULL, lease_s float8 NOT NULL, most bigint NOT NULL,
    since float8 NOT NULL, started float8, expires float8 NOT NULL,
    PRIMARY KEY (scope, id)
);
CREATE TABLE harness.slots_cells (
    scope text NOT NULL DEFAULT current_setting('harness.scope'),
    name text NOT NULL, text text NOT NULL, PRIMARY KEY (scope, name)
);
CREATE TABLE harness.slots_looked (
    scope text PRIMARY KEY DEFAULT current_setting('harness.scope'), at float8 NOT NULL
);

CREATE TABLE harness.board_tasks (
    scope text NOT NULL DEFAULT current_setting('harness.scope'),
    number bigint NOT NULL,
    subject text NOT NULL, description text NOT NULL, state text NOT NULL, priority bigint NOT NULL,
    creator text NOT NULL, assignee text NOT NULL, fence bigint NOT NULL, attempts bigint NOT NULL,
    note text NOT NULL, created float8 NOT NULL, updated float8 NOT NULL,
    PRIMARY KEY (scope, number)
);
CREATE INDEX board_in_order ON harness.board_tasks (scope, state, priority, number);
CREATE TABLE harness.board_needs (
    scope text NOT NULL DEFAULT current_setting('harness.scope'),
    task bigint NOT NULL, need bigint NOT NULL, position bigint NOT NULL, PRIMARY KEY (scope, task, need)
);
CREATE INDEX board_needed ON harness.board_needs (scope, need);
CREATE TABLE harness.board_claims (
    scope text NOT NULL DEFAULT current_setting('harness.scope'),
    task bigint NOT NULL, actor text NOT NULL, expires float8 NOT NULL,
    session text NOT NULL, host text NOT NULL, pid bigint NOT NULL, born text NOT NULL,
    PRIMARY KEY (scope, task)
);
CREATE TABLE harness.board_history (
    scope text NOT NULL DEFAULT current_setting('harness.scope'),
    at float8 NOT NULL, task bigint NOT NULL, actor text NOT NULL, what text NOT NULL, text text NOT NULL,
    rowid bigint GENERATED ALWAYS AS IDENTITY
);
CREATE INDEX board_of_task ON harness.board_history (scope, task, rowid);
CREATE TABLE harness.board_broken (
    scope text NOT NULL DEFAULT current_setting('harness.scope'), task bigint NOT NULL, "row" text NOT NULL
);
CREATE TABLE harness.board_facts (
    scope text PRIMARY KEY DEFAULT current_setting('harness.scope'),
    last bigint NOT NULL, version bigint NOT NULL, looked float8 NOT NULL
);

CREATE TABLE harness.mail_boxes (
    scope text NOT NULL DEFAULT current_setting('harness.scope'),
    name text NOT NULL, generation bigint NOT NULL, cursor bigint NOT NULL, ended text NOT NULL,
    PRIMARY KEY (scope, name, generation)
);
CREATE TABLE harness.mail_mail (
    scope text NOT NULL DEFAULT current_setting('harness.scope'),
    id bigint GENERATED ALWAYS AS IDENTITY,
    sender text NOT NULL, sender_generation bigint NOT NULL,
    recipient text NOT NULL, recipient_generation bigint NOT NULL,
    kind text NOT NULL, body text NOT NULL, sent_at float8 NOT NULL, key text NOT NULL,
    PRIMARY KEY (scope, id)
);
CREATE INDEX mail_of_recipient ON harness.mail_mail (scope, recipient, recipient_generation, id);
CREATE INDEX mail_of_key ON harness.mail_mail (scope, sender, sender_generation, key);
CREATE TABLE harness.mail_unreadable (
    scope text NOT NULL DEFAULT current_setting('harness.scope'), id bigint NOT NULL, PRIMARY KEY (scope, id)
);

CREATE TABLE harness.schedule_jobs (
    scope text NOT NULL DEFAULT current_setting('harness.scope'),
    number bigint NOT NULL, session text NOT NULL, job text NOT NULL, PRIMARY KEY (scope, number)
);
CREATE TABLE harness.schedule_broken (
    scope text NOT NULL DEFAULT current_setting('harness.scope'), number bigint NOT NULL, job text NOT NULL
);
CREATE TABLE harness.schedule_facts (
    scope text PRIMARY KEY DEFAULT current_setting('harness.scope'), last bigint NOT NULL
);
CREATE TABLE harness.schedule_owner (
    scope text PRIMARY KEY DEFAULT current_setting('harness.scope'),
    session text NOT NULL, host text NOT NULL, pid bigint NOT NULL, born text NOT NULL, expires float8 NOT NULL
);

-- As in SQLite, for numbers: the views and this function stand before those of Postgres in the search path.
CREATE FUNCTION harness.json_each(numbers text) RETURNS TABLE (value bigint) LANGUAGE sql IMMUTABLE AS
    $$ SELECT number::bigint FROM json_array_elements_text(numbers::json) AS number $$;

DO $$
DECLARE
    kind text;
    part record;
BEGIN
    FOREACH kind IN ARRAY ARRAY['slots', 'board', 'mail', 'schedule'] LOOP
        EXECUTE format('CREATE SCHEMA harness_%s', kind);
        FOR part IN
            SELECT table_name::text AS whole, string_agg(format('%I', column_name), ', ' ORDER BY ordinal_position) AS columns
            FROM information_schema.columns
            WHERE table_schema = 'harness' AND table_name LIKE kind || '\_%' AND column_name <> 'scope' GROUP BY table_name
        LOOP
            EXECUTE format(
                'CREATE VIEW harness_%s.%I AS SELECT %s FROM harness.%I WHERE scope = current_setting(''harness.scope'')',
                kind, substr(part.whole, length(kind) + 2), part.columns, part.whole
            );
        END LOOP;
    END LOOP;
END $$;
