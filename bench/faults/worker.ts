/** A process of the matrix: does one piece of work after another and tells what came of it. */
import { type Hunted, hold, hunt } from './hold.ts';
import { services } from './services.ts';

/** A fault that is hunted, or, without one, a correct service that is held to its document. */
export interface Work {
  readonly service: string;
  readonly fault?: string;
  readonly seed: number;
  readonly requests?: number | undefined;
  /** Ask only what is about the fault's own fact. */
  readonly isNarrow?: boolean;
}

export interface Alarm {
  readonly service: string;
  readonly seed: number;
  /** What is said to be broken, or unsteady, in a service that is right. */
  readonly alarms: readonly string[];
  readonly seconds: number;
  readonly requests: number;
}

export type Done = { readonly hunted: Hunted } | { readonly calm: Alarm } | { readonly failed: string };

export async function done(work: Work): Promise<Done> {
  const service = services.find(({ name }) => name === work.service);
  if (!service) return { failed: `there is no service ${work.service}` };
  const { seed, requests } = work;
  if (work.fault === undefined) {
    const { report } = await hold(service, undefined, { seed, requests });
    const alarms = report.breaches.map(({ kind, subject, reason, seen }) => `${kind} (${subject}), ${reason}: ${seen}`);
    return { calm: { service: service.name, seed, alarms, seconds: report.ms / 1000, requests: report.requests } };
  }
  const fault = service.faults.find(({ id }) => id === work.fault);
  return fault
    ? { hunted: await hunt(service, fault, { seed, requests }, work.isNarrow ?? false) }
    : { failed: `there is no fault ${work.fault}` };
}

if (process.send) {
  process.on('message', (work: Work) => {
    done(work)
      .catch((error: unknown): Done => ({ failed: `${work.service} ${work.fault ?? ''}: ${String(error)}` }))
      .then((told) => process.send?.(told));
  });
}
