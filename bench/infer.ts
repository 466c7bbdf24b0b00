/** How often what is inferred of an operation is right, held to operations labelled by hand (`bench/inference/labels.tsv`). */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Json } from '../src/document/document.ts';
import { below } from '../src/document/pointer.ts';
import { isMap } from '../src/document/values.ts';
import { readDocument } from '../src/index.ts';
import { asMarkdown, asText, type Table } from './table.ts';

/** One operation with the effect that it has by its description: a verb and a part of the resource's name, or `-` and why it has none. */
interface Label {
  readonly file: string;
  readonly operation: string;
  readonly verbs: readonly string[];
  readonly nouns: readonly string[];
}

/** What was inferred of a labelled operation. */
interface Judged {
  readonly label: Label;
  readonly inferred: string | undefined;
  readonly confidence: number;
  readonly isRight: boolean;
}

/** What is asked of the confident: of those inferred at 0.9 and above, this share is right. */
const leastRight = 0.98;

/** Runs it and prints the table; gives the exit code. */
export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      corpus: { type: 'string' },
      list: { type: 'boolean', default: false },
      markdown: { type: 'boolean', default: false },
      strict: { type: 'boolean', default: false },
    },
  });
  if (values.corpus === undefined) {
    console.log('Say where the documents are: npm run bench infer -- --corpus DIR');
    return 2;
  }
  const judged: Judged[] = [];
  for (const [file, labels] of Map.groupBy(readLabels(), (label) => label.file)) {
    if (!existsSync(join(values.corpus, file))) {
      console.log(`${file} is not there: ${labels.length} operations are left out`);
      continue;
    }
    const { tree } = await readDocument(join(values.corpus, file));
    judged.push(...labels.map((label) => judge(tree, label)));
  }
  if (values.list) for (const one of judged) if (!one.isRight) console.log(lineOf(one));
  const table = tableOf(judged);
  console.log(values.markdown ? asMarkdown(table) : asText(table));
  const sure = judged.filter(({ inferred, confidence }) => inferred !== undefined && confidence >= 0.9);
  return values.strict && sure.filter(({ isRight }) => isRight).length < leastRight * sure.length ? 1 : 0;
}

function readLabels(): Label[] {
  const text = readFileSync(join(import.meta.dirname, 'inference/labels.tsv'), 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [file = '', operation = '', effect = ''] = line.split('\t');
      const [verbs = '', nouns = ''] = effect.split(' ');
      return { file, operation, verbs: verbs.split('|'), nouns: nouns.split('|') };
    });
}

function judge(tree: Readonly<Record<string, Json>>, label: Label): Judged {
  const { endpoints, evidence } = tree;
  const plain = (key: string) => key.replaceAll(/\{[^{}]*\}/g, '{}');
  // What a parameter of a path is called is no part of the operation.
  const named = isMap(endpoints) ? Object.keys(endpoints) : [];
  const key = named.find((one) => one === label.operation) ?? named.find((one) => plain(one) === plain(label.operation)) ?? '';
  const endpoint = isMap(endpoints) ? endpoints[key] : undefined;
  if (!isMap(endpoint)) throw new Error(`${label.file} has no ${label.operation}.`);
  const does = typeof endpoint.does === 'string' && endpoint.does !== 'reply' ? endpoint.does : undefined;
  const fact = below(below('/endpoints', key), 'does');
  const row = (Array.isArray(evidence) ? evidence : []).find((one) => isMap(one) && one.fact === fact);
  const confidence = isMap(row) && typeof row.confidence === 'number' ? row.confidence : 0;
  return { label, inferred: does, confidence, isRight: isRight(label, does) };
}

function isRight({ verbs, nouns }: Label, does: string | undefined): boolean {
  if (does === undefined) return verbs.includes('-');
  const [verb = '', resource = ''] = does.split(' ');
  return verbs.includes(verb) && nouns.some((noun) => letters(resource).includes(letters(noun)));
}

function letters(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z]/g, '');
}

function tableOf(judged: readonly Judged[]): Table {
  const effects = judged.filter(({ label }) => !label.verbs.includes('-'));
  const rows = [0.9, 0.7, 0].map((least) => {
    const some = judged.filter(({ inferred, confidence }) => inferred !== undefined && confidence >= least);
    const right = some.filter(({ isRight }) => isRight).length;
    const found = `${right} of ${effects.length} (${share(right, effects.length)})`;
    return [least === 0 ? 'any' : `at least ${least}`, String(some.length), `${right} (${share(right, some.length)})`, found];
  });
  return [[`confidence (${judged.length} operations)`, 'inferred', 'right', 'of the effects that are there'], ...rows];
}

function share(part: number, whole: number): string {
  return whole === 0 ? '-' : `${((part / whole) * 100).toFixed(1)} %`;
}

function lineOf({ label, inferred, confidence }: Judged): string {
  const meant = `${label.verbs.join('|')} ${label.nouns.join('|')}`;
  return `${label.file}  ${label.operation}\n    is ${meant}, inferred ${inferred ?? 'nothing'}${inferred ? ` (${confidence})` : ''}`;
}
