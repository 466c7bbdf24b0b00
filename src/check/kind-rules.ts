import { below } from '../document/pointer.ts';
import type { KindRule } from '../kinds/problem.ts';
import type { Rule, Subject, Wrong } from './rule.ts';

/** What a document states of a kind, and where. */
export interface StatedKind<Facts> {
  readonly at: string;
  readonly facts: Facts;
}

/** The rules that kinds bring along: each is run over what a document states of its kind. */
export function rulesOfKinds<Facts, Kind extends { readonly rules: readonly KindRule<Facts>[] }>(
  kinds: readonly Kind[],
  stated: (subject: Subject, kind: Kind) => readonly StatedKind<Facts>[],
): Rule[] {
  return kinds.flatMap((kind) =>
    kind.rules.map(({ code, severity, meaning, remedy, problems }): Rule => {
      const find = (subject: Subject): Wrong[] =>
        stated(subject, kind).flatMap(({ at, facts }) =>
          problems(facts).map(({ member, ...problem }) => ({
            ...problem,
            at: member === undefined ? at : below(at, member),
            ...(member === undefined && { onKey: true }),
          })),
        );
      return { code, severity, meaning, remedy, find };
    }),
  );
}
