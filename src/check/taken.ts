import type { Document, Finding, Json, JsonMap, Pointer } from '../document/document.ts';
import { placeOf, valueAt } from '../document/place.ts';
import { above, below, pathOf, pointerOf } from '../document/pointer.ts';
import { isMap, newMap, type OpenMap } from '../document/values.ts';

/** What is wrong with a document by the rules that find something of these codes. */
type Judge = (document: Document, codes: ReadonlySet<string>) => readonly Finding[];

/** What was found in a document. */
interface Found {
  readonly spec: { readonly document: Document };
  readonly findings: readonly Finding[];
}

/** How often what is left of a document is looked at again. */
const roundsMax = 16;
/** How many inferences around an error are tried, the least sure first. */
const inferencesMax = 6;

/**
 * A document that was taken over from another language, without what contradicts itself in it: that is left open. What a tool inferred
 * yields first, the least sure before the others; then the value that an error is about, and what is around it. Each error is a
 * warning then, and says what was left open for it.
 */
export function withoutContradictions({ spec: { document }, findings }: Found, judge: Judge): Document {
  const seen = new Map<string, Yielding>();
  let left = document;
  let errors = findings.filter(isError);
  const codes = new Set(errors.map(({ code }) => code));
  for (let round = 0; round < roundsMax && errors.length > 0; round++) {
    for (const finding of errors) {
      const known = seen.get(keyOf(finding));
      if (known) known.next += 1;
      else seen.set(keyOf(finding), { finding, ways: waysOut(document, finding), next: 0 });
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
function waysOut({ tree }: Document, { at }: Finding): Pointer[] {
  if (at === undefined || at === '') return [];
  const rows = inferencesOf(tree);
  const about = rows.filter(({ fact }) => isWithin(at, fact)).map(({ fact }) => fact);
  const entity = pointerOf(pathOf(at).slice(0, 2));
  const around = rows.filter(({ fact }) => isWithin(fact, entity) && !about.includes(fact)).map(({ fact }) => fact);
  const outward: Pointer[] = [];
  // The whole of a part is never left out for one error.
  for (let place: Pointer | undefined = at; place !== undefined && pathOf(place).length > 1; place = above(place))
    outward.push(place);
  return [...new Set([...about, ...around.slice(0, inferencesMax), ...outward])];
}

/** The facts that a tool inferred, the least sure first, and of two as sure the innermost. */
function inferencesOf(tree: JsonMap): { readonly fact: Pointer; readonly confidence: number }[] {
  const rows = Array.isArray(tree.evidence) ? (tree.evidence as readonly Json[]) : [];
  return rows
    .flatMap((row) =>
      isMap(row) && typeof row.fact === 'string' ? [{ fact: row.fact, confidence: Number(row.confidence ?? 1) }] : [],
    )
    .sort((one, other) => one.confidence - other.confidence || other.fact.length - one.fact.length);
}

function isWithin(at: Pointer, outer: Pointer): boolean {
  return at === outer || at.startsWith(`${outer}/`);
}

/** A document without the values at some places, and without the rows of evidence about them. */
function without(document: Document, places: readonly Pointer[]): Document {
  const gone = new Set(places);
  const pruned = prune(document.tree, '', gone);
  const tree = isMap(pruned) ? pruned : document.tree;
  if (!Array.isArray(tree.evidence)) return { ...document, tree };
  const evidence = (tree.evidence as readonly Json[]).filter(
    (row) => !isMap(row) || typeof row.fact !== 'string' || valueAt(tree, row.fact) !== undefined,
  );
  return { ...document, tree: { ...tree, evidence } };
}

/** Only what lies around a place is made anew. */
function prune(value: Json, at: Pointer, gone: ReadonlySet<Pointer>): Json {
  if (![...gone].some((place) => place !== at && isWithin(place, at))) return value;
  if (Array.isArray(value)) {
    return (value as readonly Json[]).flatMap((item, index) => {
      const inner = below(at, index);
      return gone.has(inner) ? [] : [prune(item, inner, gone)];
    });
  }
  if (!isMap(value)) return value;
  const kept: OpenMap = newMap();
  for (const [key, item] of Object.entries(value)) {
    const inner = below(at, key);
    if (!gone.has(inner)) kept[key] = prune(item, inner, gone);
  }
  return kept;
}

function asWarning(finding: Finding): Finding {
  return { ...finding, severity: 'warning' };
}

function yielded(document: Document, finding: Finding, place: Pointer | undefined): Finding {
  const left = place && { message: `\`${place}\` is left open for it.`, place: placeOf(document, place) };
  return { ...asWarning(finding), ...(left && { also: [...(finding.also ?? []), left] }) };
}
