import type { Json } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import { printable, type Terminal } from '../terminal.ts';
import { Misspelt, type VerbRun } from '../verb.ts';
import { runAdministration } from './administer.ts';

/** `ninefold erase DOC`. */
export const runErase: VerbRun = async (asked, terminal) => {
  const [user, id, rows] = [asked.value('user'), asked.value('id'), asked.values('row')];
  if (id === undefined && rows.length === 0)
    throw new Misspelt('erase needs to know who: --id ID, with --user USER, or a row: --row RESOURCE/ID.');
  const input = {
    ...(user !== undefined && { user }),
    ...(id !== undefined && { id }),
    rows,
    texts: asked.values('text'),
    ...(asked.has('yes') && { confirmed: true }),
  };
  return runAdministration(asked, 'erase', input, (_action, told) => tell(told, terminal), terminal);
};

const listedMost = 20;

function tell(told: Json, terminal: Terminal): void {
  const fields = isMap(told) ? told : {};
  const isDone = fields.erased === true;
  const counts = ['events', 'deliveries', 'answers', 'records', 'counters', 'keys'].map(
    (name) => `${String(fields[name])} ${name}`,
  );
  terminal.write(`${isDone ? 'Erased' : 'Would erase'} ${listed(fields.rows, 'row')}\n  ${counts.join(', ')}\n`);
  const left = Array.isArray(fields.left) ? fields.left : [];
  if (left.length > 0) terminal.write(`Named still by ${listed(left, 'row')}\n`);
  if (!isDone) terminal.complain('Nothing was changed; --yes does it.\n');
}

function listed(list: Json | undefined, noun: string): string {
  const names = Array.isArray(list) ? list.map(String) : [];
  const shown = names.slice(0, listedMost).map((name) => `\n  ${printable(name)}`);
  const more = names.length > listedMost ? [`\n  and ${names.length - listedMost} more`] : [];
  return `${names.length} ${noun}${names.length === 1 ? '' : 's'}${[...shown, ...more].join('')}`;
}
