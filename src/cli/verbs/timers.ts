import type { Json, JsonMap } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import { counted, paint, printable, type Terminal } from '../terminal.ts';
import { Misspelt, type VerbCall, type VerbRun } from '../verb.ts';
import { runAdministration } from './administer.ts';

/** `ninefold timers list|fire|drop DOC`. */
export const runTimers: VerbRun = async (asked, terminal) =>
  runAdministration(asked, `timers ${asked.action}`, inputOf(asked), tell, terminal);

function inputOf(asked: VerbCall): JsonMap {
  const { action } = asked;
  const row = rowIn(asked.value('row'));
  const timer = asked.value('timer');
  if (action === 'list' && timer !== undefined) throw new Misspelt('timers list takes no --timer; it shows all that a row has.');
  if (action !== 'list' && (row === undefined || timer === undefined || asked.has('failing')))
    throw new Misspelt(`timers ${action} needs to know which: --row RESOURCE/ID --timer TRANSITION.`);
  return { ...(row && { row }), ...(timer !== undefined && { timer }), ...(asked.has('failing') && { failing: true }) };
}

function rowIn(text: string | undefined): JsonMap | undefined {
  if (text === undefined) return undefined;
  const slash = text.indexOf('/');
  if (slash < 1 || slash === text.length - 1)
    throw new Misspelt(`--row ${text}: write the resource and the identifier, as in parcel/pcl_1.`);
  return { resource: text.slice(0, slash), id: text.slice(slash + 1) };
}

function tell(action: string, told: Json, terminal: Terminal): void {
  if (action === 'list') {
    const list = (Array.isArray(told) ? told : []).filter(isMap);
    for (const timer of list) terminal.write(`${lineOf(timer, terminal)}\n`);
    terminal.write(`${counted(list.length, 'timer')}\n`);
    return;
  }
  const { fired, dropped } = isMap(told) ? told : {};
  const timer = fired ?? dropped;
  if (isMap(timer)) terminal.write(`${fired ? 'Fired' : 'Dropped'} ${nameOf(timer)}.\n`);
}

function lineOf(timer: JsonMap, terminal: Terminal): string {
  const late = typeof timer.lateMs === 'number' ? [paint(terminal, 'yellow', `${Math.round(timer.lateMs / 1000)} s late`)] : [];
  const failed =
    timer.failed === undefined
      ? []
      : [
          paint(
            terminal,
            'red',
            `failed ${timer.failed === 1 ? 'once' : `${String(timer.failed)} times`}: ${printable(String(timer.why))}`,
          ),
        ];
  return [String(timer.due), nameOf(timer), ...late, ...failed].join('  ');
}

function nameOf({ timer, resource, id }: JsonMap): string {
  return printable(`${String(timer)} of ${String(resource)} ${String(id)}`);
}
