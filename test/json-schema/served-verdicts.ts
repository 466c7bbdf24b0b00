import { check, parseDocument } from '../../src/index.ts';
import { toJson } from '../../src/serve/http/json.ts';
import { tryDocument } from '../serving/tried.ts';

/** A schema with values, in the form of the JSON-Schema-Test-Suite. */
export interface Group {
  readonly description: string;
  readonly schema: unknown;
  readonly tests: readonly { readonly description: string; readonly data: unknown; readonly valid: boolean }[];
}

/** What became of a value: a request that carried it was answered, refused, or is no JSON to us; or no document can state the schema. */
export type Verdict = 'taken' | 'refused' | 'unreadable' | `unstatable: ${string}`;

/**
 * Asks a service: the schema is the stated body of an endpoint, and each value is sent to it. So it goes the way of every
 * request, from the bytes of the body to the refusal.
 */
export async function verdictsOf({ schema, tests }: Pick<Group, 'schema' | 'tests'>): Promise<Verdict[]> {
  const tree = {
    title: 'Takes values',
    endpoints: { 'POST /value': { does: 'reply', request: schema, response: { 200: { example: 1 } } } },
  };
  const document = parseDocument(toJson(tree), 'values.json');
  const errors = check(document).findings.filter(({ severity }) => severity === 'error');
  // What a word is comes before what a shape made of it does.
  const error = errors.find(({ code }) => code.startsWith('form/')) ?? errors[0];
  if (error) return tests.map((): Verdict => `unstatable: ${error.code}`);
  const tried = await tryDocument(document);
  try {
    const verdicts: Verdict[] = [];
    for (const { data } of tests) verdicts.push(await verdictOn(data));
    return verdicts;
  } finally {
    await tried.close();
  }

  async function verdictOn(data: unknown): Promise<Verdict> {
    const { status, text } = await tried.send('POST', '/value', { body: toJson(data), headers: json });
    if (status === 200) return 'taken';
    if (status === 422) return 'refused';
    if (status === 400) return 'unreadable';
    throw new Error(`${status} for ${toJson(data)}: ${text} ${String(tried.failures[0] ?? '')}`);
  }
}

const json = { 'content-type': 'application/json' };
