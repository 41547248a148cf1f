import { another, type Entity, received, until } from './gateway-simulator-rig.ts';

/** Unix seconds of an ISO 8601 time. */
export const at = (time: string) => Date.parse(time) / 1000;

const START = '2026-01-10T12:00:00Z';

/** A simulator whose clock stands still until a test moves it. `now`: milliseconds since 1970. */
export async function startBilling(start = START, now = () => Date.parse(start)) {
  const api = await another({ now });
  const simulate = async (control: string, fields: Entity) => (await api('POST', `/simulate/${control}`, fields)).body;
  const subscribe = async (fields: Entity = {}) =>
    (await api('POST', '/v1/subscriptions', { plan_id: 'plan_Pro00000000001', total_count: 12, ...fields })).body;

  /** The webhooks since the last call, after the arrival of all of them. */
  const webhooks = async () => {
    await until(async () => {
      const { items } = (await api('GET', '/simulate/deliveries')).body;
      return items.every(({ state }: Entity) => state === 'delivered' || state === 'dropped');
    });
    return received.splice(0).map(({ event, body, signature }) => ({ event, body, signature, ...JSON.parse(body) }));
  };

  return {
    api,
    /** The simulator's address. */
    base: api.base,
    simulate,
    subscribe,
    webhooks,
    read: async (id: string) => (await api('GET', `/v1/subscriptions/${id}`)).body,
    /** An approved subscription, without the webhooks until then. */
    approved: async (fields: Entity = {}, answer: Entity = {}): Promise<string> => {
      const { id } = await subscribe(fields);
      await simulate('authorise', { subscription_id: id, outcome: 'approved', deliver: { drop: true }, ...answer });
      return id;
    },
    /** Moves the clock, and returns the names and times of the subscription's events: `charged 2026-02-10T12:00:00Z`. */
    moveTo: async (time: string, fields: Entity = {}): Promise<string[]> => {
      await simulate('clock', { shift_seconds: at(time) - at(start), ...fields });
      return (await webhooks()).filter(({ event }) => event.startsWith('subscription.')).map(({ event, created_at }) =>
        `${event.slice('subscription.'.length)} ${new Date(created_at * 1000).toISOString().replace('.000', '')}`
      );
    },
  };
}
