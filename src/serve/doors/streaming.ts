import type { ServerResponse } from 'node:http';
import type { Reply, ReplyReader, ReplyStream } from '../call.ts';
import { headerList } from './send.ts';

/** The header fields of a reply whose length nobody knows. */
function endlessHeaders(reply: Reply): (string | number)[] {
  return headerList(reply).slice(0, -2);
}

/** Writes a reply that goes on over a connection, until one side ends it. Nothing else is asked over that connection meanwhile. */
export function streamTo(response: ServerResponse, reply: Reply, stream: ReplyStream): void {
  response.writeHead(reply.status, endlessHeaders(reply));
  if (response.req.method === 'HEAD') {
    response.end();
    return;
  }
  response.flushHeaders();
  let reader: ReplyReader | undefined;
  response.on('drain', () => reader?.drained());
  response.once('close', () => reader?.gone());
  reader = stream.start({
    write(piece) {
      response.write(piece);
      return response.writableLength;
    },
    isFull: () => response.writableNeedDrain,
    end: () => void response.end(),
    cut: () => void response.destroy(),
  });
  if (response.destroyed) reader.gone();
}

/** The body of a reply that goes on, for a `Response`. */
export function streamBody(stream: ReplyStream): ReadableStream<Uint8Array> {
  let reader: ReplyReader | undefined;
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const room = () => controller.desiredSize ?? 0;
        let isOver = false;
        const finish = (end: () => void) => {
          if (isOver) return;
          isOver = true;
          end();
          reader?.gone();
        };
        reader = stream.start({
          write(piece) {
            if (!isOver) controller.enqueue(piece);
            return Math.max(0, fetchBytesMost - room());
          },
          isFull: () => room() <= 0,
          end: () => finish(() => controller.close()),
          cut: () => finish(() => controller.error(new Error('The reader is too slow.'))),
        });
      },
      pull: () => reader?.drained(),
      cancel: () => reader?.gone(),
    },
    { highWaterMark: fetchBytesMost, size: (piece) => piece?.byteLength ?? 0 },
  );
}

/** How much waits for a reader in process before it counts as full. */
const fetchBytesMost = 64 * 1024;
