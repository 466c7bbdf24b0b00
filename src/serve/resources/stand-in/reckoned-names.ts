import { createHash } from 'node:crypto';
import { entriesOf, entryOf, statedValue } from '../../../parts/fact.ts';
import { identifierParameter } from '../../../parts/payload.ts';
import type { Resource } from '../../../parts/resources.ts';
import type { Samples } from '../../../parts/samples/samples.ts';
import type { Spec } from '../../../parts/spec.ts';
import type { Reader, Row } from '../../../store/store.ts';
import type { Fields, Value } from '../../exchange/exchange.ts';
import type { RowModel } from '../model.ts';

/** What a thing is called by, where that is reckoned of one of its members: the MD5 hash of an address, the slug of a name. */
interface Reckoned {
  readonly field: string;
  readonly reckon: (value: string) => string;
}

const lookedAtMost = 1000;
const describedMost = 300;

/**
 * Things whose names are reckoned: where the description of an identifier, or of the parameter by which one thing is read, says that it is the hash, the slug
 * or the lower-cased form of a member that the thing has.
 */
export class ReckonedNames {
  readonly #spec: Spec;
  readonly #samples: Samples;
  #found: ReadonlyMap<string, Reckoned> | undefined;

  constructor(spec: Spec, samples: Samples) {
    this.#spec = spec;
    this.#samples = samples;
  }

  /** Looked for when the first thing is looked for by a name. */
  get #byResource(): ReadonlyMap<string, Reckoned> {
    this.#found ??= reckonedNames(this.#spec, this.#samples);
    return this.#found;
  }

  /** What a thing of these members is called; nothing where that is not reckoned. */
  nameOf({ name }: RowModel, fields: Fields): string | undefined {
    const { field, reckon } = this.#byResource.get(name) ?? {};
    const value: Value = field === undefined ? undefined : fields[field];
    return typeof value === 'string' && value !== '' ? reckon?.(value) : undefined;
  }

  /** The row that is called so, among the first thousand. */
  called(rows: Reader, model: RowModel, name: string): Row | undefined {
    if (!this.#byResource.has(model.name)) return undefined;
    const plain = name.toLowerCase();
    return rows.scan(model.name, 0, lookedAtMost).find((row) => this.nameOf(model, model.parse(row)) === plain);
  }
}

function reckonedNames(spec: Spec, samples: Samples): ReadonlyMap<string, Reckoned> {
  const found = new Map<string, Reckoned>();
  for (const [, { does, parameters, ...endpoint }] of entriesOf(spec.endpoints.all)) {
    const effect = statedValue(does);
    const resource = effect?.verb === 'read' ? entryOf(spec.resources.all, effect.resource) : undefined;
    if (!resource || found.has(resource.name)) continue;
    const named = identifierParameter({ does, parameters, ...endpoint });
    const asked = entriesOf(parameters).find(([, { name, in: place }]) => place === 'path' && name === named)?.[1];
    const own = entryOf(resource.fields, statedValue(resource.identifier)?.field ?? '');
    const said = [own?.shape, asked?.shape].flatMap(
      (shape) => samples.whole((shape && statedValue(shape)) ?? {}).description ?? [],
    );
    const one = said.map((text) => reckonedBy(String(text).slice(0, describedMost), resource)).find((each) => each !== undefined);
    if (one) found.set(resource.name, one);
  }
  return found;
}

/** What a description says that a name is reckoned of: `The MD5 hash of the lowercase version of the e-mail address`. */
function reckonedBy(text: string, { fields, identifier }: Resource): Reckoned | undefined {
  const [, algorithm, slug, lower, rest = ''] =
    /\b(?:(md5|sha-?1|sha-?256|sha-?512)(?:[ -](?:hash|digest|checksum|sum))?|(slug)(?: form| version)?|(lower-?cased?)(?: form| version)?) of ([^.;]+)/i.exec(
      text,
    ) ?? [];
  const words = ` ${plainWords(rest)} `;
  const own = statedValue(identifier)?.field;
  const named = entriesOf(fields)
    .map(([name]) => name)
    .filter((name) => name !== own && words.includes(` ${plainWords(name)} `))
    .toSorted((one, other) => other.length - one.length);
  const [field] = named;
  if (field === undefined) return undefined;
  const isLower = lower !== undefined || /\blower-?\s?cased?\b/i.test(rest);
  const even = (value: string) => (isLower ? value.toLowerCase() : value);
  if (slug !== undefined) return { field, reckon: slugOf };
  if (algorithm === undefined) return { field, reckon: even };
  const digest = algorithm.replace('-', '').toLowerCase();
  return { field, reckon: (value) => createHash(digest).update(even(value)).digest('hex') };
}

function slugOf(value: string): string {
  const words = value
    .normalize('NFKD')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u);
  return words.filter((word) => word !== '').join('-');
}

function plainWords(text: string): string {
  const apart = text.replaceAll(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2').replaceAll(/e-mail/gi, 'email');
  return apart
    .split(/[^\p{L}\p{N}]+/u)
    .join(' ')
    .trim()
    .toLowerCase();
}
