import { below } from '../../document/pointer.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { statedValue } from '../../parts/fact.ts';
import { requestShape, sentShape, takesChildren } from '../../parts/payload.ts';
import type { Shape } from '../../parts/shape.ts';
import { takenOf } from '../../parts/taking.ts';
import type { Exchange, Fields, Refusal, Value } from '../exchange/exchange.ts';
import { Bare } from '../http/json.ts';
import type { Violation } from '../http/violation.ts';
import type { Models, SentChild, SentChildren, Work } from './act.ts';
import { compileMissingReference, droppedFor, isFields, withoutKeys } from './body.ts';
import type { RowModel } from './model.ts';
import { readOnlyIn } from './read-only-sent.ts';
import type { ViewCompilation } from './view-compilation.ts';

/** How the children of a new row are taken from what was sent. */
export interface ChildrenTaking {
  /** What is wrong with them is told at its place in the body of their parent. */
  sent(exchange: Exchange): { readonly violations: readonly Violation[]; readonly children: SentChildren };
  /** Whether what they refer to is there, and may be read. */
  missing(work: Work, children: SentChildren): Refusal | undefined;
}

/** A field with children, and what each of them is. */
interface Held {
  readonly name: string;
  readonly model: RowModel;
  /** What is not for its caller to write: passed over, as in a body of its own. */
  readonly dropped: ReadonlySet<string>;
}

/** Compiles the taking of children for `create`; nothing where a resource takes none. */
export function compileChildrenTaking(
  endpoint: Endpoint,
  model: RowModel,
  models: Models,
  compilation: ViewCompilation,
): ChildrenTaking | undefined {
  const held = [...model.fields.values()].flatMap((field): Held[] => {
    const child = takesChildren(field) && field.children ? models.get(field.children.resource) : undefined;
    if (!child || !field.children) return [];
    return [{ name: field.name, model: child, dropped: new Set([...droppedFor(child, compilation), field.children.field]) }];
  });
  if (held.length === 0) return undefined;
  const validate = compilation.validate(childrenOnly(endpoint, held, model, compilation), 'sent');
  const missingReference = compileMissingReference(compilation);
  return {
    sent(exchange) {
      const body = takenOf(endpoint, exchange.request) as Value;
      const all: Fields = new Bare();
      const refused: Violation[] = [];
      for (const { name, dropped } of held) {
        const value = isFields(body) ? body[name] : undefined;
        if (value !== undefined) all[name] = writtenOf(value, dropped);
        if (endpoint.readOnlySent && !exchange.older) refused.push(...eachOf(name, value, (item) => readOnlyIn(item, dropped)));
      }
      const misfits = validate(all);
      const broken = held.flatMap((one) => rulesBroken(one, all[one.name], misfits.length === 0));
      const children = new Map(held.map(({ name }) => [name, { made: rowsOf(all[name]), changed: [], gone: [] }] as const));
      return { violations: [...refused, ...misfits, ...broken], children };
    },
    missing(work, children) {
      const found = held.flatMap(({ name, model: child }) =>
        missingOf(name, children.get(name)?.made ?? [], (row) => missingReference(work, child, row, undefined)?.violations ?? []),
      );
      return found.length === 0 ? undefined : { when: 'reference.missing', violations: found };
    },
  };
}

/** The shape of a body that has its children alone; they have to be there where the body follows by rule and says so. */
function childrenOnly(endpoint: Endpoint, held: readonly Held[], model: RowModel, { spec }: ViewCompilation): Shape {
  const properties = Object.fromEntries(
    held.flatMap(({ name }) => {
      const field = model.fields.get(name);
      return field ? [[name, sentShape(spec, field)]] : [];
    }),
  );
  const required = endpoint.request.standing === 'open' ? statedValue(requestShape(spec, endpoint))?.required : undefined;
  const needed = Array.isArray(required) ? required.filter((name) => typeof name === 'string' && name in properties) : [];
  return { type: 'object', properties, required: needed };
}

function writtenOf(value: Value, dropped: ReadonlySet<string>): Value {
  return Array.isArray(value) ? value.map((item: Value) => (isFields(item) ? withoutKeys(item, dropped) : item)) : value;
}

function rowsOf(value: Value): readonly SentChild[] {
  return Array.isArray(value) ? value.filter(isFields).map((fields, index) => ({ index, fields })) : [];
}

/** What children that are made refer to and is not there, each at its place. */
export function missingOf(
  name: string,
  made: readonly SentChild[],
  find: (row: Fields) => readonly Violation[],
): readonly Violation[] {
  return made.flatMap(({ index, fields }) => find(fields).map((one) => violationOfChild(name, index, one)));
}

function rulesBroken({ name, model: { rules } }: Held, value: Value, isWhole: boolean): Violation[] {
  return rules ? eachOf(name, value, (item) => rules(item as Fields, isWhole)) : [];
}

/** What is wrong with each item of a list, at its place in the body. */
function eachOf(name: string, value: Value, find: (item: Value) => readonly Violation[]): Violation[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((item: Value, index) =>
    isFields(item) ? find(item).map((one) => violationOfChild(name, index, one)) : [],
  );
}

/** A violation of a child, told in the body of its parent. */
export function violationOfChild(name: string, index: number, violation: Violation): Violation {
  return { ...violation, in: 'body', path: `${below('', name)}/${index}${violation.path}` };
}
