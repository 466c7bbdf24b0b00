import { below } from '../../document/pointer.ts';
import { statedValue } from '../../parts/fact.ts';
import { unstated } from '../subject/names.ts';
import { itemPlace } from '../subject/operation-names.ts';
import { error, type Rule, warning } from '../subject/rule.ts';
import { eachField } from './fields.ts';

/** Who sees a field and who writes it. */
export const visibilityRules: readonly Rule[] = [
  error(
    'resources/unknown-user',
    '`visible` or `writable` names a user that is not stated.',
    'Write the name of a user, or state the user under `purpose.users`.',
    (subject) =>
      eachField(subject, ({ at, visible = [], writable = [] }) =>
        [['visible', visible] as const, ['writable', writable] as const].flatMap(([word, users]) =>
          users.flatMap((user, index) =>
            user === 'anyone' ? [] : unstated(subject.names.users, user, itemPlace(subject, below(at, word), users, index)),
          ),
        ),
      ),
  ),
  error(
    'resources/read-only-writable',
    'A read-only field names users who may write it.',
    'Take out `readOnly` or `writable`.',
    (subject) =>
      eachField(subject, ({ name, at, readOnly, writable }) =>
        readOnly && writable && writable.length > 0
          ? [{ message: `\`${name}\` is never taken from a request, and these users may write it.`, at: below(at, 'writable') }]
          : [],
      ),
  ),
  error(
    'resources/write-only-visible',
    'A write-only field names users who see it.',
    'Take out `writeOnly` or `visible`.',
    (subject) =>
      eachField(subject, ({ name, at, writeOnly, visible }) =>
        writeOnly && visible && visible.length > 0
          ? [{ message: `\`${name}\` is never shown, and these users see it.`, at: below(at, 'visible') }]
          : [],
      ),
  ),
  warning(
    'resources/neither-read-nor-written',
    'A field is never taken, never shown, and nothing sets it.',
    'Take out `readOnly` or `writeOnly`, or say what sets it.',
    (subject) =>
      eachField(
        subject,
        ({ name, at, readOnly, writeOnly, visible, set, generate, default: usual, required }, { identifier }) => {
          const isHidden = writeOnly || visible?.length === 0;
          const isMade = Object.keys(set).length > 0 || generate !== undefined || usual !== undefined;
          if (!readOnly || !isHidden || isMade || statedValue(required) || statedValue(identifier)?.field === name) return [];
          return [{ message: `Nobody writes \`${name}\` and nobody sees it.`, at, onKey: true }];
        },
      ),
  ),
];
