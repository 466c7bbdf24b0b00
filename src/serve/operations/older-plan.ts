/** An endpoint as an older version has it: the parameters and the body of its requests, as the newest has them. */

import { pathOf, pointerOf } from '../../document/pointer.ts';
import { isSame } from '../../document/values.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, entryOf, isStated, statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import type { Parameter } from '../../parts/parameters.ts';
import { fieldParameters, identifierParameter } from '../../parts/payload.ts';
import type { Spec } from '../../parts/spec.ts';
import type { CarriedField } from '../../parts/versions/carry.ts';
import { CannotCarry } from '../../parts/versions/change-values.ts';
import { olderParameterName } from '../../parts/versions/spec-in-version.ts';
import type { OlderVersion } from '../exchange/compilation.ts';
import type { Exchange, Input, Plan, Refusal, Value } from '../exchange/exchange.ts';
import type { OpenFact } from '../exchange/open.ts';
import { describeValue, type Violation } from '../http/violation.ts';
import { compileRaiseBody, valueAtPath } from '../resources/older-body.ts';
import { expansionPaths } from '../resources/representation.ts';
import type { Engine } from './engine.ts';
import { compileInput } from './input.ts';

/**
 * An endpoint as an older version has it: it reads requests in that version's words and raises them to the newest, in which
 * the same run carries them out. `open` are facts without which the version's shapes are not known.
 */
export function planInVersion(plan: Plan, older: OlderVersion, open: readonly OpenFact[], engine: Engine): Plan {
  const { compilation, acceptsOpen } = engine;
  const { spec } = compilation;
  const { endpoint } = plan;
  const olderEndpoint = entryOf(older.spec.endpoints.all, endpoint.key) ?? endpoint;
  const parameters = compileRaiseParameters(endpoint, older, spec);
  const body = plan.input.takesBody ? compileRaiseBody(endpoint, older, spec) : undefined;
  const lower = compileLower(endpoint, older, parameters);
  const { doubtsOf } = plan;
  return {
    ...plan,
    input: inVersion(compileInput(olderEndpoint, plan.paging, { ...compilation, spec: older.spec })),
    inDoubt: acceptsOpen ? plan.inDoubt : [...plan.inDoubt, ...open],
    doubtsOf: acceptsOpen && open.length > 0 ? (exchange) => [...(doubtsOf?.(exchange) ?? []), ...open] : doubtsOf,
    lower,
    raise:
      (parameters || body) &&
      ((exchange) => {
        if (parameters) {
          exchange.params = parameters.params(exchange.params);
          exchange.pathParams = parameters.path(exchange.pathParams);
        }
        if (!body) return;
        const raised = body(exchange.request, exchange.view.user);
        exchange.older = raised.older;
        exchange.request = raised.request;
      }),
  };
}

/** What is wrong with a request is said in the words that it was read in. */
function inVersion(input: Input): Input {
  const mark = (refusal: Refusal): { readonly refusal: Refusal } => ({ refusal: { ...refusal, inVersion: true } });
  return {
    takesBody: input.takesBody,
    parameters(call, path, forgive) {
      const taken = input.parameters(call, path, forgive);
      return 'refusal' in taken ? mark(taken.refusal) : taken;
    },
    body(call, bytes) {
      const taken = input.body(call, bytes);
      return 'refusal' in taken ? mark(taken.refusal) : taken;
    },
  };
}

/** Compiles the telling of refusals in the words of an older version; nothing where they are the same. */
function compileLower(
  endpoint: Endpoint,
  older: OlderVersion,
  raised: RaiseParameters | undefined,
): ((refusal: Refusal, exchange: Exchange) => Refusal) | undefined {
  const resource = resourceOfEffect(statedValue(endpoint.does));
  const own = isStated(endpoint.request) ? older.carries.shape(endpoint.request.value) : undefined;
  const carry = own ?? (resource === undefined ? undefined : older.carries.resource(resource));
  if (!carry && !raised) return undefined;
  const lower = (violation: Violation, exchange: Exchange): Violation => {
    if (violation.in !== 'body') return { ...violation, path: raised?.olderName(violation.path) ?? violation.path };
    const place = carry?.place(pathOf(violation.path));
    if (!place) return violation;
    const path = pointerOf(place.path);
    if (!place.isMapped) return { ...violation, path };
    const found = describeValue(valueAtPath(exchange.older?.body ?? exchange.request, place.path));
    return { ...violation, path, found, expected: `what is ${violation.expected} in the newest version` };
  };
  return (refusal, exchange) =>
    refusal.violations && !refusal.inVersion
      ? { ...refusal, violations: refusal.violations.map((violation) => lower(violation, exchange)) }
      : refusal;
}

type Values = Readonly<Record<string, Value>>;

/** The parameters of a request in an older version, as the newest has them. */
interface RaiseParameters {
  params(values: Values): Values;
  path(values: Readonly<Record<string, string>>): Readonly<Record<string, string>>;
  /** What the older version calls a parameter. */
  olderName(name: string): string;
}

interface Raised {
  readonly newer: string;
  readonly turn: ((value: Value) => Value) | undefined;
}

/** Compiles it for one endpoint; nothing where its parameters are the same in both versions. */
function compileRaiseParameters(endpoint: Endpoint, older: OlderVersion, spec: Spec): RaiseParameters | undefined {
  const { carries } = older;
  const resource = resourceOfEffect(statedValue(endpoint.does));
  const carry = resource === undefined ? undefined : carries.resource(resource);
  const raised = new Map<string, Raised>();
  const paths = new Map<string, Raised>();
  const olderNames = new Map<string, string>();
  const set = (map: Map<string, Raised>, from: string, newer: string, turn: Raised['turn']) => {
    if (from !== newer || turn) map.set(from, { newer, turn });
    olderNames.set(newer, from);
  };
  for (const [name, parameter] of entriesOf(endpoint.parameters)) {
    if (!carry || parameter.in === 'path') continue;
    const line = parameter.filters === undefined ? undefined : carry.newer(parameter.filters);
    const turn = parameter.sortNames
      ? undefined
      : parameter.sorts
        ? (value: Value) => sortUp(value, (field) => carry.older(field))
        : filterUp(line, parameter);
    set(raised, olderParameterName(carry, parameter), name, turn);
  }
  const identifier = resource === undefined ? undefined : statedValue(entryOf(spec.resources.all, resource)?.identifier);
  for (const name of carry ? fieldParameters(endpoint) : []) {
    const field = name === identifierParameter(endpoint) ? identifier?.field : name;
    const line = field === undefined ? undefined : carry?.newer(field);
    set(paths, carry?.newer(name)?.older ?? name, name, line?.carry && ((value) => textUp(line, value)));
  }
  if (endpoint.expand && resource !== undefined)
    set(raised, endpoint.expand.parameter, endpoint.expand.parameter, (value) => expansionUp(value, resource, older, spec));
  if (raised.size === 0 && paths.size === 0) return undefined;
  const all = new Map([...raised, ...paths]);
  return {
    params: (values) => raise(values, all),
    // A path holds texts, and `textUp` gives texts.
    path: (values) => raise(values, paths) as Readonly<Record<string, string>>,
    olderName: (name) => olderNames.get(name) ?? name,
  };
}

function raise(values: Values, map: ReadonlyMap<string, Raised>): Values {
  const out: Record<string, Value> = Object.create(null);
  for (const [name, value] of Object.entries(values)) {
    const found = map.get(name);
    out[found?.newer ?? name] = found?.turn ? found.turn(value) : value;
  }
  return out;
}

/** A filter of a mapped field: an older value that no newer one reads as can be no row's, so it becomes no value at all. */
function filterUp(line: CarriedField | undefined, parameter: Parameter): Raised['turn'] {
  const carry = line?.carry;
  if (!carry) return undefined;
  const up = (value: Value): Value[] => {
    try {
      const newer = carry.up(value);
      return isSame(carry.down(newer), value) ? [newer] : [];
    } catch (failure) {
      if (!(failure instanceof CannotCarry)) throw failure;
      return [];
    }
  };
  return (value) => {
    const list = Array.isArray(value) ? value : parameter.op === 'in' ? String(value).split(',') : undefined;
    return list ? list.flatMap(up) : (up(value)[0] ?? []);
  };
}

/** What no text of a path is, so what no row has. */
const nothing = '\0';

function textUp({ carry }: CarriedField, value: Value): string {
  for (const candidate of [value, Number(value)]) {
    try {
      if (candidate === value || String(candidate) === value) {
        const newer = carry?.up(candidate);
        if (isSame(carry?.down(newer), candidate)) return String(newer);
      }
    } catch (failure) {
      if (!(failure instanceof CannotCarry)) throw failure;
    }
  }
  return nothing;
}

/** Sort values by their newest names; one that the older version cannot sort by keeps its name, which no field may have. */
function sortUp(value: Value, lineOf: (field: string) => CarriedField | undefined): Value {
  const words = (Array.isArray(value) ? value.map(String) : String(value).split(',')).map((word) => word.trim());
  const newer = words.map((word) => {
    const sign = /^[-+]/.exec(word)?.[0] ?? '';
    const line = lineOf(word.slice(sign.length));
    return line?.newer === undefined || !line.isOrdered ? word : sign + line.newer;
  });
  return Array.isArray(value) ? newer : newer.join(',');
}

/** The paths of an expansion, each step by the newest name of its reference. */
function expansionUp(value: Value, root: string, { carries }: OlderVersion, spec: Spec): Value {
  return expansionPaths(value).map((path) => {
    let resource: string | undefined = root;
    return path
      .split('.')
      .map((step) => {
        const name: string = (resource === undefined ? undefined : carries.resource(resource)?.older(step)?.newer) ?? step;
        const stated = resource === undefined ? undefined : entryOf(spec.resources.all, resource);
        resource = stated && entryOf(stated.fields, name)?.ref;
        return name;
      })
      .join('.');
  });
}
