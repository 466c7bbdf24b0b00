/** Holds one reference service to its document, with a fault or without, and says what came of it. */
import { verify } from '../../src/index.ts';
import type { Breach, VerifyReport } from '../../src/verify/report.ts';
import { openClockDoor } from './clock-door.ts';
import type { Fault } from './fault.ts';
import type { ReferenceService } from './services.ts';

export interface Holding {
  readonly seed: number;
  readonly requests?: number | undefined;
  /** Only the cases about this part, kind of fact or fact. */
  readonly only?: readonly string[];
  readonly replay?: string;
  /** The breach that is looked for: with it, the run ends. */
  readonly until?: (breach: Breach) => boolean;
}

/** What came of holding a service with a fault to its document. */
export interface Hunted {
  readonly service: string;
  readonly fault: Fault;
  /** The report names the fact, and the reproduction fails with the fault and passes without it. */
  readonly isKilled: boolean;
  /** Why not, or what else: `not testable`, `held`, `does not come again`, `comes without the fault`. */
  readonly remark: string;
  /** Requests that were sent, and seconds that had gone by, when the first promise was found broken. */
  readonly requests: number;
  readonly seconds: number;
  /** How many steps the reproduction has. */
  readonly steps: number;
  /** Other facts that the report says are broken. */
  readonly others: readonly string[];
  readonly runSeconds: number;
  readonly runRequests: number;
}

export interface Held {
  readonly report: VerifyReport;
  /** When the first promise was found broken. */
  readonly first: { readonly requests: number; readonly seconds: number } | undefined;
}

/** Starts a service and holds it to its document. */
export async function hold(
  service: ReferenceService,
  fault: string | undefined,
  { seed, requests, only, replay, until }: Holding,
): Promise<Held> {
  const running = await service.start({ fault });
  const door = await openClockDoor(running.clock);
  const fromMs = performance.now();
  let first: Held['first'];
  try {
    const report = await verify(service.document, {
      url: running.url,
      callers: await service.callers(),
      seed,
      clockUrl: door.url,
      ...(requests !== undefined && { requests }),
      ...(only && { only }),
      ...(replay !== undefined && { replay }),
      ...(until && { until }),
      onProgress: ({ broken, requests: sent }) => {
        if (broken > 0) first ??= { requests: sent, seconds: (performance.now() - fromMs) / 1000 };
      },
    });
    return { report, first };
  } finally {
    await door.close();
    await running.close();
  }
}

/** Trials that come by much, for what is looked at in every answer. */
const wandering = [
  'resources/stored',
  'states/transitions',
  'endpoints/routes',
  'endpoints/media',
  'endpoints/lists',
  'errors/own',
];

/** Whether the fault is found, and its reproduction is one of this fault. `isNarrow` asks only what is about its fact. */
export async function hunt(service: ReferenceService, fault: Fault, whole: Holding, isNarrow: boolean): Promise<Hunted> {
  const holding = isNarrow ? { ...whole, only: [`${fault.kind}:${fault.subject}`, ...wandering] } : whole;
  const until = (breach: Breach): boolean => isOf(breach, fault);
  const { report, first } = await hold(service, fault.id, { ...holding, until });
  const named = report.breaches
    .filter((breach) => isOf(breach, fault))
    .sort((one, other) => one.steps.length - other.steps.length);
  const others = new Set(
    report.breaches.filter((breach) => !isOf(breach, fault)).map(({ kind, subject }) => `${kind} (${subject})`),
  );
  let remark = verdictOf(report, fault);
  let killer: Breach | undefined;
  for (const breach of named) {
    remark = await reproduced(service, fault, breach, holding);
    killer = remark === '' ? breach : undefined;
    if (killer) break;
  }
  return {
    service: service.name,
    fault,
    isKilled: killer !== undefined,
    remark,
    requests: first?.requests ?? 0,
    seconds: first?.seconds ?? 0,
    steps: killer?.steps.length ?? 0,
    others: [...others],
    runSeconds: report.ms / 1000,
    runRequests: report.requests,
  };
}

function isOf({ kind, subject }: Breach, fault: Fault): boolean {
  return kind === fault.kind && subject === fault.subject;
}

function verdictOf({ facts }: VerifyReport, { kind, subject }: Fault): string {
  const fact = facts.find((one) => one.kind === kind && one.subject === subject);
  return fact ? `${fact.verdict}${fact.why === undefined ? '' : `: ${fact.why}`}` : 'no such fact';
}

/** Nothing where the reproduction fails with the fault and passes without it. */
async function reproduced(service: ReferenceService, fault: Fault, { id }: Breach, holding: Holding): Promise<string> {
  const again = await hold(service, fault.id, { ...holding, replay: id, until: (breach) => isOf(breach, fault) });
  if (!again.report.breaches.some((breach) => isOf(breach, fault))) return 'does not come again';
  const without = await hold(service, undefined, { ...holding, replay: id });
  return without.report.breaches.some((breach) => isOf(breach, fault)) ? 'comes without the fault' : '';
}
