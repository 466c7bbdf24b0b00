import { isMap } from '../../../document/values.ts';
import { standsFor } from '../../../kinds/formats/all.ts';
import { statedValue } from '../../../parts/fact.ts';
import type { Operation } from '../../../parts/operations.ts';
import { requestShape } from '../../../parts/payload.ts';
import { toJsonSchema } from '../../../parts/schemas.ts';
import type { Shape } from '../../../parts/shape.ts';
import type { TrialExchange } from '../../exchange/exchange.ts';
import { resolve } from '../../exchange/symbol.ts';
import { ready } from '../../make/readied.ts';
import type { Model } from '../../model/model.ts';
import { conditionFacts } from '../../model/refused-as.ts';
import type { Session } from '../../session/session.ts';
import type { Case } from '../../session/trial.ts';
import { bodyBytesMost, claimSize, sizesFact } from './size-claim.ts';

/** An operation that takes a form with a file in it, and the field of the file. */
export interface FileTaker {
  readonly operation: Operation;
  readonly field: string;
}

/** Where a file can be sent by somebody who surely may. */
export function fileTaker(model: Model): FileTaker | undefined {
  for (const operation of model.operations) {
    const { endpoint } = operation;
    if (!endpoint?.consumes?.some((type) => type.startsWith('multipart/form-data'))) continue;
    const shape = statedValue(requestShape(model.spec, endpoint));
    const field = shape && fileIn(model, shape);
    const isSure = model.callers.some((caller) => model.access.allows(operation, caller) === 'yes');
    if (field !== undefined && (isSure || model.access.isPublic(operation))) return { operation, field };
  }
  return undefined;
}

function fileIn(model: Model, shape: Shape): string | undefined {
  const { properties } = toJsonSchema(model.spec, shape, 'sent');
  const found = Object.entries(isMap(properties) ? properties : {}).find(
    ([, one]) => isMap(one) && standsFor(one.format, 'bytes'),
  );
  return found?.[0];
}

const boundary = 'ninefold-file-boundary';

/** A file of the stated size in a form is not too large, and one of one byte more is. */
export function fileCase(model: Model, { operation, field }: FileTaker, bytes: number): Case {
  return {
    name: `${operation.name} with a file of ${bytes} bytes, and of one more`,
    facts: [sizesFact, ...conditionFacts(model, 'limit.size', operation)],
    async run(session: Session) {
      const { endpoint } = operation;
      const bodyBytes = statedValue(model.spec.limits.size)?.body ?? bodyBytesMost;
      session.need(endpoint !== undefined && bytes < bodyBytesMost, `files of ${bytes} bytes are not sent`);
      session.need(bytes + 2048 < bodyBytes, 'a body that is too large would be refused before its file is looked at');
      for (const length of [bytes, bytes + 1]) {
        const { request } = await ready(session, endpoint);
        const { body } = request;
        session.need(body !== undefined && 'value' in body, `no body is known for ${operation.name}`);
        const drawn = resolve(body.value, session.run);
        const text = formWith(isMap(drawn) ? drawn : {}, field, length);
        const done = await session.send({ ...request, body: { text, type: `multipart/form-data; boundary=${boundary}` } });
        claimSize(session, operation, done, { what: 'a file', bytes, size: fileSize, at: 'file' });
      }
    },
  };
}

function formWith(members: Readonly<Record<string, unknown>>, field: string, length: number): string {
  const parts = Object.entries({ ...members, [field]: '' }).map(([name, value]) => {
    const disposition = `Content-Disposition: form-data; name="${name}"`;
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    const inner =
      name === field
        ? `${disposition}; filename="nf.bin"\r\nContent-Type: application/octet-stream\r\n\r\n${'x'.repeat(length)}`
        : `${disposition}\r\n\r\n${text}`;
    return `--${boundary}\r\n${inner}\r\n`;
  });
  return `${parts.join('')}--${boundary}--\r\n`;
}

/** The bytes of the file in a form as it was sent. */
function fileSize({ sent }: TrialExchange): number {
  const text = sent.text ?? '';
  const start = text.indexOf('application/octet-stream\r\n\r\n') + 'application/octet-stream\r\n\r\n'.length;
  return text.indexOf(`\r\n--${boundary}`, start) - start;
}
