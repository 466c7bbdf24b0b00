import { nearest } from '../../document/nearest.ts';
import { below } from '../../document/pointer.ts';
import { entriesOf, isStated, statedValue } from '../../parts/fact.ts';
import { machineOf } from '../../parts/states.ts';
import { listed } from '../names.ts';
import { error, type Rule, type Subject, type Wrong } from '../rule.ts';
import { eachField } from './fields.ts';

/** What sets a field. */
export const setRules: readonly Rule[] = [
  error(
    'resources/set-key',
    'A key of `set` is no change of its resource.',
    'Write create, update, replace, write, a transition, or an operation that stores the resource.',
    (subject) =>
      eachField(subject, ({ at, set }, { name }) =>
        Object.keys(set).flatMap((key) => notAChange(subject, name, key, below(below(at, 'set'), key))),
      ),
  ),
];

const changes: readonly string[] = ['create', 'update', 'replace', 'upsert', 'write'];

function notAChange(subject: Subject, resource: string, key: string, at: string): Wrong[] {
  if (changes.includes(key)) return [];
  const { spec } = subject;
  const machine = machineOf(spec.states, resource);
  const transitions = machine ? entriesOf(machine.transitions).map(([name]) => name) : [];
  const bare = key.endsWith(` ${resource}`) ? key.slice(0, -resource.length - 1) : key;
  if (transitions.includes(bare) || changes.includes(bare)) return [];
  const operations = subject.operationsByName.get(key) ?? [];
  if (operations.some((operation) => operation.resource === resource && stores(operation))) return [];
  if (mayHaveMore(subject, resource)) return [];
  const known = [...changes.filter((change) => change !== 'upsert'), ...transitions];
  const meant = nearest(key, known);
  const about =
    operations.length > 0
      ? `The operation \`${key}\` does not store a \`${resource}\``
      : `\`${key}\` is no change of a \`${resource}\``;
  return [{ message: `${about}.`, remedy: meant ? `Write \`${meant}\`.` : `Write one of ${listed(known)}.`, at, onKey: true }];
}

function stores({ endpoint }: Subject['operations'][number]): boolean {
  const verb = endpoint && statedValue(endpoint.does)?.verb;
  return verb !== 'read' && verb !== 'list' && verb !== 'delete';
}

/** Whether transitions or operations may be there that are not listed. */
function mayHaveMore({ spec, names }: Subject, resource: string): boolean {
  const { states } = spec;
  if (!names.operations.closed) return true;
  if (!isStated(states.all)) return states.all.standing !== 'none';
  const machine = states.all.value[resource];
  if (!machine) return true;
  if (!isStated(machine)) return machine.standing !== 'none';
  return (
    machine.value.others !== undefined || !(isStated(machine.value.transitions) || machine.value.transitions.standing === 'none')
  );
}
