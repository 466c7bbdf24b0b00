import { type Derivation, derivationsOf } from '../../../parts/derived/derivations.ts';
import { entryOf, statedValue } from '../../../parts/fact.ts';
import { asText } from '../../exchange/as-text.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { TrialRow } from '../../exchange/row.ts';
import { lookAt } from '../../make/look.ts';
import { derivedValue } from '../../model/derived.ts';
import { judgeField } from '../../model/judge-field.ts';
import type { Model } from '../../model/model.ts';
import { isSendable } from '../../model/own-body.ts';
import { idIn, rowWith } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';

/** What is derived turns where its expression says, and not beside that. */
export const derivedEdges: Trial = {
  name: 'resources/derived edges',
  part: 'resources',
  about: 'What is derived by comparing a number of the row is right just where it turns: at that number, below it and above it.',
  noise: 'quiet',
  *cases(model) {
    for (const edge of edgesIn(model)) {
      const facts = [{ kind: 'allowed values', subject: `${edge.derivation.resource}.${edge.derivation.field.name}` }];
      yield { name: `${facts[0]?.subject}, ${atEdge(edge)}`, facts, run: (session) => lookAtEdge(session, edge) };
    }
  },
};

/** A number with which an expression compares a field that callers choose, or a sum over one of rows that they make. */
interface DerivedEdge {
  readonly derivation: Derivation;
  readonly field: string;
  readonly value: number;
  /** Whose field is summed up, and by which reference. */
  readonly summed: { readonly from: string; readonly by: string; readonly of: string } | undefined;
}

/** What has to be looked at of the numbers at which a derived field turns, by the reasons of its claims. */
export function derivedEdgeLooks(model: Model, resource: string, field: string): readonly string[] {
  return [...edgesIn(model)]
    .filter(({ derivation }) => derivation.resource === resource && derivation.field.name === field)
    .map(atEdge);
}

function atEdge({ field, value }: DerivedEdge): string {
  return `derived where ${field} is ${value}`;
}

/** So many numbers of one field are come to. */
const edgesMost = 9;

function* edgesIn(model: Model): Iterable<DerivedEdge> {
  for (const derivation of derivationsOf(model.spec).all) {
    if (derivation.aggregates.length > 0) continue;
    const compared = (derivation.field.derive?.source ?? '').matchAll(
      /\bresource\.(\w+)\s*(?:[<>]=?|[=!]=)\s*(\d{1,9})(?![\w.])/g,
    );
    const edges = [...compared].flatMap(([, field = '', number]) => edgesOf(model, derivation, field, Number(number)));
    yield* [...new Map(edges.map((edge) => [atEdge(edge), edge])).values()].slice(0, edgesMost);
  }
}

function edgesOf(model: Model, derivation: Derivation, field: string, number: number): DerivedEdge[] {
  const summed = summedBy(model, derivation.resource, field);
  const [of, sent] = summed ? [summed.from, summed.of] : [derivation.resource, field];
  const stated = model.resource(of);
  const shape = statedValue(stated && entryOf(stated.fields, sent)?.shape);
  if (!shape || (shape.type !== 'integer' && shape.type !== 'number') || !isSendable(model, of, sent)) return [];
  const values = shape.type === 'integer' ? [number - 1, number, number + 1] : [number];
  const takes = (value: number) => model.schemas.of(shape, 'sent')(value).length === 0;
  return values.filter(takes).map((value) => ({ derivation, field, value, summed }));
}

/** Whose numbers a field of a resource is the plain sum of. */
function summedBy(model: Model, resource: string, field: string): DerivedEdge['summed'] {
  const stated = model.resource(resource);
  const source = (stated && entryOf(stated.fields, field)?.derive?.source) ?? '';
  const [, from, by, of] = /^\s*sum\(\s*(\w+)\.(\w+)\s*,\s*item\.(\w+)\s*\)\s*$/.exec(source) ?? [];
  return from === undefined || by === undefined || of === undefined ? undefined : { from, by, of };
}

async function lookAtEdge(session: Session, edge: DerivedEdge): Promise<void> {
  const { model } = session;
  const { derivation, field, value } = edge;
  const row = await rowAt(session, edge);
  const { done } = await lookAt(session, row);
  const { made } = row;
  session.need(made !== undefined, `no ${row.resource} was made`);
  session.claim({
    fact: { kind: 'allowed values', subject: `${derivation.resource}.${derivation.field.name}` },
    at: derivation.at,
    reason: atEdge(edge),
    of: [made, done] as const,
    judge(creation: TrialExchange, seen: TrialExchange): Judgement {
      const shown = isDone(seen) ? rowWith(model, seen, idIn(model, creation)) : undefined;
      if (!shown || asText(shown[field]) !== asText(value)) return moot(`no row is shown whose ${field} is ${value}`);
      const hidden = model.unseenBy(derivation.resource, model.readerOf(seen));
      if (derivation.ownReads.some((name) => hidden.has(name))) return moot('what it is derived of is not shown');
      const reckoned = derivedValue(model.spec, derivation, shown, () => []);
      if (!reckoned) return moot('what it comes to cannot be reckoned');
      const { at } = derivation;
      const because = 'derived' as const;
      const { value: due } = reckoned;
      const told = shown[derivation.field.name];
      const rule = due === null ? ({ is: 'absent', because, at } as const) : ({ is: 'value', value: due, because, at } as const);
      return judgeField(rule, told, derivation.field, { toleranceMs: 0, mayLack: new Set() });
    },
  });
}

/** A row whose field has the value: it is made so, or what is summed up is made below it. */
async function rowAt(session: Session, { derivation, field, value, summed }: DerivedEdge): Promise<TrialRow> {
  const { model } = session;
  if (!summed) return session.make(derivation.resource, { body: { [field]: value } });
  const row = await session.make(derivation.resource);
  const reference = isSendable(model, summed.from, summed.by) ? { [summed.by]: row.id } : {};
  await session.make(summed.from, { parents: { [summed.by]: row }, body: { ...reference, [summed.of]: value } });
  return row;
}
