import type { Json, JsonMap } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import type { Store } from '../../index.ts';
import { durationMs } from '../../kinds/measures.ts';
import type { Spec } from '../../parts/spec.ts';
import { Credentials } from '../../serve/callers/credentials.ts';
import { systemChance, systemClock } from '../../serve/http/clock.ts';
import { compileAdmin } from '../../serve/service/admin/administer.ts';
import { Unfit } from '../../serve/service/admin/command.ts';
import { inMemory, isLocked, openStore, reached } from '../../serve/service/open-store.ts';
import { complainUnsound } from '../check-text.ts';
import { reportOn } from '../reading.ts';
import { askRunning } from '../serve/doors.ts';
import { storeOf } from '../serve/settings.ts';
import { counted, paint, printable, type Terminal } from '../terminal.ts';
import { Misspelt, Misuse, type VerbCall, type VerbRun } from '../verb.ts';

/** How long to wait for whoever is just letting go of the data. */
const lockMs = 200;

/** Carries out an administrator's command on the data of a document, and tells what came of it; the exit code. */
export async function runAdministration(
  asked: VerbCall,
  command: string,
  input: JsonMap,
  tell: (action: string, told: Json, terminal: Terminal) => void,
  terminal: Terminal,
): Promise<number> {
  const report = await reportOn(asked.document);
  if (!report.sound) {
    complainUnsound(report, asked.document, terminal);
    return 1;
  }
  try {
    const told = await administer(storeOf(asked), report.spec, command, input);
    if (asked.has('json')) terminal.write(`${JSON.stringify(told, undefined, 2)}\n`);
    else tell(asked.action, told, terminal);
    return 0;
  } catch (error) {
    if (!(error instanceof Unfit)) throw error;
    terminal.complain(`ninefold: ${error.message}\n`);
    return 1;
  }
}

/**
 * Carries out an administrator's command on the data in a file: through the service that runs over it, or, where none does, in
 * the file itself.
 * @throws {Unfit} where the command cannot be carried out as it was given.
 */
async function administer(path: string | undefined, spec: Spec, command: string, input: JsonMap): Promise<Json> {
  if (path === undefined || path === inMemory) throw new Misspelt(`${command} needs the data that it is about: --store FILE.`);
  const store = await opened(path);
  if (!store) return askRunning(path, command, input);
  try {
    const over = { store, clock: systemClock, chance: systemChance, spec: () => spec };
    return await compileAdmin({ ...over, credentials: new Credentials(store, systemChance) })(command, input);
  } finally {
    await store.close();
  }
}

/** The data in a file; nothing where a process holds it. */
async function opened(path: string): Promise<Store | undefined> {
  try {
    return await reached(openStore(path, { lockMs }));
  } catch (error) {
    if (isLocked(error)) return undefined;
    throw new Misuse(`${error instanceof Error ? error.message : String(error)}.`, { cause: error });
  }
}

/** `ninefold keys add|list|revoke|rotate DOC`. */
export const runKeys: VerbRun = async (asked, terminal) =>
  runAdministration(
    asked,
    `keys ${asked.action}`,
    await inputOf(asked),
    (action, told) => tell(action, told, terminal, asked.has('secret-stdin')),
    terminal,
  );

/** The options that each action takes, besides `--store` and `--json`. */
const taken: Readonly<Record<string, readonly string[]>> = {
  add: ['user', 'id', 'scopes', 'attribute', 'scheme', 'expires', 'secret-stdin'],
  list: ['user', 'id'],
  revoke: ['key', 'user', 'id'],
  rotate: ['key', 'keep', 'secret-stdin'],
};

async function inputOf(asked: VerbCall): Promise<JsonMap> {
  const { action } = asked;
  const options = taken[action] ?? [];
  for (const option of new Set(Object.values(taken).flat())) {
    if (asked.has(option) && !options.includes(option)) throw new Misspelt(`keys ${action} takes no --${option}.`);
  }
  if (action === 'add' && !asked.has('id')) throw new Misspelt('keys add needs the identifier of the caller: --id ID.');
  if (action === 'rotate' && !asked.has('key')) throw new Misspelt('keys rotate needs the name of the key: --key KEY.');
  if (action === 'revoke' && !asked.has('key') && !(asked.has('user') && asked.has('id')))
    throw new Misspelt('keys revoke needs the name of the key, --key KEY, or its caller, --user USER --id ID.');
  const scopes = asked.values('scopes').flatMap((value) => value.split(','));
  const words = ['user', 'id', 'scheme', 'key'].flatMap((name) => (asked.has(name) ? [[name, asked.value(name) ?? '']] : []));
  return {
    ...Object.fromEntries(words),
    ...(scopes.length > 0 && { scopes: scopes.map((scope) => scope.trim()).filter((scope) => scope !== '') }),
    ...(asked.has('attribute') && { attributes: attributesOf(asked.values('attribute')) }),
    ...(asked.has('expires') && { expiresMs: msOf(asked, 'expires') }),
    ...(asked.has('keep') && { keepMs: msOf(asked, 'keep') }),
    ...(asked.has('secret-stdin') && { secret: await standardInput() }),
  };
}

/** `tenant=acme` as a map. */
function attributesOf(values: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    values.map((value) => {
      const at = value.indexOf('=');
      if (at < 1) throw new Misuse(`--attribute ${value}: write NAME=VALUE.`);
      return [value.slice(0, at), value.slice(at + 1)];
    }),
  );
}

function msOf(asked: VerbCall, option: string): number {
  const text = asked.value(option) ?? '';
  const ms = durationMs(text);
  if (ms === undefined) throw new Misuse(`--${option} ${text}: that is no duration; write for example 90d, 24h or 30m.`);
  return ms;
}

/** What comes in, without the line's end. */
async function standardInput(): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of process.stdin) pieces.push(piece as Buffer);
  return Buffer.concat(pieces)
    .toString('utf8')
    .replace(/\r?\n$/, '');
}

/** A key alone goes to the standard output, so that it can be piped to where it belongs; the rest is told beside it. */
function tell(action: string, told: Json, terminal: Terminal, isGiven: boolean): void {
  const fields = isMap(told) ? told : {};
  if (action === 'list') terminal.write(table(Array.isArray(told) ? told : []));
  else if (action === 'revoke') {
    const revoked = Array.isArray(fields.revoked) ? fields.revoked : [];
    terminal.write(`Revoked ${revoked.map(String).join(', ')}.\n`);
  } else {
    const { key, user, id, expires, oldUntil, secret, signs } = fields;
    const until = expires === undefined ? '' : `, until ${String(expires)}`;
    const old = oldUntil === undefined ? '' : ` The old one holds until ${String(oldUntil)}.`;
    const whose = printable(`${String(user)} ${String(id)}`);
    const shown =
      signs === undefined
        ? ' It is shown this once and kept nowhere.'
        : ` Requests are signed with it (${String(signs)}), under the name of the key; it is shown this once.`;
    // Whoever gave the secret knows it.
    terminal.complain(`${String(key)}, for ${whose}${until}.${isGiven ? '' : shown}${old}\n`);
    if (!isGiven) terminal.write(`${String(secret)}\n`);
  }
}

function table(keys: readonly Json[]): string {
  const header = ['key', 'scheme', 'user', 'id', 'scopes', 'made', 'until', 'looks like'];
  const rows = keys
    .filter(isMap)
    .map((key) => [
      ...[key.key, key.scheme, key.user, key.id].map((value) => printable(String(value))),
      Array.isArray(key.scopes) && key.scopes.length > 0 ? key.scopes.join(',') : '-',
      ...[String(key.created).slice(0, 10), key.expires === undefined ? '-' : String(key.expires).slice(0, 10)],
      `${String(key.hint)}${key.expired === true ? ' (expired)' : ''}`,
    ]);
  const widths = header.map((name, column) => Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const lines = [header, ...rows].map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return `${lines.join('\n')}\n${counted(rows.length, 'key')}\n`;
}

/** `ninefold deliveries list|show|resend DOC`. */
export const runDeliveries: VerbRun = async (asked, terminal) =>
  runAdministration(asked, `deliveries ${asked.action}`, deliveriesInput(asked), tellDeliveries, terminal);

function deliveriesInput(asked: VerbCall): JsonMap {
  const { action } = asked;
  const id = asked.value('id');
  const failed = asked.has('failed');
  if (action === 'list' && id !== undefined) throw new Misspelt('deliveries list takes no --id; deliveries show does.');
  if (action === 'show' && (id === undefined || failed))
    throw new Misspelt('deliveries show needs a delivery or an event: --id ID.');
  if (action === 'resend' && (id === undefined) === !failed)
    throw new Misspelt('deliveries resend needs what to send again: --id ID, or --failed for all that were given up.');
  return { ...(id !== undefined && { id }), ...(failed && { failed }) };
}

function tellDeliveries(action: string, told: Json, terminal: Terminal): void {
  if (action === 'resend') {
    const { resent, running } = isMap(told) ? told : {};
    const count = countOf(Array.isArray(resent) ? resent.length : 0);
    const when = running === true ? 'sent again now' : 'sent again when the service is next started';
    terminal.write(`${count} to be ${when}.\n`);
    return;
  }
  const list = (Array.isArray(told) ? told : []).filter(isMap);
  for (const delivery of list) terminal.write(deliveryText(delivery, terminal));
  if (action === 'list') terminal.write(`${countOf(list.length)}\n`);
}

function countOf(count: number): string {
  return `${count.toLocaleString('en')} ${count === 1 ? 'delivery' : 'deliveries'}`;
}

function deliveryText(delivery: JsonMap, terminal: Terminal): string {
  const state = String(delivery.state);
  const style = state === 'accepted' ? 'green' : state === 'given up' ? 'red' : 'yellow';
  const words = [delivery.event, delivery.kind, delivery.about, `to ${String(delivery.subscriber)}`];
  const last = delivery.last === undefined ? [] : [`last ${String(delivery.last)}`];
  const due = delivery.due === undefined ? [] : [`due ${String(delivery.due)}`];
  const line = [...words.filter((word) => word !== undefined), ...last, ...due].map((word) => printable(String(word))).join('  ');
  const attempts = Array.isArray(delivery.attempts) ? delivery.attempts.filter(isMap).map(attemptText) : [];
  return [`${String(delivery.delivery).padEnd(8)}${paint(terminal, style, state.padEnd(18))}${line}`, ...attempts, ''].join('\n');
}

function attemptText({ at, ms, status, error, response }: JsonMap): string {
  const came = printable(String(status ?? error));
  const said = response === undefined ? '' : `  ${printable(String(response).replace(/\s+/g, ' ').slice(0, 200))}`;
  return `        ${String(at)}  ${String(ms)} ms  ${came}${said}`;
}
