import { existsSync, rmSync } from 'node:fs';
import {
  copyBefore,
  copyBetween,
  inMemory,
  isDatabase,
  namedBeside,
  openStore,
  reached,
  shownStore,
} from '../../serve/service/open-store.ts';
import { backUp, bringUp, flawsOf, restore } from '../../serve/service/stored/migrate.ts';
import { Misfits } from '../../serve/service/stored/renewing.ts';
import { complainUnsound } from '../check-text.ts';
import { misfitsText, planText, progressOf } from '../migration.ts';
import { reportOn } from '../reading.ts';
import { storeOf } from '../serve/settings.ts';
import { counted, type Terminal } from '../terminal.ts';
import { Misspelt, Misuse, type VerbCall, type VerbRun } from '../verb.ts';

/** `ninefold store check|migrate DOC`, `ninefold store backup|restore|copy`. */
export const runStore: VerbRun = async (asked, terminal) => {
  checkOptions(asked);
  const path = fileIn(asked, 'store');
  switch (asked.action) {
    case 'backup':
      return backedUp(asked, path, terminal);
    case 'restore':
      return restored(asked, path, terminal);
    case 'copy':
      return copied(asked, path, terminal);
    default:
      return broughtUp(asked, path, terminal);
  }
};

/** The options that each action takes, besides `--store` and `--json`. */
const taken: Readonly<Record<string, readonly string[]>> = {
  check: ['from', 'rename', 'drop'],
  migrate: ['from', 'rename', 'drop'],
  backup: ['copy'],
  restore: ['copy'],
  copy: ['to'],
};

function checkOptions(asked: VerbCall): void {
  const { action } = asked;
  const options = taken[action] ?? [];
  for (const option of new Set(Object.values(taken).flat()))
    if (asked.has(option) && !options.includes(option)) throw new Misspelt(`store ${action} takes no --${option}.`);
  const isOverDocument = options.includes('from');
  if (isOverDocument && asked.document === '')
    throw new Misspelt(`store ${action} needs a document: ninefold store ${action} service.md.`);
  if (!isOverDocument && asked.document !== '')
    throw new Misspelt(`store ${action} takes no document; it copies what is there as it is.`);
}

function fileIn(asked: VerbCall, option: string): string {
  const path = option === 'store' ? storeOf(asked) : asked.value(option);
  if (path !== undefined && isDatabase(path) && (asked.action === 'backup' || asked.action === 'restore'))
    throw new Misuse(
      `store ${asked.action} is for files of SQLite. Of a database, pg_dump and pg_restore do the same; see docs/operate.md.`,
    );
  if (path === undefined || path === inMemory) throw new Misspelt(`store ${asked.action} needs a file: --${option} FILE.`);
  return path;
}

/** Everything of one store in another, empty one, which holds the same then, or nothing. */
async function copied(asked: VerbCall, path: string, terminal: Terminal): Promise<number> {
  const to = fileIn(asked, 'to');
  if (!isDatabase(path)) demandFile(path);
  if (to === path) throw new Misuse('--to: name another store than --store.');
  const isNew = !isDatabase(to) && !existsSync(to);
  const [from, target] = [shownStore(path), shownStore(to)];
  const tables = await copyBetween(path, to, progressOf(terminal.complain)).catch((error: unknown) => {
    if (isNew) removeStore(to);
    throw new Misuse(`${messageOf(error)}.`, { cause: error });
  });
  const rows = tables.values().reduce((sum, count) => sum + count, 0);
  const text = `${counted(rows, 'row')} of ${counted(tables.size, 'table')} of ${from} are in ${target} too, each the same.`;
  tell(asked, terminal, { store: from, to: target, rows, tables: Object.fromEntries(tables) }, text);
  return 0;
}

function removeStore(path: string): void {
  for (const part of ['', '-wal', '-shm']) rmSync(`${path}${part}`, { force: true });
}

/** A store that is there: one that is not would be made. */
function demandFile(path: string): void {
  if (!existsSync(path)) throw new Misuse(`${path}: no such file.`);
}

/** What came of it, for a program and for a person. */
function tell(asked: VerbCall, terminal: Terminal, told: Readonly<Record<string, unknown>>, text: string): void {
  terminal.write(asked.has('json') ? `${JSON.stringify(told, undefined, 2)}\n` : `${text}\n`);
}

async function backedUp(asked: VerbCall, path: string, terminal: Terminal): Promise<number> {
  const copy = fileIn(asked, 'copy');
  demandFile(path);
  carriedOut(() => backUp(path, copy));
  tell(asked, terminal, { store: path, copy }, `${path} is copied to ${copy}, which is whole.`);
  return 0;
}

async function restored(asked: VerbCall, path: string, terminal: Terminal): Promise<number> {
  const copy = fileIn(asked, 'copy');
  demandFile(copy);
  const kept = existsSync(path) ? namedBeside(path, Date.now()) : undefined;
  carriedOut(() => restore(path, copy, kept ?? ''));
  const before = kept === undefined ? '' : ` What was there is kept in ${kept}.`;
  tell(asked, terminal, { store: path, copy, ...(kept !== undefined && { kept }) }, `${path} is what ${copy} has.${before}`);
  return 0;
}

function carriedOut<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new Misuse(`${messageOf(error)}.`, { cause: error });
  }
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replace(/\.$/, '');
}

/** `check` finds out what `migrate` would do, and looks at all pages of the file. */
async function broughtUp(asked: VerbCall, path: string, terminal: Terminal): Promise<number> {
  const isTrial = asked.action === 'check';
  const report = await reportOn(asked.document);
  if (!report.sound) {
    complainUnsound(report, asked.document, terminal);
    return 1;
  }
  if (!isDatabase(path)) demandFile(path);
  const flaws = isTrial && !isDatabase(path) ? carriedOut(() => flawsOf(path)) : [];
  if (flaws.length > 0) {
    const text = [`${path} is damaged; restore a copy of it with ninefold store restore:`, ...flaws.map((flaw) => `  ${flaw}`)];
    tell(asked, terminal, { store: path, fits: false, flaws }, text.join('\n'));
    return 1;
  }
  const opened = carriedOut(() => openStore(path, { lockMs: 200 }));
  const store = await reached(opened).catch((error: unknown) => {
    throw new Misuse(`${messageOf(error)}.`, { cause: error });
  });
  const shown = shownStore(path);
  let copy: string | undefined;
  let plan: readonly string[] = [];
  try {
    const { renewed } = await bringUp(report.spec, store, {
      ...meant(asked),
      isTrial,
      progress: progressOf(terminal.complain),
      async before(planned) {
        plan = planned;
        if (!isTrial) copy = await copyBefore(store, path, Date.now());
      },
    });
    const done = isTrial ? '' : ` ${counted(renewed, 'row')} changed.`;
    const nothing = `${shown} fits this document; there is nothing to do.`;
    const text =
      plan.length === 0 ? nothing : `${planText(plan, shown, copy)}${isTrial ? '\nEvery row would fit.' : `\nDone.${done}`}`;
    tell(
      asked,
      terminal,
      { store: shown, fits: true, plan, ...(isTrial ? {} : { renewed }), ...(copy !== undefined && { copy }) },
      text,
    );
    return 0;
  } catch (error) {
    if (!(error instanceof Misfits)) throw carriedOver(error);
    const { rows, reasons } = error;
    const text = `${misfitsText(error)}\nNothing was changed.`;
    tell(asked, terminal, { store: shown, fits: false, plan, rows, reasons }, text);
    return 1;
  } finally {
    await store.close();
  }
}

function carriedOver(error: unknown): unknown {
  return error instanceof Error && error.name === 'Error' ? new Misuse(`${messageOf(error)}.`, { cause: error }) : error;
}

/** What is said of the rows by hand. */
function meant(asked: VerbCall) {
  const from = asked.value('from');
  const renamed = asked.values('rename').map((text) => {
    const [old = '', name = '', more] = text.split('=');
    if (old === '' || name === '' || more !== undefined)
      throw new Misspelt(`--rename ${text}: write the old name and the new one, as in --rename courier=driver.`);
    return { from: old, to: name };
  });
  return { ...(from !== undefined && { from }), renamed, dropped: asked.values('drop') };
}
