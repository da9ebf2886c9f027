-- A file of schema version 1, dumped from what the last build with that version wrote.
BEGIN TRANSACTION;
CREATE TABLE attempts (id TEXT NOT NULL UNIQUE, seq INTEGER NOT NULL, at INTEGER NOT NULL);
INSERT INTO "attempts" VALUES('attempt-1',2,1795261573481014120);
INSERT INTO "attempts" VALUES('attempt-3',1,1795261573481983572);
CREATE TABLE blobs (hash TEXT PRIMARY KEY, data BLOB NOT NULL);
INSERT INTO "blobs" VALUES('2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824',X'68656C6C6F');
CREATE TABLE counters (name TEXT PRIMARY KEY, nano INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO "counters" VALUES('month/2026-11',7);
INSERT INTO "counters" VALUES('run/run-of-version-1/usd',5);
CREATE TABLE journal (
	run TEXT NOT NULL, seq INTEGER NOT NULL, strand TEXT NOT NULL, at TEXT NOT NULL,
	kind TEXT NOT NULL, v INTEGER NOT NULL DEFAULT 1, body TEXT NOT NULL
);
INSERT INTO "journal" VALUES('run-of-version-1',1,'main','2026-11-21T11:46:13.481014120Z','person.said',1,'{"by":"terminal","text":"opens","trusted":true}');
INSERT INTO "journal" VALUES('run-of-version-1',2,'main','2026-11-21T11:46:13.481014120Z','person.said',1,'{"by":"terminal","text":"goes on","trusted":true}');
INSERT INTO "journal" VALUES('run-of-version-1',3,'main','2026-11-21T11:46:13.481681286Z','person.said',1,'{"by":"terminal","text":"decides","trusted":true}');
INSERT INTO "journal" VALUES('ended-in-version-1',1,'main','2026-11-21T11:46:13.481983572Z','person.said',1,'{"by":"terminal","text":"over","trusted":true}');
CREATE TABLE once (key TEXT PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO "once" VALUES('message-1',1795261573481014120);
CREATE TABLE runs (
	run TEXT PRIMARY KEY, length INTEGER NOT NULL, started INTEGER NOT NULL,
	newest INTEGER NOT NULL, ended INTEGER
) WITHOUT ROWID;
INSERT INTO "journal" VALUES('ended-in-version-1',2,'main','2026-11-21T11:46:13.481983572Z','tool.outcome',1,'{"effect":"e1","state":"ok","trust":"untrusted","text":"he","artifact":"2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"}');
INSERT INTO "blobs" VALUES('1f825aa2f0020ef7cf91dfa30da4668d791c5d4824fc8e41354b89ec05795ab3',X'6E6F626F64792773');
INSERT INTO "runs" VALUES('ended-in-version-1',2,1795261573481983572,1795261573481983572,1795261573481983572);
INSERT INTO "runs" VALUES('run-of-version-1',3,1795261573481014120,1795261573481681286,NULL);
CREATE TABLE snapshots (run TEXT PRIMARY KEY, seq INTEGER NOT NULL, data BLOB NOT NULL);
INSERT INTO "snapshots" VALUES('run-of-version-1',2,X'666F6C64');
CREATE TABLE strands (
	run TEXT NOT NULL, strand TEXT NOT NULL, epoch INTEGER NOT NULL DEFAULT 0, turn INTEGER NOT NULL DEFAULT 0,
	due INTEGER, leased INTEGER NOT NULL DEFAULT 0,
	attempt TEXT NOT NULL DEFAULT '', seq INTEGER NOT NULL DEFAULT 0, at INTEGER NOT NULL DEFAULT 0,
	PRIMARY KEY (run, strand)
) WITHOUT ROWID;
INSERT INTO "strands" VALUES('run-of-version-1','main',1,1,1795261573481681286,0,'attempt-2',3,1795261573481681286);
CREATE UNIQUE INDEX journal_run ON journal (run, seq);
CREATE INDEX runs_ended ON runs (ended) WHERE ended IS NOT NULL;
CREATE INDEX strands_due ON strands (due) WHERE due IS NOT NULL;
COMMIT;
PRAGMA user_version = 1;
