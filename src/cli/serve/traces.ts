import { makeSpans, type TraceApi } from '../../serve/service/telemetry.ts';
import { Misuse } from '../verb.ts';

/** Whoever wants traces has it beside Ninefold: it is no dependency, so that nobody else has it. */
const api: string = '@opentelemetry/api';

/** Makes spans through the API of OpenTelemetry; an SDK that was loaded before takes them on. @throws {Misuse} where the API is not there. */
export async function startTraces(): Promise<() => void> {
  try {
    // What the package of that name gives.
    return makeSpans((await import(api)) as TraceApi);
  } catch (cause) {
    throw new Misuse(
      `--traces needs ${api} beside Ninefold: npm install ${api} and an SDK, which node --import loads (docs/operate.md).`,
      { cause },
    );
  }
}
