-- Version 2: the tasks of a fleet, what their workers did, and the workers (docs/fleet.md).
CREATE TABLE harness.tasks_tasks (
    scope text NOT NULL DEFAULT current_setting('harness.scope'),
    id text NOT NULL, number bigint GENERATED ALWAYS AS IDENTITY, key text NOT NULL, draft text NOT NULL,
    needs text NOT NULL,
    state text NOT NULL, since float8 NOT NULL, fence bigint NOT NULL, attempts bigint NOT NULL,
    worker text NOT NULL, machine text NOT NULL, reason text NOT NULL, outcome text, submitted float8 NOT NULL,
    PRIMARY KEY (scope, id)
);
CREATE UNIQUE INDEX tasks_of_key ON harness.tasks_tasks (scope, key) WHERE key <> '';
CREATE INDEX tasks_in_state ON harness.tasks_tasks (scope, state);
CREATE TABLE harness.tasks_effects (
    scope text NOT NULL DEFAULT current_setting('harness.scope'),
    task text NOT NULL, fence bigint NOT NULL, key text NOT NULL, number bigint GENERATED ALWAYS AS IDENTITY,
    text text NOT NULL, began float8 NOT NULL, outcome text, ended float8,
    PRIMARY KEY (scope, task, fence, key)
);
CREATE TABLE harness.tasks_records (
    scope text NOT NULL DEFAULT current_setting('harness.scope'),
    at float8 NOT NULL, task text NOT NULL, fence bigint NOT NULL, what text NOT NULL, text text NOT NULL,
    number bigint GENERATED ALWAYS AS IDENTITY
);
CREATE INDEX tasks_records_of_task ON harness.tasks_records (scope, task, number);
CREATE TABLE harness.tasks_workers (
    scope text NOT NULL DEFAULT current_setting('harness.scope'),
    id text NOT NULL, machine text NOT NULL, tags text NOT NULL, concurrency bigint NOT NULL,
    started float8 NOT NULL, seen float8 NOT NULL, draining bigint NOT NULL,
    PRIMARY KEY (scope, id)
);

CREATE SCHEMA harness_tasks;
CREATE VIEW harness_tasks.tasks AS
    SELECT id, number, key, draft, needs, state, since, fence, attempts, worker, machine, reason, outcome, submitted
    FROM harness.tasks_tasks WHERE scope = current_setting('harness.scope');
CREATE VIEW harness_tasks.effects AS
    SELECT task, fence, key, number, text, began, outcome, ended
    FROM harness.tasks_effects WHERE scope = current_setting('harness.scope');
CREATE VIEW harness_tasks.records AS
    SELECT at, task, fence, what, text, number
    FROM harness.tasks_records WHERE scope = current_setting('harness.scope');
CREATE VIEW harness_tasks.workers AS
    SELECT id, machine, tags, concurrency, started, seen, draining
    FROM harness.tasks_workers WHERE scope = current_setting('harness.scope');
