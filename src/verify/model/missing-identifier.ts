import { readTemplate } from '../../kinds/generators/template.ts';
import { statedValue } from '../../parts/fact.ts';
import { Fresh } from '../exchange/symbol.ts';
import type { Model } from './model.ts';

/** An identifier of a resource's own form that no row has; nothing where its form is not known. */
export function missingIdentifier(model: Model, resource: string): Fresh | undefined {
  const stated = model.resource(resource);
  const identifier = stated && statedValue(stated.identifier);
  if (!identifier?.generate) return undefined;
  if (identifier.generate === 'client') return model.freshValue(resource, identifier.field);
  if (identifier.generate === 'integer') return new Fresh(({ bytes }) => 1_000_000_000 + (bytes(1)[0] ?? 0));
  const read = readTemplate(identifier.generate);
  return 'template' in read ? new Fresh((draw) => read.template.make(draw)) : undefined;
}
