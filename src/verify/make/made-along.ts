import type { Following } from '../../parts/effects.ts';
import { logOf } from '../../parts/event-telling.ts';
import { entriesOf, entryOf, statedValue } from '../../parts/fact.ts';
import { followedOf } from '../../parts/followed.ts';
import { takesChildren } from '../../parts/payload.ts';
import type { Resource } from '../../parts/resources.ts';
import { machinesOf } from '../../parts/states.ts';
import type { TrialRow, WantedRow } from '../exchange/row.ts';
import type { Symbolic } from '../exchange/symbol.ts';
import { ifTestable } from '../exchange/untestable.ts';
import type { Model } from '../model/model.ts';
import type { Session } from '../session/session.ts';
import { draftChildren } from './children.ts';
import { findRow } from './pages.ts';
import { walkTo } from './walk.ts';

type Make = (resource: string, wanted: WantedRow) => Promise<TrialRow>;

/** So many of the states that a transition leads to are tried. */
const targetsMost = 3;

/**
 * A row that is made with another, as one of its children, by its creation or by a transition of it: that is done, and the row is found
 * in a list. Nothing where no change makes one.
 */
export async function madeAlong(
  session: Session,
  resource: string,
  wanted: WantedRow,
  make: Make,
): Promise<TrialRow | undefined> {
  const { model } = session;
  const stated = model.resource(resource);
  const [first] = machinesOf(model.spec.states, resource)[0]?.initial ?? [];
  const findBelow = (parents: Readonly<Record<string, TrialRow>>) =>
    findRow(session, resource, { parents: { ...wanted.parents, ...parents }, ...(first && { state: first.state }) });
  for (const { resource: other, change, acts } of followedOf(model.spec)) {
    if (change === 'updated' || change === 'deleted' || other === resource || !stated) continue;
    for (const { does, set, each } of acts) {
      if (does?.verb !== 'create' || does.resource !== resource) continue;
      const handed = handedOn(model, other, stated, set);
      const tie = handed.find(([, from]) => from === model.identifierField(other))?.[0];
      const told = toldAlong(stated, set);
      // What says nothing of the row that it is made with is known by what it is told of it.
      if (tie === undefined && told.length === 0) continue;
      const begun = tie === undefined ? undefined : wanted.parents?.[tie];
      const find = (parent: TrialRow) =>
        tie === undefined
          ? findTold(session, resource, wanted, told, parent)
          : findBelow({ ...throughParent(handed, parent), ...wanted.parents, [tie]: parent });
      const parents = Object.fromEntries(
        handed.flatMap(([name, from]) => (name !== tie && wanted.parents?.[name] ? [[from, wanted.parents[name]]] : [])),
      );
      if (change === 'created') {
        const body = begun || tie === undefined ? {} : await sentAlong(session, other, tie, stated, wanted);
        // One for each item of what is sent: who sends nothing of it has none made.
        const style = each === undefined ? {} : ({ style: 'whole' } as const);
        return find(begun ?? (await make(other, { parents, body, for: wanted.for, ...style })));
      }
      for (const { state } of change.transition.to.slice(0, targetsMost)) {
        // Where the clock makes such rows, time goes by for one even where time is measured: that begins with it.
        const byClock = (change.transition.after ?? change.transition.atTime) !== undefined;
        const moved = await ifTestable(
          begun ? moving(session, begun, state, byClock) : make(other, { parents, state, byClock, for: wanted.for }),
        );
        const found = moved && (await ifTestable(find(moved)));
        if (found) return found;
      }
    }
  }
  if (logOf(model.spec)?.resource === resource) return loggedRow(session, resource, wanted, make);
  return childOf(session, resource, wanted, make, findBelow);
}

/** A row of the log of events: something is made that is told of, and a row is found in a list. */
async function loggedRow(session: Session, resource: string, wanted: WantedRow, make: Make): Promise<TrialRow | undefined> {
  const { model } = session;
  for (const { resource: other = '', endpoint, name } of model.operations) {
    const told = entriesOf(model.spec.events.kinds).some(
      ([, { on, if: condition }]) => !condition && statedValue(on)?.includes(name),
    );
    if (!told || statedValue(endpoint?.does)?.verb !== 'create') continue;
    const made = await ifTestable(make(other, { for: wanted.caller ?? wanted.for }));
    const found = made && (await ifTestable(findRow(session, resource, wanted)));
    if (found) return found;
  }
  return undefined;
}

/** A row that its parent is made with: the parent is made with one at least. */
async function childOf(
  session: Session,
  name: string,
  wanted: WantedRow,
  make: Make,
  findBelow: (parents: Readonly<Record<string, TrialRow>>) => Promise<TrialRow>,
): Promise<TrialRow | undefined> {
  const { model } = session;
  const child = model.resource(name);
  for (const [other, { fields }] of child ? entriesOf(model.spec.resources.all) : []) {
    for (const [, field] of entriesOf(fields)) {
      const { children } = field;
      if (!child || children?.resource !== name || !takesChildren(field)) continue;
      const known = wanted.parents?.[children.field];
      const body = known ? {} : await sentAlong(session, other, children.field, child, wanted);
      return findBelow({ [children.field]: known ?? (await make(other, { for: wanted.for, body })) });
    }
  }
  return undefined;
}

/** What is sent with a row so that it has a child: one, where it takes them by the field that ties them. */
async function sentAlong(
  session: Session,
  other: string,
  tie: string,
  child: Resource,
  wanted: WantedRow,
): Promise<Readonly<Record<string, Symbolic>>> {
  const found = entriesOf(session.model.resource(other)?.fields).find(
    ([, field]) => field.children?.resource === child.name && field.children.field === tie && takesChildren(field),
  );
  const [at = '', field] = found ?? [];
  if (!field?.children) return {};
  const [drawn] = await draftChildren(session, { field, children: field.children, child }, 1);
  const isMap = typeof drawn === 'object' && drawn !== null && !Array.isArray(drawn);
  // What is drawn of a child is a map of its fields.
  return { [at]: [isMap ? { ...(drawn as { readonly [key: string]: Symbolic }), ...wanted.body } : (drawn ?? null)] };
}

/** The references of what is made that are handed on from what makes it: by which field of that. */
function handedOn(
  model: Model,
  other: string,
  { fields }: Resource,
  set: Following['set'],
): readonly (readonly [name: string, from: string])[] {
  return Object.entries(set).flatMap(([name, { source }]) => {
    const from = /^next\.(\w+)$/.exec(source.trim())?.[1];
    const ref = entryOf(fields, name)?.ref;
    if (from === undefined || ref === undefined) return [];
    const isSame =
      from === model.identifierField(other) ? ref === other : entryOf(model.resource(other)?.fields, from)?.ref === ref;
    return isSame ? [[name, from] as const] : [];
  });
}

/** The fields of a row that is made along which are set to those of the row that it is made with, and how they are called there. */
function toldAlong({ fields }: Resource, set: Following['set']): readonly (readonly [name: string, from: string])[] {
  return Object.entries(set).flatMap(([name, { source }]) => {
    const from = /^next\.(\w+)$/.exec(source.trim())?.[1];
    return from !== undefined && entryOf(fields, name)?.ref === undefined ? [[name, from] as const] : [];
  });
}

/** A row with what it was told of the row that it was made with. @throws {Untestable} */
function findTold(
  session: Session,
  resource: string,
  wanted: WantedRow,
  told: ReturnType<typeof toldAlong>,
  { known, fields }: TrialRow,
): Promise<TrialRow> {
  const body = Object.fromEntries(
    told.flatMap(([name, from]) => {
      const value = fields?.[from] ?? known[from];
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
  session.need(Object.keys(body).length > 0, `nothing is known of what a ${resource} is made with`);
  return findRow(session, resource, { ...wanted, body: { ...wanted.body, ...body } });
}

/** What is handed on, as the row that makes the other one has it. */
function throughParent(handed: ReturnType<typeof handedOn>, { known, caller }: TrialRow): Record<string, TrialRow> {
  return Object.fromEntries(
    handed.flatMap(([name, from]) => {
      const id = known[from];
      return id === undefined ? [] : [[name, { resource: name, id, known: {}, caller, shown: undefined, fields: undefined }]];
    }),
  );
}

async function moving(session: Session, row: TrialRow, state: string, byClock: boolean): Promise<TrialRow> {
  await walkTo(session, row, state, { byClock });
  return row;
}
