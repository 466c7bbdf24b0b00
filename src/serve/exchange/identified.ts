import type { Caller, Refusal } from './exchange.ts';

/**
 * Who is calling, as step 4 finds out. Nobody, where the operation asks for no credential and none is looked at. `mayNotWrite`: a page of
 * another site asks, with what its browser sends by itself. `warning`: what was let pass.
 */
export type Identified =
  | { readonly caller: Caller | undefined; readonly mayNotWrite?: true; readonly warning?: string }
  | { readonly refusal: Refusal };
