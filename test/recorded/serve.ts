import { approvalOf, digest, type Line, written } from './approval.ts';
import { originals, type Recorded, seedOf } from './documents.ts';
import { type Turn, talk } from './talk.ts';
import { wire } from './wire.ts';

/**
 * What services answer in conversations: the statuses of some turns after each other, and a digest of all that was asked and answered.
 * `node test/recorded/serve.ts --write` writes them anew where they have changed on purpose; `--show NAME` tells a conversation whole.
 */
export const conversations = approvalOf('serve.txt', 'node test/recorded/serve.ts');

/** The services that are talked to, every second one of those that are known, or of these every so manyth, from one on. */
export function servedDocuments(every = 1, from = 0): Recorded[] {
  return [...originals(2)].filter((_one, at) => at % every === from);
}

/** What is said in the conversations with documents: as themselves, as stand-ins, and with credentials. */
export async function spokenWith(documents: readonly Recorded[]): Promise<Line[]> {
  const lines: Line[] = [];
  for (const one of documents)
    for (const way of ways) for (const line of linesOf(`${one.name}.${way}`, await talked(one, way))) lines.push(line);
  return lines;
}

const ways = ['own', 'stand-in', 'keyed'] as const;
const turnsOf = { own: 75, 'stand-in': 30, keyed: 30 };

function talked({ name, document }: Recorded, way: (typeof ways)[number]): Promise<Turn[]> {
  const seed = seedOf(`${name} ${way}`);
  return talk(document, { turns: turnsOf[way], seed, ...(way !== 'own' && { as: way }) });
}

function* linesOf(name: string, turns: readonly Turn[]): Generator<Line> {
  for (let from = 0; from < turns.length; from += turnsOfALine) {
    const some = turns.slice(from, from + turnsOfALine);
    yield [`${name}.${from}`, `${digest(some)} ${some.map(({ status }) => status).join(' ')}`];
  }
}

const turnsOfALine = 15;

if (import.meta.main) {
  const [how, named = ''] = process.argv.slice(2);
  if (how === '--write') conversations.write([...(await spokenWith(servedDocuments())), ...wire()]);
  const shown = how === '--show' ? servedDocuments().find(({ name }) => named.startsWith(`${name}.`)) : undefined;
  const way = ways.find((one) => named.includes(`.${one}.`));
  if (shown && way) console.log(written(await talked(shown, way), 2));
}
