/** A service with a stream, as a process of its own: it says where it listens, and books a parcel when it is told to. */
import { serve } from '../src/index.ts';
import { eventsDocument } from './events-document.ts';

const service = await serve(eventsDocument, { identify: () => ({ user: 'merchant', id: 'm1', scopes: [] }) });
const at = await service.listen({ port: 0 });
process.send?.({ port: at.port });
process.on('message', () => {
  const body = JSON.stringify({ to: 'Kade 1', weight_g: 500 });
  const headers = { 'content-type': 'application/json' };
  void service.fetch(new Request('http://127.0.0.1/parcels', { method: 'POST', headers, body }));
});
process.on('disconnect', () => process.exit(0));
