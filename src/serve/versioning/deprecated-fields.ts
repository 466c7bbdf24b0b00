import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, entryOf, isStated, statedValue } from '../../parts/fact.ts';
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
  const shown = shapes.flatMap((shape) => fieldsShown(spec, shape, user, new Set()));
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

function fieldsShown(spec: Spec, shape: Shape, user: string | undefined, seen: Set<string>): Deprecation[] {
  if (typeof shape.resource !== 'string')
    return Object.values(shape).flatMap((inner) =>
      (Array.isArray(inner) ? inner : [inner]).flatMap((each) =>
        typeof each === 'object' && each !== null && !Array.isArray(each) ? fieldsShown(spec, each as Shape, user, seen) : [],
      ),
    );
  if (seen.has(shape.resource)) return [];
  seen.add(shape.resource);
  const fields = entriesOf(entryOf(spec.resources.all, shape.resource)?.fields ?? { standing: 'open', at: '' });
  return fields.flatMap(([, field]) =>
    isHidden(field, { user, reveals: false })
      ? []
      : [...(field.deprecated ? [field.deprecated] : []), ...fieldsShown(spec, statedValue(field.shape) ?? {}, user, seen)],
  );
}
