/** A shop of seats: trips with what is left of them, bookings that count while they are held or paid, and lines of a booking. */
export const shop = `
resources:
  trip:
    identifier: { field: id, generate: client }
    fields:
      id: string
      name: string
      seats: { type: integer, minimum: 0 }
      seats_left: { type: integer, derive: "resource.seats - sum(booking.trip, item.seats, item.status in ['held', 'paid'])" }
      bookings: { type: integer, derive: "count(booking.trip)" }
      is_taken: { type: boolean, derive: "exists(booking.trip, item.status == 'paid')" }
      cheapest: { type: integer, derive: "min(booking.trip, item.amount)" }
      last_at: { type: string, format: date-time, derive: "max(booking.trip, item.at)" }
      takings: { type: number, derive: "sum(booking.trip, double(item.amount) / 100.0, item.status == 'paid')" }
    required: [id, name, seats, seats_left, bookings, is_taken, takings]
  booking:
    identifier: { field: id, generate: client }
    fields:
      id: string
      trip: { ref: trip, onDelete: cascade }
      seats: { type: integer, minimum: 1 }
      at: { type: string, format: date-time, readOnly: true, set: { create: now } }
      status: { type: string, readOnly: true }
      amount: { type: integer, derive: "resource.seats * 1250 + sum(extra.booking, item.price)" }
    required: [id, trip, seats, at, status, amount]
  extra:
    identifier: { field: id, generate: client }
    fields: { id: string, booking: { ref: booking, onDelete: clear }, price: { type: integer } }
    required: [id]
states:
  booking:
    field: status
    initial: held
    states: [held, paid, expired]
    transitions: { pay: held -> paid, expire: { from: held, to: expired, after: 15m } }
endpoints:
  POST /trips: { does: create trip }
  GET /trips: { does: list trip, parameters: { seats_left: { in: query, filters: seats_left, op: ">=", type: integer } }, order: -seats_left }
  GET /trips/{id}: { does: read trip, etag: strong }
  PATCH /trips/{id}: { does: update trip, if_match: accepted }
  DELETE /trips/{id}: { does: delete trip }
  GET /bookings: { does: list booking }
  GET /extras: { does: list extra }
  GET /extras/{id}: { does: read extra }
  POST /bookings: { does: create booking }
  GET /bookings/{id}: { does: read booking }
  PATCH /bookings/{id}: { does: update booking }
  DELETE /bookings/{id}: { does: delete booking }
  POST /bookings/{id}/pay: { does: pay booking }
  POST /extras: { does: create extra }
  PATCH /extras/{id}: { does: update extra }
  DELETE /extras/{id}: { does: delete extra }
authentication: none
events:
  delivery: none
  kinds: { trip.changed: { on: [update trip], payload: trip } }
errors:
  payload: problem
  codes:
    sold_out: { status: 409, on: [create booking], if: "next.trip.seats_left < next.seats" }
    too_few: { status: 409, on: [update trip], if: "next.seats_left < 0" }
    invalid: { status: 422, when: request.invalid }
`;
