/** The tables of events. What is looked for while delivering is found by an index that holds nothing else. */
export const OUTBOX_TABLES = `
  CREATE TABLE IF NOT EXISTS ninefold_events (
    seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, at INTEGER NOT NULL, operation TEXT NOT NULL,
    resource TEXT, "row" TEXT, payload TEXT NOT NULL, image TEXT
  );
  CREATE TABLE IF NOT EXISTS ninefold_deliveries (
    seq INTEGER PRIMARY KEY, event INTEGER NOT NULL, subscriber TEXT NOT NULL, lane TEXT, tries INTEGER NOT NULL,
    due INTEGER, settled INTEGER, outcome TEXT
  );
  CREATE INDEX IF NOT EXISTS ninefold_deliveries_due ON ninefold_deliveries (subscriber, due, seq) WHERE due IS NOT NULL;
  CREATE INDEX IF NOT EXISTS ninefold_deliveries_lane ON ninefold_deliveries (lane) WHERE settled IS NULL AND lane IS NOT NULL;
  CREATE INDEX IF NOT EXISTS ninefold_deliveries_settled ON ninefold_deliveries (settled) WHERE settled IS NOT NULL;
  CREATE INDEX IF NOT EXISTS ninefold_deliveries_failed ON ninefold_deliveries (seq) WHERE outcome = 'given up';
  CREATE INDEX IF NOT EXISTS ninefold_deliveries_event ON ninefold_deliveries (event);
  CREATE TABLE IF NOT EXISTS ninefold_attempts (
    delivery INTEGER, n INTEGER, at INTEGER NOT NULL, took INTEGER NOT NULL, status INTEGER, error TEXT, response TEXT,
    PRIMARY KEY (delivery, n)
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS ninefold_subscribers (id TEXT PRIMARY KEY, state TEXT NOT NULL) WITHOUT ROWID;`;
