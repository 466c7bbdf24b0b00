import type { Json, JsonMap } from '../document/document.ts';
import { isMap } from '../document/values.ts';
import { runAdministration } from './administer.ts';
import { paint, shown, type Terminal } from './terminal.ts';
import { type Asked, Misspelt, type Run } from './verb.ts';

/** `ninefold deliveries list|show|resend DOC`. */
export const runDeliveries: Run = async (asked, terminal) =>
  runAdministration(asked, `deliveries ${asked.action}`, inputOf(asked), tell, terminal);

function inputOf(asked: Asked): JsonMap {
  const { action } = asked;
  const id = asked.value('id');
  const failed = asked.has('failed');
  if (action === 'list' && id !== undefined) throw new Misspelt('deliveries list takes no --id; deliveries show does.');
  if (action === 'show' && (id === undefined || failed))
    throw new Misspelt('deliveries show needs a delivery or an event: --id ID.');
  if (action === 'resend' && (id === undefined) === !failed)
    throw new Misspelt('deliveries resend needs what to send again: --id ID, or --failed for all that were given up.');
  return { ...(id !== undefined && { id }), ...(failed && { failed }) };
}

function tell(action: string, told: Json, terminal: Terminal): void {
  if (action === 'resend') {
    const { resent, running } = isMap(told) ? told : {};
    const count = countOf(Array.isArray(resent) ? resent.length : 0);
    const when = running === true ? 'sent again now' : 'sent again when the service is next started';
    terminal.write(`${count} to be ${when}.\n`);
    return;
  }
  const list = (Array.isArray(told) ? told : []).filter(isMap);
  for (const delivery of list) terminal.write(deliveryText(delivery, terminal));
  if (action === 'list') terminal.write(`${countOf(list.length)}\n`);
}

function countOf(count: number): string {
  return `${count.toLocaleString('en')} ${count === 1 ? 'delivery' : 'deliveries'}`;
}

function deliveryText(delivery: JsonMap, terminal: Terminal): string {
  const state = String(delivery.state);
  const style = state === 'accepted' ? 'green' : state === 'given up' ? 'red' : 'yellow';
  const words = [delivery.event, delivery.kind, delivery.about, `to ${String(delivery.subscriber)}`];
  const last = delivery.last === undefined ? [] : [`last ${String(delivery.last)}`];
  const due = delivery.due === undefined ? [] : [`due ${String(delivery.due)}`];
  const line = [...words.filter((word) => word !== undefined), ...last, ...due].map((word) => shown(String(word))).join('  ');
  const attempts = Array.isArray(delivery.attempts) ? delivery.attempts.filter(isMap).map(attemptText) : [];
  return [`${String(delivery.delivery).padEnd(8)}${paint(terminal, style, state.padEnd(18))}${line}`, ...attempts, ''].join('\n');
}

function attemptText({ at, ms, status, error, response }: JsonMap): string {
  const came = shown(String(status ?? error));
  const said = response === undefined ? '' : `  ${shown(String(response).replace(/\s+/g, ' ').slice(0, 200))}`;
  return `        ${String(at)}  ${String(ms)} ms  ${came}${said}`;
}
