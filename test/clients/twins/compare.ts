import type { Exchange } from './exchanges.ts';

/** How a step ended on one side: what was asked and answered, and what the client threw, if it did. */
export interface StepSide {
  readonly exchanges: readonly Exchange[];
  readonly reason?: string;
}

/** What differs between the two sides of a step, one line each; nothing where they are alike. */
export function differences(real: StepSide, standIn: StepSide): string[] {
  const found: string[] = [];
  if ((real.reason === undefined) !== (standIn.reason === undefined))
    found.push(`the step ${outcome(real)} there, and ${outcome(standIn)} here`);
  const most = Math.max(real.exchanges.length, standIn.exchanges.length);
  for (let index = 0; index < most; index++) {
    const [there, here] = [real.exchanges[index], standIn.exchanges[index]];
    if (there === undefined || here === undefined) {
      found.push(`${there?.request ?? here?.request}: ${there ? 'only there' : 'only here'}`);
      continue;
    }
    found.push(...ofExchange(there, here).map((one) => `${there.request}: ${one}`));
  }
  return found;
}

function outcome({ reason }: StepSide): string {
  return reason === undefined ? 'is whole' : `fails (${reason})`;
}

function ofExchange(there: Exchange, here: Exchange): string[] {
  const found: string[] = [];
  if (there.status !== here.status) found.push(`status ${there.status} there, ${here.status} here`);
  if (there.type !== here.type && there.type !== '' && here.type !== '') found.push(`${there.type} there, ${here.type} here`);
  const [missing, more] = [without(there.members, here.members), without(here.members, there.members)];
  if (missing.length > 0) found.push(`only there: ${missing.join(', ')}`);
  if (more.length > 0) found.push(`only here: ${more.join(', ')}`);
  return found;
}

function without(all: readonly string[], others: readonly string[]): string[] {
  return all.filter((one) => !others.includes(one));
}
