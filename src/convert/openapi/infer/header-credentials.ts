import { below } from '../../../document/pointer.ts';
import { isMap, newMap, type OpenMap } from '../../../document/values.ts';
import type { SourceOperation } from '../read/operation.ts';
import { nameOfOperation, writeScheme } from '../read/security.ts';
import { endpointOf, type InferenceContext, type InferenceRule } from './context.ts';

/** `X-Api-Key` among the parameters of nearly every operation of a description that has no word on security. */
export const headerCredentials: InferenceRule = {
  name: 'header-credentials',
  says: 'Where nothing is described of security, a header that is called a key, a token or a secret of the interface (`X-Api-Key`, `xi-api-key`, `X-Server-Token`) and that nearly all operations take is the credential; several of them are shown together where all are required, with an identifier of the same (`X-App-Id`) beside them. Operations without it are public.',
  infer(context) {
    const { tree, reader, trail, operations, endpoints } = context;
    if (tree.authentication !== undefined || Object.hasOwn(reader.root.value, 'security')) return;
    if (operations.some(({ map }) => Object.hasOwn(map.value, 'security'))) return;
    const found = credentialsOf(operations);
    const [first] = found;
    if (first === undefined) return;
    const schemes: OpenMap = newMap();
    for (const { name, from } of found) {
      const scheme = writeScheme(name, { value: { type: 'apiKey', in: 'header', name }, at: from }, reader, trail);
      if (scheme === undefined) return;
      schemes[name] = scheme;
      trail.infer(below('/authentication/schemes', name), headerCredentials.name, from, 0.8);
    }
    const authentication: OpenMap = Object.assign(newMap(), { schemes });
    if (found.length > 1) {
      authentication.accept = [found.map(({ name }) => name)];
      trail.infer('/authentication/accept', headerCredentials.name, first.from, 0.8);
    }
    const open = operations.filter((operation) => !takes(operation, first.name));
    if (open.length > 0) {
      authentication.public = open.map((operation) => nameOfOperation(endpoints, operation));
      trail.infer('/authentication/public', headerCredentials.name, first.from, 0.6);
    }
    tree.authentication = authentication;
    for (const operation of operations) withoutParameters(context, operation, new Set(found.map(({ name }) => name)));
  },
};

interface HeaderCredential {
  readonly name: string;
  /** Where it is first described. */
  readonly from: string;
}

/** The headers that callers are known by: all that are required, or the only one. */
function credentialsOf(operations: readonly SourceOperation[]): readonly HeaderCredential[] {
  const headers = new Map<string, { from: string; count: number; required: number }>();
  for (const { parameters } of operations) {
    for (const one of parameters) {
      if (one.in !== 'header') continue;
      const known = headers.get(one.name) ?? { from: one.map.at, count: 0, required: 0 };
      known.count += 1;
      if (one.map.value.required === true) known.required += 1;
      headers.set(one.name, known);
    }
  }
  const usual = [...headers].filter(([, { count }]) => count >= leastOperations && count >= leastShare * operations.length);
  const keys = usual.filter(([name]) => secretNames.test(name));
  const isRequired = keys.length > 0 && keys.every(([, { count, required }]) => required === count);
  const owners = usual.filter(([name, { count, required }]) => ownerNames.test(name) && required === count);
  if (keys.length !== 1 && !isRequired) return [];
  return [...(isRequired ? owners : []), ...keys].map(([name, { from }]) => ({ name, from }));
}

/** Of 2,636 descriptions 524 describe no scheme; about 40 of these have such a header at half of their operations, and most of them at all. */
const leastShare = 0.8;
const leastOperations = 2;

/** Keys of what a request does again (`Idempotency-Key`), of pages and of forms are none of the interface. */
const secretNames =
  /(?:^|[-_]|[a-z])(?:api|app|application|access|auth|server|subscription|client|account|dev|developer)[-_]?(?:key|token|secret)$|^(?:x[-_])?token$/i;
const ownerNames = /(?:^|[-_])(?:api|app|application|client)[-_]?id$/i;

function takes({ parameters }: SourceOperation, name: string): boolean {
  return parameters.some((one) => one.in === 'header' && one.name === name);
}

/** What is a credential is no parameter besides. */
function withoutParameters(context: InferenceContext, operation: SourceOperation, names: ReadonlySet<string>): void {
  const endpoint = endpointOf(context, operation);
  if (!isMap(endpoint.parameters)) return;
  const left = Object.entries(endpoint.parameters).filter(([name]) => !names.has(name));
  if (left.length === 0) delete endpoint.parameters;
  else endpoint.parameters = Object.assign(newMap(), Object.fromEntries(left));
}
