import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

/**
 * Loaded ahead of everything in each process of a test, by `NODE_OPTIONS`: one module has the text that the file named by
 * `NINEFOLD_MUTANT` gives it. The working tree is as it was, so that several mutants can be tried at once.
 */
const named = process.env.NINEFOLD_MUTANT;
if (named !== undefined) {
  const { url, source }: { url: string; source: string } = JSON.parse(readFileSync(named, 'utf8'));
  registerHooks({
    load: (asked, context, next) => (asked === url ? { format: 'module', source, shortCircuit: true } : next(asked, context)),
  });
}
