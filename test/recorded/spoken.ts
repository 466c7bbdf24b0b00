import { chanceOf as chanceOfSeed } from '../../bench/drawn/chance.ts';
import type { Json, JsonMap } from '../../src/document/document.ts';
import type { EvaluationContext, Raw } from '../../src/parts/expressions/cel-value.ts';
import { checkExpression } from '../../src/parts/expressions/check.ts';
import { compileExpression } from '../../src/parts/expressions/compile.ts';
import { toFilter } from '../../src/parts/expressions/filter.ts';
import { filterParam } from '../../src/parts/expressions/filter-form.ts';
import type { ExpressionUse, Scope } from '../../src/parts/expressions/scope.ts';
import { chanceOf, type Ground, nothing } from '../../src/parts/samples/sampler.ts';
import { Samples } from '../../src/parts/samples/samples.ts';
import type { Spec } from '../../src/parts/spec.ts';
import { expressionUses } from '../../src/parts/uses/all.ts';
import { otherText } from './edits.ts';

/** What each expression of a document reads, and what it comes to with values that samples make; the same of it misspelt. */
export function spoken(spec: Spec, seed: number): unknown[] {
  const chance = chanceOfSeed(seed);
  const contexts = contextsOf(spec);
  return expressionUses(spec).map((use) => {
    const other = otherText(use.source, chance);
    const misspelt = typeof other === 'string' ? { ...use, source: other } : use;
    return [use.at, use.expected, said(spec, use, contexts), checkExpression(spec, misspelt), said(spec, misspelt, contexts)];
  });
}

type Contexts = (scope: Scope) => readonly EvaluationContext[];

function said(spec: Spec, use: ExpressionUse, contexts: Contexts): unknown[] {
  // Those of the operations between say much the same.
  const scopes = use.scopes.length > 2 ? [use.scopes[0]!, use.scopes.at(-1)!] : use.scopes;
  return scopes.map(({ operation, scope }) => {
    const compiled = compileExpression(spec, { ...use, scope });
    const filter = use.role === 'condition' && scope.resource ? toFilter(spec, { source: use.source, scope }) : undefined;
    const decided = filter && 'filter' in filter ? filter : undefined;
    return [
      operation,
      Object.keys(scope),
      [compiled.reads, compiled.seeks, filter && (decided ? decided.filter : filter)],
      contexts(scope).map((context) => [compiled.evaluate(context), decided?.params.map((param) => filterParam(param, context))]),
    ];
  });
}

/** Values of each variable of a scope: all that may be there, what has to be, and others; whoever is referred to is whoever asks. */
function contextsOf(spec: Spec): Contexts {
  const samples = new Samples(spec);
  const [user = 'nobody'] = Object.keys((spec.purpose.users.standing === 'stated' && spec.purpose.users.value) || {});
  const made = new Map<string, unknown>();
  const sample = (shape: JsonMap, ground: Ground): Raw | undefined => {
    const key = JSON.stringify([shape, ground.seed]);
    if (!made.has(key)) made.set(key, samples.of(shape).make(ground, ''));
    const value = made.get(key);
    return value === nothing ? undefined : (value as Raw);
  };
  const contextOf = (scope: Scope, ground: Ground): EvaluationContext => {
    const entries = Object.entries(scope).map(([name, variable]) => {
      if ('clock' in variable) return [name, new Date('2026-03-01T10:20:30.400Z')];
      if (name === 'caller') return [name, { ...(sample(variable.shape, ground) as object), id: 'x1', user }];
      return [name, sample(variable.shape, ground)];
    });
    const follow = (resource: string, key: unknown): Raw =>
      ground.seed === 'least' ? undefined : sample({ resource }, { ...ground, seed: `${ground.seed} ${JSON.stringify(key)}` });
    return { ...Object.fromEntries(entries), follow };
  };
  return (scope) => grounds.map((ground) => contextOf(scope, ground));
}

/** The grounds on which samples are made: much, little, and something else. */
export const grounds: readonly Ground[] = (['much', 'least', 'other'] as const).map((seed) => ({
  seed,
  identifierOf: (resource: string, path: string): Json => (seed === 'much' ? 'x1' : `${resource} ${chanceOf(path).below(3)}`),
  sampled: () => {},
  isFull: seed === 'much',
}));
