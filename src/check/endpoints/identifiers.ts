import { below } from '../../document/pointer.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { isStated, statedValue } from '../../parts/fact.ts';
import { boundByPath, isSuppliedByService } from '../../parts/payload.ts';
import type { Shape } from '../../parts/shape.ts';
import { isPlainMap } from '../../parts/source.ts';
import { sentAs } from '../../parts/taking.ts';
import { fieldOf } from '../subject/names.ts';
import { error, type Rule, type Subject, type Wrong, warning } from '../subject/rule.ts';
import { bodyMembersOf } from './taking.ts';

/** Identifiers that the client makes, where a stated body says what it may send. */
export const sentIdentifierRules: readonly Rule[] = [
  error(
    'endpoints/identifier-unsent',
    'A creation refuses whatever is sent, because its stated body has no place for the identifier that its client has to make.',
    'State the identifier among the properties of the `request`, let the path name it, `set` it, or let the service generate it.',
    (subject) => subject.endpoints.flatMap((endpoint) => unsent(subject, endpoint, true)),
  ),
  warning(
    'endpoints/identifier-unnamed',
    'A stated body does not name the identifier that its client has to make, so that whatever it describes is refused.',
    'State the identifier among the properties of the `request`.',
    (subject) => subject.endpoints.flatMap((endpoint) => unsent(subject, endpoint, false)),
  ),
];

/** `isClosed`: whether the body lets nothing pass but what it names. */
function unsent(subject: Subject, endpoint: Endpoint, isClosed: boolean): Wrong[] {
  const { does, request, takes } = endpoint;
  const effect = statedValue(does);
  if (effect?.verb !== 'create') return [];
  const resource = subject.resources.get(effect.resource);
  const identifier = resource?.identifier.standing === 'stated' ? resource.identifier.value : undefined;
  const field = fieldOf(resource, identifier?.field ?? '');
  if (identifier?.generate !== 'client' || !field || field.readOnly || isSuppliedByService(field, 'create')) return [];
  if (boundByPath(subject.spec, endpoint).includes(field.name)) return [];
  const at = below(endpoint.at, 'request');
  if (request.standing === 'none' && isClosed)
    return [{ message: `\`${field.name}\` is to be made by the client, which sends nothing.`, at }];
  if (!isStated(request)) return [];
  const shape = innerShape(request.value, takes?.path ?? []);
  const members = shape && bodyMembersOf(subject, shape);
  const [member = ''] = Object.keys(sentAs(endpoint, { [field.name]: true }));
  if (!members || members.includes(member) || isClosedShape(shape) !== isClosed) return [];
  return [{ message: `\`${member}\` is to be made by the client, and is not among what it sends.`, at, onKey: true }];
}

/** The shape of the member that holds the fields; nothing where that cannot be told. */
function innerShape(shape: Shape, [first, ...rest]: readonly string[]): Shape | undefined {
  if (first === undefined) return shape;
  const inner = isPlainMap(shape.properties) ? shape.properties[first] : undefined;
  return isPlainMap(inner) ? innerShape(inner, rest) : undefined;
}

function isClosedShape({ resource, additionalProperties, unevaluatedProperties }: Shape): boolean {
  return typeof resource === 'string' || additionalProperties === false || unevaluatedProperties === false;
}
