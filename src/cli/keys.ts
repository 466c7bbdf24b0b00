import type { Json, JsonMap } from '../document/document.ts';
import { isMap } from '../document/values.ts';
import { durationMs } from '../kinds/durations.ts';
import { runAdministration } from './administer.ts';
import { counted, shown, type Terminal } from './terminal.ts';
import { type Asked, Misspelt, Misuse, type Run } from './verb.ts';

/** `ninefold keys add|list|revoke|rotate DOC`. */
export const runKeys: Run = async (asked, terminal) =>
  runAdministration(asked, `keys ${asked.action}`, await inputOf(asked), tell, terminal);

/** The options that each action takes, besides `--store` and `--json`. */
const taken: Readonly<Record<string, readonly string[]>> = {
  add: ['user', 'id', 'scopes', 'scheme', 'expires', 'secret-stdin'],
  list: ['user', 'id'],
  revoke: ['key', 'user', 'id'],
  rotate: ['key', 'keep', 'secret-stdin'],
};

async function inputOf(asked: Asked): Promise<JsonMap> {
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
    ...(asked.has('expires') && { expiresMs: msOf(asked, 'expires') }),
    ...(asked.has('keep') && { keepMs: msOf(asked, 'keep') }),
    ...(asked.has('secret-stdin') && { secret: await standardInput() }),
  };
}

function msOf(asked: Asked, option: string): number {
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
function tell(action: string, told: Json, terminal: Terminal): void {
  const fields = isMap(told) ? told : {};
  if (action === 'list') terminal.write(table(Array.isArray(told) ? told : []));
  else if (action === 'revoke') {
    const revoked = Array.isArray(fields.revoked) ? fields.revoked : [];
    terminal.write(`Revoked ${revoked.map(String).join(', ')}.\n`);
  } else {
    const { key, user, id, expires, oldUntil, secret } = fields;
    const until = expires === undefined ? '' : `, until ${String(expires)}`;
    const old = oldUntil === undefined ? '' : ` The old one holds until ${String(oldUntil)}.`;
    const whose = shown(`${String(user)} ${String(id)}`);
    terminal.complain(`${String(key)}, for ${whose}${until}. It is shown this once and kept nowhere.${old}\n`);
    terminal.write(`${String(secret)}\n`);
  }
}

function table(keys: readonly Json[]): string {
  const header = ['key', 'scheme', 'user', 'id', 'scopes', 'made', 'until', 'looks like'];
  const rows = keys
    .filter(isMap)
    .map((key) => [
      ...[key.key, key.scheme, key.user, key.id].map((value) => shown(String(value))),
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
