import { readSpec } from '../../src/parts/spec.ts';
import { approvalOf, digest, type Line, written } from './approval.ts';
import { caseChanges } from './case-changes.ts';
import { type Recorded, services } from './documents.ts';
import { drawn } from './drawn.ts';
import { drawnShapes } from './drawn-shapes.ts';
import { carried, made, named } from './made.ts';
import { spoken } from './spoken.ts';
import { understood } from './understood.ts';

/**
 * What reading makes of many documents: a digest of each thing that follows from one. `node test/recorded/parts.ts --write` writes them
 * anew where they have changed on purpose; `--show NAME` tells one of them whole, so that two commits can be compared.
 */
export const readings = approvalOf('parts.txt', 'node test/recorded/parts.ts');

/** The documents that are recorded, or every so manyth. */
export function* readServices(every = 1, from = 0): Generator<Recorded> {
  yield* services({ times: 1, editsEach: 4, every, from });
}

export function* readCases(every = 1): Generator<Recorded> {
  // Every second lot says enough.
  yield* caseChanges('edited', 2 * every);
}

export function* read(all: Iterable<Recorded>): Generator<Line> {
  for (const one of all) {
    const aspects = Object.entries(readingOf(one)).map(([aspect, value]) => `${aspect} ${digest(value)}`);
    yield [one.name, aspects.join(' ')];
  }
}

function readingOf({ name, document }: Recorded): Readonly<Record<string, unknown>> {
  const spec = readSpec(document);
  const seed = name.length;
  return {
    ...understood(spec),
    expressions: spoken(spec, seed),
    values: made(spec, seed),
    older: carried(spec, seed),
    identifiers: named(spec),
  };
}

if (import.meta.main) {
  const all = [...readServices(), ...readCases()];
  const [how, name] = process.argv.slice(2);
  if (how === '--write') readings.write([...read(all), ...drawn(), ...drawnShapes()]);
  const shown = how === '--show' ? all.find((one) => one.name === name) : undefined;
  if (shown) console.log(written({ changes: shown.changes, ...readingOf(shown) }, 2));
}
