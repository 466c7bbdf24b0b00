import { isMap } from '../../document/values.ts';
import { entryOf, statedValue } from '../../parts/fact.ts';
import { isAlwaysShown, isWritable, requestShape } from '../../parts/payload.ts';
import type { Model } from './model.ts';

/** Whether everybody who makes a row may say what a field of it is to be, and everybody who reads it is shown that. */
export function isSendable(model: Model, name: string, field: string): boolean {
  const resource = model.resource(name);
  const stated = resource && entryOf(resource.fields, field);
  if (!stated || !isAlwaysShown(model.spec, stated) || stated.writable !== undefined || Object.keys(stated.set).length > 0)
    return false;
  const creations = [...model.endpointsThat('create', name), ...model.endpointsThat('upsert', name)];
  return (
    isWritable(model.spec, resource, stated) &&
    creations.every((endpoint) => {
      const properties = statedValue(requestShape(model.spec, endpoint))?.properties;
      return isMap(properties) && field in properties;
    })
  );
}
