import { pathOf } from '../../../document/pointer.ts';
import { isSame } from '../../../document/values.ts';
import type { Fields, Value } from '../../exchange/exchange.ts';
import { copy, withoutPrototype } from '../../http/json.ts';
import { describeValue, type Violation } from '../../http/violation.ts';
import { isFields } from '../body.ts';

/** What a list of changes comes to on a thing, or the first that cannot be carried out. */
export type Patched = { readonly fields: Fields } | { readonly violations: readonly Violation[] };

interface Operation {
  readonly op: string;
  readonly path: string;
  readonly from?: Value;
  readonly value?: Value;
}

/** So many changes may come at once, each with so long a path. */
const operationsMost = 1000;
const pathMost = 1000;
/** So many values may be copied from one place of a thing to another: a copy of what was copied is twice as large. */
const copiedMost = 10_000;

/**
 * A thing after a list of changes (RFC 6902), which is the body or its one member that is such a list; nothing where the body is none. What
 * `replace` speaks of and is not there is added.
 */
export function patchedBy(request: Value, before: Fields): Patched | undefined {
  const operations = operationsIn(request);
  if (operations === undefined) return undefined;
  const whole: { '': Value } = { '': withoutPrototype(copy(before)) };
  const room = { values: copiedMost };
  for (const [at, operation] of operations.entries()) {
    const wrong = carryOut(whole, operation, room);
    if (wrong !== undefined) return { violations: [{ in: 'body', path: `/${at}/${wrong.member}`, ...wrong.said }] };
  }
  const fields = whole[''];
  if (isFields(fields)) return { fields };
  return { violations: [{ in: 'body', path: '', found: describeValue(fields), expected: 'a map once all is changed' }] };
}

/** Whether a body is a list of changes, or holds one. */
export function isPatch(request: Value): boolean {
  return operationsIn(request) !== undefined;
}

function operationsIn(request: Value): readonly Operation[] | undefined {
  if (isOperations(request)) return request;
  const lists = isFields(request) ? Object.values(request).filter(isOperations) : [];
  return lists.length === 1 ? lists[0] : undefined;
}

function isOperations(value: Value): value is readonly Operation[] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.length <= operationsMost &&
    value.every((one: Value) => isFields(one) && isVerb(one.op) && isPointer(one.path))
  );
}

function isVerb(op: Value): boolean {
  return typeof op === 'string' && /^(?:add|remove|replace|move|copy|test)$/.test(op);
}

function isPointer(path: Value): path is string {
  return typeof path === 'string' && path.length <= pathMost && (path === '' || path.startsWith('/'));
}

interface Wrong {
  readonly member: 'path' | 'from' | 'value';
  readonly said: { readonly found: string; readonly expected: string };
}

function carryOut(whole: Fields, { op, path, from, value }: Operation, room: Room): Wrong | undefined {
  if (op === 'add' || op === 'replace') return put(whole, path, copy(value), op === 'add') ? undefined : nowhere('path', path);
  const source = op === 'move' || op === 'copy' ? from : path;
  const found = isPointer(source) ? valueAt(whole, source) : undefined;
  if (found === undefined) return nowhere(source === path ? 'path' : 'from', source);
  if (op === 'test') {
    if (isSame(found.value, value)) return undefined;
    return { member: 'value', said: { found: describeValue(value), expected: describeValue(found.value) } };
  }
  if (op === 'copy' && !fits(found.value, room))
    return { member: 'from', said: { found: describeValue(source), expected: `at most ${copiedMost} values that are copied` } };
  if (op !== 'copy') take(found.holder, found.key);
  if (op === 'remove') return undefined;
  return put(whole, path, copy(found.value), true) ? undefined : nowhere('path', path);
}

/** How many values more may be copied. */
interface Room {
  values: number;
}

/** Takes the room that a value needs; whether there was enough. */
function fits(value: Value, room: Room): boolean {
  room.values -= 1;
  if (room.values < 0) return false;
  return !isHolder(value) || Object.values(value).every((inner: Value) => fits(inner, room));
}

function nowhere(member: Wrong['member'], path: Value): Wrong {
  return { member, said: { found: describeValue(path), expected: 'the path of a value that is there' } };
}

type Holder = Fields | Value[];

interface Place {
  readonly holder: Holder;
  readonly key: string;
  readonly value: Value;
}

function valueAt(whole: Fields, path: string): Place | undefined {
  const steps = ['', ...pathOf(path)];
  const key = steps.at(-1) ?? '';
  const holder = holderOf(whole, steps);
  const value = holder && memberOf(holder, key);
  return holder && value !== undefined ? { holder, key, value } : undefined;
}

function holderOf(whole: Fields, steps: readonly string[]): Holder | undefined {
  let holder: Value = whole;
  for (const step of steps.slice(0, -1)) holder = isHolder(holder) ? memberOf(holder, step) : undefined;
  return isHolder(holder) ? holder : undefined;
}

function isHolder(value: Value): value is Holder {
  return Array.isArray(value) || isFields(value);
}

function memberOf(holder: Holder, key: string): Value {
  if (Array.isArray(holder)) return isIndex.test(key) ? holder[Number(key)] : itemChosen(holder, key);
  return Object.hasOwn(holder, key) ? holder[key] : undefined;
}

const isIndex = /^(?:0|[1-9]\d{0,8})$/;

/** `@id=='a'` in the place of a number is the item that has this member, as queries by JSONPath (RFC 9535) have it. */
function itemChosen(holder: readonly Value[], key: string): Value {
  const [, name = '', text] = /^@\.?(\w{1,99})\s?==\s?['"]?([^'"]{0,999})['"]?$/.exec(key) ?? [];
  if (text === undefined) return undefined;
  return holder.find((one) => isFields(one) && (one[name] === undefined ? holder.length === 1 : String(one[name]) === text));
}

function put(whole: Fields, path: string, value: Value, isAdded: boolean): boolean {
  const steps = ['', ...pathOf(path)];
  const key = steps.at(-1) ?? '';
  const holder = holderOf(whole, steps);
  if (holder === undefined || value === undefined) return false;
  if (!Array.isArray(holder)) {
    Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true });
    return true;
  }
  const at = key === '-' && isAdded ? holder.length : isIndex.test(key) ? Number(key) : -1;
  if (at < 0 || at > holder.length - (isAdded ? 0 : 1)) return false;
  holder.splice(at, isAdded ? 0 : 1, value);
  return true;
}

function take(holder: Holder, key: string): void {
  if (Array.isArray(holder)) holder.splice(Number(key), 1);
  else delete holder[key];
}
