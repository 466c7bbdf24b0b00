import type { Json } from '../../document/document.ts';
import { ownStatus } from '../../parts/condition-words.ts';
import type { ErrorCondition } from '../../parts/errors.ts';
import type { Samples } from '../../parts/samples/samples.ts';
import type { Shape } from '../../parts/shape.ts';
import { isMap } from '../../parts/source.ts';
import type { Fields, Value } from '../exchange.ts';
import { phrase } from '../statuses.ts';
import type { Violation } from '../wire/violation.ts';

/** A refusal as the fields of an error may tell it. */
export interface ToldError {
  readonly status: number;
  readonly code: string | undefined;
  readonly message: string;
  readonly violations: readonly Violation[] | undefined;
  readonly condition: ErrorCondition | undefined;
  readonly requestId: string;
}

/** Compiles what is known of an error's fields, by their names: its message, its status, the parameter that it is about. */
export function compileErrorFields(shape: Shape, samples: Samples): (told: ToldError) => Value {
  return fieldsOf(shape, samples, 0) ?? (() => undefined);
}

type Tell = (told: ToldError) => Value;

/** Errors are wrapped once or twice, and no deeper. */
const depthMost = 3;

function fieldsOf(shape: Shape, samples: Samples, depth: number): Tell | undefined {
  const required = requiredOf(shape, samples);
  const fields = Object.entries(samples.membersOf(shape)).flatMap(([name, member]): [string, Tell][] => {
    if (!isMap(member)) return [];
    const tell = fieldOf(name, member, required.has(name), samples, depth);
    return tell ? [[name, tell]] : [];
  });
  if (fields.length === 0) return undefined;
  return (told) => {
    const out: Fields = {};
    for (const [name, tell] of fields) {
      const value = tell(told);
      if (value !== undefined) out[name] = value;
    }
    return out;
  };
}

function fieldOf(name: string, shape: Shape, isRequired: boolean, samples: Samples, depth: number): Tell | undefined {
  const { fits } = samples.of(shape, name);
  const row = rows.find(({ named }) => named.test(name));
  const listed = Array.isArray(shape.enum) ? shape.enum.filter((value): value is string => typeof value === 'string') : [];
  if (listed.length > 1) return (told) => nearestWord(listed, told);
  const isObject = Object.keys(samples.membersOf(shape)).length > 0;
  if (isObject && depth < depthMost && (isRequired || /^errors?$/.test(name))) return fieldsOf(shape, samples, depth + 1);
  if (!row || (row.ifRequired && !isRequired)) return undefined;
  return (told) => row.values(told).find((value) => value !== undefined && fits(value));
}

interface Row {
  readonly named: RegExp;
  /** Whether it is told only where it has to be. */
  readonly ifRequired?: true;
  values(told: ToldError): readonly Value[];
}

/** What the fields of errors are called, and what stands in them; of several values the first that fits. */
const rows: readonly Row[] = [
  { named: /^(?:message|detail|details|description|error_description|msg|reason)$/i, values: ({ message }) => [message] },
  {
    named: /^(?:status|status_?code|http_?status(?:_code)?)$/i,
    values: ({ status }) => [status, String(status), phrase(status)],
  },
  { named: /^title$/i, values: ({ status }) => [phrase(status)] },
  { named: /^request_?id$/i, values: ({ requestId }) => [requestId] },
  { named: /^(?:param|parameter|field|property)$/i, values: ({ violations }) => [violations?.[0] && dotted(violations[0])] },
  {
    named: /^(?:code|error|error_?code|name|type)$/i,
    ifRequired: true,
    values: ({ code, condition, status }) => [code, (condition ?? phrase(status)).replaceAll(/\W+/g, '_').toLowerCase(), status],
  },
];

function dotted({ path }: Violation): string {
  return path.replace(/^\//, '').replaceAll('/', '.');
}

/** The listed word that says most of what happened; nothing where none says any of it. */
function nearestWord(listed: readonly string[], { condition, status }: ToldError): string | undefined {
  // What HTTP calls it, whatever status it is answered with.
  const own = condition === undefined ? status : ownStatus[condition];
  const said = new Set([...wordsOf(condition ?? ''), ...wordsOf(phrase(own))]);
  const usual = new Set(own < 500 ? ['invalid', 'request', 'bad', 'client'] : ['internal', 'server', 'api', 'service']);
  let best: { readonly word: string; readonly score: number } | undefined;
  for (const word of listed) {
    const words = wordsOf(word);
    const score = words.filter((one) => said.has(one)).length * 3 + words.filter((one) => usual.has(one)).length;
    // Of two words that say as much, the one that says nothing else.
    const told = score === 0 ? 0 : score - words.length / 10;
    if (told > (best?.score ?? 0)) best = { word, score: told };
  }
  return best?.word;
}

function wordsOf(text: string): string[] {
  const parted = text.replaceAll(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
  return [...new Set(parted.split(/[^a-z]+/).filter((word) => word !== ''))];
}

function requiredOf(shape: Shape, samples: Samples): ReadonlySet<string> {
  const required: Json | undefined = samples.whole(shape).required;
  return new Set(Array.isArray(required) ? required.map(String) : []);
}
