import type { Json } from '../../document/document.ts';
import { compileDefaults, type FillDefaults } from '../../parts/defaults.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, entryOf, type Fact, isStated, statedValue } from '../../parts/fact.ts';
import { type Ledger, ledgerOf } from '../../parts/facts/ledger.ts';
import { callableOperations, type Operation, resourceOfEffect } from '../../parts/operations.ts';
import { requestShape } from '../../parts/payload.ts';
import type { Resource } from '../../parts/resources.ts';
import type { Shape } from '../../parts/shape.ts';
import type { Spec } from '../../parts/spec.ts';
import type { Transition } from '../../parts/states.ts';
import { currentVersion } from '../../parts/versioning.ts';
import { historyOf } from '../../parts/versions/carry.ts';
import { isServed } from '../../parts/versions/spec-in-version.ts';
import type { TrialCaller } from '../exchange/callers.ts';
import { Facts } from '../exchange/claim.ts';
import type { TrialExchange } from '../exchange/exchange.ts';
import type { RequestPlan, SentBody } from '../exchange/plan.ts';
import { type Fresh, freshText, type Symbolic } from '../exchange/symbol.ts';
import { freshOf, tellsApart } from '../values/fresh.ts';
import { ExpectedAccess } from './access.ts';
import { byRule, withoutNamedChildren, withoutState } from './by-rule.ts';
import { Expressions } from './expressions.ts';
import { fieldsHiddenFrom, uniqueFields } from './fields.ts';
import { type NeededParameters, neededParameters, resourceByPath } from './needed.ts';
import { type HeldRule, heldRules, isByRule } from './promises.ts';
import { Refusals } from './refusals.ts';
import { Schemas } from './schemas.ts';
import { type GivenRows, Seeds } from './seeds.ts';

/** What goes into a request beside its endpoint. */
interface RequestParts {
  readonly path?: Readonly<Record<string, Symbolic>>;
  readonly query?: Readonly<Record<string, Symbolic>>;
  readonly headers?: Readonly<Record<string, Symbolic>>;
  /** The value of the body, sent in the endpoint's first media type. */
  readonly json?: Symbolic;
  readonly body?: SentBody;
  readonly caller?: TrialCaller | undefined;
}

/** What is known beside the document, and how strictly it is meant. */
interface Given {
  readonly rows?: GivenRows | undefined;
  readonly conventions?: boolean | undefined;
}

/** The document as a model of the service: what can be asked, by whom, and what has to come of it. */
export class Model {
  readonly spec: Spec;
  readonly ledger: Ledger;
  readonly facts: Facts;
  readonly callers: readonly TrialCaller[];
  /** Those whose credentials are not good. */
  readonly strangers: readonly TrialCaller[];
  readonly operations: readonly Operation[];
  readonly schemas: Schemas;
  readonly expressions: Expressions;
  readonly access: ExpectedAccess;
  readonly refusals: Refusals;
  readonly seeds: Seeds;
  /** Whether the service is held to what is usual as well, and to what a tool read off. */
  readonly conventions: boolean;
  /** What stands before every path: that of the base address, and the version where it is chosen by path. */
  readonly prefix: string;
  /** The prefix of the base address alone. */
  readonly basePath: string;
  /** What is asked for with every request is gathered once. */
  #endpoints: readonly Endpoint[] | undefined;
  #endpointsBy: ReadonlyMap<string, readonly Endpoint[]> | undefined;
  /** Endpoints that only older versions have. */
  readonly #gone: ReadonlySet<string>;
  readonly #operationOf = new WeakMap<Endpoint, Operation>();
  readonly #needed = new WeakMap<Endpoint, NeededParameters>();
  readonly #fills = new Map<Shape, FillDefaults | undefined>();
  readonly #requestShapes = new WeakMap<Endpoint, Fact<Shape>>();
  readonly #rowShapes = new WeakMap<Endpoint, Fact<Shape>>();

  constructor(stated: Spec, callers: readonly TrialCaller[], basePath: string, { rows = {}, conventions = false }: Given = {}) {
    const spec = byRule(stated);
    this.conventions = conventions;
    this.seeds = new Seeds(spec, rows);
    this.spec = spec;
    // What is counted is what stands there.
    this.ledger = ledgerOf(stated);
    this.facts = new Facts(this.ledger, spec, conventions);
    this.callers = callers.filter(({ bad }) => bad === undefined);
    this.strangers = callers.filter(({ bad }) => bad !== undefined);
    const history = historyOf(spec);
    const isGone = (key: string) => history !== undefined && !isServed(history, history.current, key);
    this.#gone = new Set(entriesOf(spec.endpoints.all).flatMap(([key]) => (isGone(key) ? [key] : [])));
    this.operations = callableOperations(spec).filter(({ endpoint }) => !this.#gone.has(endpoint?.key ?? ''));
    this.schemas = new Schemas(spec);
    this.expressions = new Expressions(spec);
    this.access = new ExpectedAccess(spec, this.expressions);
    this.refusals = new Refusals(spec, this.expressions);
    this.basePath = basePath;
    this.prefix = basePath + (statedValue(spec.versioning.select)?.by === 'path' ? versionPath(spec) : '');
  }

  get endpoints(): readonly Endpoint[] {
    this.#endpoints ??= entriesOf(this.spec.endpoints.all).flatMap(([key, endpoint]) => (this.#gone.has(key) ? [] : [endpoint]));
    return this.#endpoints;
  }

  /** Whether the service is held to a rule, at an endpoint or as a whole: it is promised there, or conventions are asked for. */
  isHeld(rule: HeldRule, endpoint?: Endpoint): boolean {
    const isRule = endpoint ? isByRule(endpoint) : this.endpoints.some(isByRule);
    return this.conventions || heldRules[rule][isRule ? 'stated' : 'readOff'] === 'promise';
  }

  /** What an endpoint takes, without a state that would be a transition; the same object each time, so that what is made of it is made once. */
  requestShape(endpoint: Endpoint): Fact<Shape> {
    const known =
      this.#requestShapes.get(endpoint) ??
      withoutNamedChildren(this.spec, endpoint, withoutState(this.spec, endpoint, requestShape(this.spec, endpoint)));
    this.#requestShapes.set(endpoint, known);
    return known;
  }

  /** A body as the service reads it: with the defaults of what it leaves out, where the endpoint states what it takes. */
  filledBody(endpoint: Endpoint | undefined, json: Json): Json {
    const shape = endpoint && isStated(endpoint.request) ? statedValue(endpoint.request) : undefined;
    if (!shape) return json;
    const fill = this.#fills.has(shape) ? this.#fills.get(shape) : compileDefaults(this.spec, shape);
    this.#fills.set(shape, fill);
    if (!fill) return json;
    const filled = structuredClone(json);
    fill(filled);
    return filled;
  }

  /** What an endpoint would take if it stated no request: what the row that it makes or changes is made of. */
  rowShape(endpoint: Endpoint): Shape | undefined {
    const effect = statedValue(endpoint.does);
    if (!effect || !['create', 'update', 'replace', 'upsert'].includes(effect.verb)) return undefined;
    const known =
      this.#rowShapes.get(endpoint) ?? requestShape(this.spec, { ...endpoint, request: { standing: 'open', at: endpoint.at } });
    this.#rowShapes.set(endpoint, known);
    return statedValue(known);
  }

  resource(name: string): Resource | undefined {
    return entryOf(this.spec.resources.all, name);
  }

  /** The field that names a row. */
  identifierField(resource: string): string {
    return statedValue(this.resource(resource)?.identifier)?.field ?? 'id';
  }

  /** The operation that an endpoint is. */
  operationOf(endpoint: Endpoint): Operation {
    const known = this.#operationOf.get(endpoint);
    if (known) return known;
    const found = this.operations.find((operation) => operation.endpoint?.key === endpoint.key);
    const operation = found ?? { name: endpoint.operation, endpoint };
    this.#operationOf.set(endpoint, operation);
    return operation;
  }

  /** The endpoints that do this to a resource. */
  endpointsThat(verb: string, resource: string): readonly Endpoint[] {
    this.#endpointsBy ??= Map.groupBy(this.endpoints, ({ does }) => {
      const effect = statedValue(does);
      return effectKey(effect?.verb, resourceOfEffect(effect));
    });
    return this.#endpointsBy.get(effectKey(verb, resource)) ?? [];
  }

  /** The endpoint that fires a transition. */
  endpointOfTransition(resource: string, name: string): Endpoint | undefined {
    return this.endpointsThat('transition', resource).find((endpoint) => {
      const effect = statedValue(endpoint.does);
      return effect?.verb === 'transition' && effect.transition === name;
    });
  }

  /** The updates that are a transition, where they send its state. */
  updatesOf(resource: string, { on = [] }: Transition): readonly Endpoint[] {
    return on.length === 0 ? [] : this.endpointsThat('update', resource).filter(({ operation }) => on.includes(operation));
  }

  /** The resource whose identifier a path parameter is, where it is the field of its name and that is a reference. */
  parentOf(endpoint: Endpoint, parameter: string): string | undefined {
    const resource = this.resource(resourceOfEffect(statedValue(endpoint.does)) ?? '');
    const field = resource && entryOf(resource.fields, parameter);
    const stated = entryOf(endpoint.parameters, parameter);
    return field?.ref ?? (stated && statedValue(stated.shape)?.ref) ?? resourceByPath(this.endpoints, endpoint, parameter);
  }

  /** A value that no other row has for a field. */
  freshValue(resource: string, field: string): Fresh | undefined {
    const stated = entryOf(this.resource(resource)?.fields, field);
    const shape = stated && statedValue(stated.shape);
    return shape && freshOf(this.spec, shape);
  }

  /** Whether a row is told from all others by a value of a field that was drawn anew, or by a row that was made for it to refer to. */
  tellsApart(resource: string, field: string): boolean {
    const stated = entryOf(this.resource(resource)?.fields, field);
    const shape = stated && statedValue(stated.shape);
    return stated?.ref !== undefined || (shape !== undefined && tellsApart(this.spec, shape));
  }

  uniqueFields(resource: string): readonly string[] {
    return uniqueFields(this.spec, resource);
  }

  /** Whether no two rows may refer to the same, so that what a row refers to has to be another one each time. */
  isUniqueByReference(resource: string): boolean {
    const stated = this.resource(resource);
    return stated?.unique.some(({ fields }) => fields.some((name) => entryOf(stated.fields, name)?.ref !== undefined)) ?? false;
  }

  /** The fields of a row that a caller is not shown. */
  unseenBy(resource: string, caller: TrialCaller | undefined): ReadonlySet<string> {
    return fieldsHiddenFrom(this.spec, resource, caller);
  }

  /** Those of them that a row lacks as it was shown: what some rule leaves out, and was shown all the same, is known. */
  unseenIn(
    resource: string,
    caller: TrialCaller | undefined,
    shown: Readonly<Record<string, unknown>> | undefined,
  ): ReadonlySet<string> {
    const hidden = this.unseenBy(resource, caller);
    return shown ? new Set([...hidden].filter((name) => shown[name] === undefined)) : hidden;
  }

  /** Whether a field of this name is shown as the row that it refers to, in some resource. */
  isExpanded(name: string): boolean {
    return entriesOf(this.spec.resources.all).some(([, { fields }]) => {
      const show = entryOf(fields, name)?.show;
      return show !== undefined && show !== 'id';
    });
  }

  /** Whom an answer was for: nobody, where no credential is looked at. */
  readerOf({ endpoint, caller }: Pick<TrialExchange, 'endpoint' | 'caller'>): TrialCaller | undefined {
    return endpoint && this.access.isPublic(this.operationOf(endpoint)) && this.spec.authentication.schemes.standing !== 'none'
      ? undefined
      : (caller ?? this.#anybody);
  }

  /** Where nobody shows who it is, whoever asks is the same. */
  get #anybody(): TrialCaller | undefined {
    const [first] = this.callers;
    return first?.credential === undefined ? first : undefined;
  }

  /** A request to an endpoint, in the newest version, with what the endpoint asks of every request. */
  request(endpoint: Endpoint, parts: RequestParts = {}): RequestPlan {
    const type = endpoint.consumes?.[0] ?? 'application/json';
    const body = parts.body ?? (parts.json === undefined ? undefined : { value: parts.json, type });
    const key = endpoint.idempotency?.required ? { [endpoint.idempotency.header]: freshText('key-') } : {};
    const version = this.version();
    const needed = this.#neededBy(endpoint);
    return {
      method: endpoint.method,
      template: endpoint.path,
      prefix: this.prefix,
      path: parts.path ?? {},
      query: { ...version.query, ...needed.query, ...parts.query },
      headers: { ...version.headers, ...needed.header, ...key, ...parts.headers },
      ...(body && { body }),
      ...(parts.caller && { caller: parts.caller }),
      endpoint,
    };
  }

  /** Values for the parameters that a request cannot do without, beside its path. */
  #neededBy(endpoint: Endpoint): NeededParameters {
    const known = this.#needed.get(endpoint) ?? neededParameters(this.spec, endpoint);
    this.#needed.set(endpoint, known);
    return known;
  }

  /** The version that everything is asked in: the current one, named wherever a request can name it. */
  version(): { readonly name?: string; readonly query: Record<string, string>; readonly headers: Record<string, string> } {
    const select = statedValue(this.spec.versioning.select);
    const name = currentVersion(this.spec.versioning);
    if (!select || name === undefined || select.by === 'pin' || select.by === 'path') return { query: {}, headers: {} };
    const named = { [select.carrier]: name };
    return select.by === 'header' ? { name, query: {}, headers: named } : { name, query: named, headers: {} };
  }
}

function versionPath(spec: Spec): string {
  const carrier = statedValue(spec.versioning.select)?.carrier ?? '';
  return carrier.replaceAll(/\{[^{}]+\}/g, currentVersion(spec.versioning) ?? '');
}

function effectKey(verb: string | undefined, resource: string | undefined): string {
  return `${verb} ${resource}`;
}
