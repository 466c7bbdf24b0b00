import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, entryOf, isStated, statedValue } from '../../parts/fact.ts';
import { resourcesIn } from '../../parts/mentions.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import type { Shape } from '../../parts/shape.ts';
import type { Spec } from '../../parts/spec.ts';
import type { Deprecation } from '../../parts/versioning.ts';
import type { Exchange } from '../exchange.ts';
import { isHidden } from '../shown.ts';

/** The deprecated fields and parameters that an exchange has to do with. */
export interface DeprecatedWords {
  /** Those of every answer of the endpoint that shows something: they stand in its shape. */
  readonly shown: readonly Deprecation[];
  /** Those that a request may use: by sending them, or by a parameter. */
  readonly used: ((exchange: Exchange) => readonly Deprecation[]) | undefined;
}

/** Finds them for one endpoint, as a user sees it. */
export function deprecatedWords(spec: Spec, endpoint: Endpoint, user: string | undefined): DeprecatedWords {
  const resource = resourceOfEffect(statedValue(endpoint.does));
  const answers = statedValue(endpoint.response)?.flatMap(({ shape }) => (isStated(shape) ? [shape.value] : []));
  const shapes: Shape[] = answers ?? (resource === undefined ? [] : [{ resource }]);
  const shown = shapes.flatMap((shape) => fieldsShown(spec, shape, user));
  const fields = entriesOf(entryOf(spec.resources.all, resource ?? '')?.fields ?? { standing: 'open', at: '' });
  const sent = fields.flatMap(([name, { deprecated }]) => (deprecated ? [[name, deprecated] as const] : []));
  const parameters = entriesOf(endpoint.parameters).flatMap(([name, parameter]) => {
    const own = parameter.deprecated ?? sent.find(([field]) => field === parameter.filters)?.[1];
    return own ? [[name, own] as const] : [];
  });
  const sorter = entriesOf(endpoint.parameters).find(([, { sorts }]) => sorts)?.[0];
  if (sent.length === 0 && parameters.length === 0) return { shown, used: undefined };
  return {
    shown,
    used({ request, params }) {
      const body = typeof request === 'object' && request !== null ? request : {};
      const sorted =
        sorter === undefined
          ? []
          : String(params[sorter] ?? '')
              .split(',')
              .map((word) => word.replace(/^\s*[-+]?/, ''));
      return [
        ...sent.flatMap(([name, deprecated]) => (Object.hasOwn(body, name) || sorted.includes(name) ? [deprecated] : [])),
        ...parameters.flatMap(([name, deprecated]) => (params[name] !== undefined ? [deprecated] : [])),
      ];
    },
  };
}

/** The deprecated fields in whatever a shape shows, at any depth. */
function fieldsShown(spec: Spec, shape: Shape, user: string | undefined): Deprecation[] {
  const nodes = nodesOf(spec, user);
  const met = resourcesIn(shape);
  const shown: Deprecation[] = [];
  // A set is gone through with what is added on the way.
  for (const name of met) {
    const node = nodes.get(name) ?? nodeOf(spec, name, user);
    nodes.set(name, node);
    shown.push(...node.deprecated);
    for (const held of node.holds) met.add(held);
  }
  return shown;
}

/** What one resource shows to one user: its own deprecated fields, and the resources that it holds. */
interface Node {
  readonly deprecated: readonly Deprecation[];
  readonly holds: ReadonlySet<string>;
}

function nodeOf(spec: Spec, name: string, user: string | undefined): Node {
  const resource = entryOf(spec.resources.all, name);
  const fields = entriesOf(resource?.fields ?? { standing: 'open', at: '' })
    .map(([, field]) => field)
    .filter((field) => !isHidden(field, { user, reveals: false }));
  const holds = new Set<string>();
  const whole = resource?.shape && statedValue(resource.shape);
  if (whole) resourcesIn(whole, holds);
  for (const { shape } of fields) resourcesIn(statedValue(shape), holds);
  return { deprecated: fields.flatMap(({ deprecated }) => deprecated ?? []), holds };
}

/** Kept for all the endpoints of a document: hundreds of them show the same resources. */
const known = new WeakMap<Spec, Map<string | undefined, Map<string, Node>>>();

function nodesOf(spec: Spec, user: string | undefined): Map<string, Node> {
  const byUser = known.get(spec) ?? new Map<string | undefined, Map<string, Node>>();
  known.set(spec, byUser);
  const nodes = byUser.get(user) ?? new Map<string, Node>();
  byUser.set(user, nodes);
  return nodes;
}
