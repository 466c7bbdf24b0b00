import type { Document, Finding, Json, JsonMap, Pointer } from '../document/document.ts';
import { above, pathOf } from '../document/pointer.ts';
import { placeOf, valueAt } from '../document/source.ts';
import { isMap, newMap, type OpenMap } from '../document/values.ts';

/** What is wrong with a document by the rules that find something of these codes. */
type Judge = (document: Document, codes: ReadonlySet<string>) => readonly Finding[];

/** What was found in a document. */
interface Found {
  readonly spec: { readonly document: Document };
  readonly findings: readonly Finding[];
}

/** How often what is left of a document is looked at again. */
const roundsMost = 16;
/** How many inferences around an error are tried, the least sure first. */
const inferencesMost = 6;

/**
 * A document that was taken over from another language, without what contradicts itself in it: that is left open. What a tool inferred
 * yields first, the least sure before the others; then the value that an error is about, and what is around it. Each error is a
 * warning then, and says what was left open for it.
 */
export function withoutContradictions({ spec: { document }, findings }: Found, judge: Judge): Document {
  const seen = new Map<string, Yielding>();
  const inferences = inferencesOf(document.tree);
  let left = document;
  let errors = findings.filter(isError);
  const codes = new Set(errors.map(({ code }) => code));
  for (let round = 0; round < roundsMost && errors.length > 0; round++) {
    for (const finding of errors) {
      const known = seen.get(keyOf(finding));
      if (known) known.next += 1;
      else seen.set(keyOf(finding), { finding, ways: waysOut(inferences, finding), next: 0 });
    }
    left = without(
      document,
      [...seen.values()].flatMap((one) => chosen(one) ?? []),
    );
    errors = judge(left, codes).filter(isError);
  }
  const told = [...seen.values()].map((one) => yielded(document, one.finding, chosen(one)));
  // What nothing helps against is told all the same, and is no reason to have nothing of the rest.
  const known = document.findings.map((finding) => (isError(finding) ? asWarning(finding) : finding));
  return { ...left, findings: [...known, ...told] };
}

function isError({ severity }: Finding): boolean {
  return severity === 'error';
}

function chosen({ ways, next }: Yielding): Pointer | undefined {
  return ways[Math.min(next, ways.length - 1)];
}

/** An error, what may be left out for it, and how many of those did not help. */
interface Yielding {
  readonly finding: Finding;
  readonly ways: readonly Pointer[];
  next: number;
}

function keyOf({ code, at, message }: Finding): string {
  return JSON.stringify([code, at ?? message]);
}

/** What may be left out for an error: inferences about it or around it, what it is about, then what stands around that. */
function waysOut(inferences: Inferences, { at }: Finding): Pointer[] {
  if (at === undefined || at === '') return [];
  const entity = entityOf(at);
  const rows = inferences.get(entity) ?? [];
  const about = rows.filter(({ fact }) => isWithin(at, fact)).map(({ fact }) => fact);
  const around: Pointer[] = [];
  for (const { fact } of rows) {
    if (around.length >= inferencesMost) break;
    if (isWithin(fact, entity) && !isWithin(at, fact)) around.push(fact);
  }
  const outward: Pointer[] = [];
  // The whole of a part is never left out for one error.
  for (let place: Pointer | undefined = at; place !== undefined && pathOf(place).length > 1; place = above(place))
    outward.push(place);
  return [...new Set([...about, ...around, ...outward])];
}

/** The resource, endpoint or other entry of a part that a place lies in. */
function entityOf(at: Pointer): Pointer {
  const end = at.indexOf('/', at.indexOf('/', 1) + 1);
  return end > 0 && at.indexOf('/', 1) > 0 ? at.slice(0, end) : at;
}

/** The facts that a tool inferred, by what they are about: the least sure first, and of two as sure the innermost. */
type Inferences = ReadonlyMap<Pointer, readonly { readonly fact: Pointer; readonly confidence: number }[]>;

function inferencesOf(tree: JsonMap): Inferences {
  const rows = Array.isArray(tree.evidence) ? (tree.evidence as readonly Json[]) : [];
  const sorted = rows
    .flatMap((row) =>
      isMap(row) && typeof row.fact === 'string' ? [{ fact: row.fact, confidence: Number(row.confidence ?? 1) }] : [],
    )
    .sort((one, other) => one.confidence - other.confidence || other.fact.length - one.fact.length);
  return Map.groupBy(sorted, ({ fact }) => entityOf(fact));
}

function isWithin(at: Pointer, outer: Pointer): boolean {
  return at === outer || at.startsWith(`${outer}/`);
}

/** A document without the values at some places, and without the rows of evidence about them. */
function without(document: Document, places: readonly Pointer[]): Document {
  const pruned = prune(document.tree, goneOf(places));
  const tree = isMap(pruned) ? pruned : document.tree;
  if (!Array.isArray(tree.evidence)) return { ...document, tree };
  const evidence = (tree.evidence as readonly Json[]).filter(
    (row) => !isMap(row) || typeof row.fact !== 'string' || valueAt(tree, row.fact) !== undefined,
  );
  return { ...document, tree: { ...tree, evidence } };
}

/** What is to be left out below a place: all of it, or what stands under some of its keys. */
interface Gone {
  isWhole: boolean;
  readonly below: Map<string, Gone>;
}

function goneOf(places: readonly Pointer[]): Gone {
  const root: Gone = { isWhole: false, below: new Map() };
  for (const place of places) {
    let at = root;
    for (const key of pathOf(place)) {
      const inner = at.below.get(key) ?? { isWhole: false, below: new Map() };
      at.below.set(key, inner);
      at = inner;
    }
    at.isWhole = at !== root;
  }
  return root;
}

/** Only what lies around a place is made anew. */
function prune(value: Json, gone: Gone): Json {
  if (gone.below.size === 0) return value;
  const inner = (item: Json, key: string): Json[] => {
    const below = gone.below.get(key);
    if (below === undefined) return [item];
    return below.isWhole ? [] : [prune(item, below)];
  };
  if (Array.isArray(value)) return (value as readonly Json[]).flatMap((item, index) => inner(item, String(index)));
  if (!isMap(value)) return value;
  const kept: OpenMap = newMap();
  for (const [key, item] of Object.entries(value)) for (const left of inner(item, key)) kept[key] = left;
  return kept;
}

function asWarning(finding: Finding): Finding {
  return { ...finding, severity: 'warning' };
}

function yielded(document: Document, finding: Finding, place: Pointer | undefined): Finding {
  const left = place && { message: `\`${place}\` is left open for it.`, place: placeOf(document, place) };
  return { ...asWarning(finding), ...(left && { also: [...(finding.also ?? []), left] }) };
}
