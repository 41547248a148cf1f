/**
 * Client of the function `api` for browsers: plans, checkout, cancellation, receipts. One file without dependencies: copy it into
 * the app, or import it from the repository. `supabase/docs/contract.md` describes the endpoints, `gateway.md` the
 * checkout.
 */

/** What the client uses of a supabase-js client. */
export type SupabaseLike = {
  auth: { getSession(): Promise<{ data: { session: { user: User } | null } }> };
  functions: { invoke<T>(path: string, request: Invocation): Promise<{ data: T | null; error: unknown }> };
  from(table: string): { select(columns: string): { order(column: string, how: { ascending: boolean }): Rows } };
};
type Rows = PromiseLike<{ data: unknown; error: unknown; status?: number }>;
type User = { id: string; email?: string };
type Invocation = {
  method: 'GET' | 'POST' | 'PUT';
  body?: Record<string, unknown>;
  signal?: AbortSignal;
  timeout?: number;
};

/** What a tier may do. A missing key is no, null is unlimited. */
export type Entitlements = Record<string, boolean | number | null>;
/** Amounts are integers in minor units of `currency`, times ISO 8601 in UTC. `lookup_key`: the name of the price. */
export type Price = { lookup_key: string } & Money & Length;
type Money = { amount: number; currency: string };
type Length = { interval: 'month' | 'year'; interval_count: number };
/** What it would be for the user to buy a price now. */
export type Scenario = 'buy' | 'current' | 'renew' | 'upgrade' | 'downgrade' | 'scheduled';
/** `trial_days`: before the first charge of a subscription, for who may try it. */
export type OfferedPrice = PlanPrice & { scenario?: Scenario; trial_days?: number };
type PlanPrice = Price & Pick<Plan, 'id' | 'gateway_plan_id'> & { is_default: boolean };
export type Plan = {
  id: string;
  tier: string;
  name: string;
  price: number;
  currency: string;
  features: unknown;
  is_active: boolean;
  duration_months: number | null;
  grace_days: number;
  billing_cycles: number | null;
  trial_days: number;
  gateway_plan_id: string | null;
  rank: number | null;
  entitlements: Entitlements;
  lookup_key: string | null;
  created_at: string;
};
/** A plan on offer. `scenario`, with a session, is that of its default price, whose lookup key is the tier. */
export type OfferedPlan = Plan & { prices: OfferedPrice[]; scenario?: Scenario };
export type Subscription = {
  id: string;
  user_id: string;
  plan_id: string | null;
  tier: string;
  status: 'active' | 'cancelled';
  current_period_start: string | null;
  current_period_end: string | null;
  cancelled_at: string | null;
  cancel_at_period_end: boolean;
  ended_reason: string | null;
  access_ends_at: string | null;
  gateway_subscription_id: string | null;
  created_at: string;
  price: Price | null;
  plan: Plan | null;
};
/** Of an order, a charge, or a renewal that failed: `failed`, with its `gateway_subscription_id`. See `retriedAt`. */
export type Payment = {
  id: string;
  user_id: string;
  subscription_id: string | null;
  amount: number;
  currency: string;
  status: 'created' | 'captured' | 'failed';
  tier: string | null;
  price_key: string | null;
  interval: Length['interval'] | null;
  interval_count: number | null;
  gateway_order_id: string | null;
  gateway_payment_id: string | null;
  gateway_signature: string | null;
  gateway_subscription_id: string | null;
  meta: unknown;
  captured_at: string | null;
  confirmed_at: string | null;
  fulfilled_at: string | null;
  period_start: string | null;
  period_end: string | null;
  paid_amount: number | null;
  refunded_amount: number;
  dispute_status: string | null;
  created_at: string;
};
/** The subscription that the gateway bills. `payment_attention`: a charge failed, send the user to `manage_url`. */
export type Billing = {
  gateway_subscription_id: string;
  status: string | null;
  next_charge_at: string | null;
  payment_attention: boolean;
  manage_url: string | null;
  price: Price | null;
  next: NextChange | null;
};
/** The change that waits for the end of the cycle. A change back undoes it until `undo_until`; null: no longer. */
export type NextChange = { tier: string; price: Price; starts_at: string; undo_until: string | null } & Money;
export type CurrentSubscription = {
  subscription: Subscription | null;
  currentTier: string;
  entitlements: Entitlements;
  payments: Payment[];
  billing: Billing | null;
};
/** A receipt, a tax invoice or a credit note. `totals`: what is taxed, its taxes (`rate` in basis points), their sum. */
export type Receipt = {
  id: string;
  kind: 'receipt' | 'credit_note';
  title: string;
  document_number: string;
  document_date: string;
  payment_id: string;
  currency: string;
  totals: { taxable: number; taxes: { name: string; rate: number; amount: number }[]; total: number };
};
/** What documents say about the user. `state`: the two digits of the Indian GST, 96 abroad; `country`: two letters. */
export type BillingDetails = Record<'name' | 'gstin' | 'address' | 'state' | 'country', string | null>;
/** `amount_due` is paid at `due_at`, `credit` is already subtracted. `next_charge` is what the gateway charges next. */
export type Change = {
  amount_due: number;
  due_at: string | null;
  credit: number;
  currency: string;
  starts_at: string;
  ends_at: string;
  from: string;
  to: string;
  from_price: string | null;
  to_price: string;
  renews: boolean;
  next_charge: { at: string; amount: number } | null;
};
type Running = { tier: string; until: string; early_renewal: Renewal; price: Price | null; starts_at?: string };
type Renewal = 'replace' | 'extend';
type Order = { id: string } & Money;
type GatewaySubscription = { id: string; status: string; short_url: string };
type Sold = { order: Order | null; payment_id: string | null; subscription: GatewaySubscription | null };
type Started<P = PlanPrice> = { key_id: string; plan: Plan; price: P; running: Running | null };
type Prefill = { email: string | null; name: string | null };
type Ordered = Started<PlanPrice | null> & {
  order: Order;
  payment_id: string;
  prefill: Prefill;
  credit?: number;
  starts_at?: string;
  ends_at?: string;
};
/** The fields of a checkout under neutral names. */
export type Verification =
  & { gateway_payment_id: string; gateway_signature: string }
  & ({ gateway_order_id: string } | { gateway_order_id?: never; gateway_subscription_id: string });
/** A tier, for its default price, or a price by its lookup key. */
export type Offer = string | { price: string };
type Named = { tier?: string; price?: string };
type When = Named & { when: 'now' | 'period_end' };

/** Bodies of the requests and of their 2xx answers. */
export type Endpoints = {
  'GET /api/subscriptions': { body: undefined; answer: CurrentSubscription };
  'GET /api/subscriptions/plans': { body: undefined; answer: { plans: OfferedPlan[]; needs_state?: true } };
  'POST /api/subscriptions': { body: Named; answer: Started & { subscription: GatewaySubscription } };
  'POST /api/subscriptions/cancel': { body: { at_period_end: boolean }; answer: { subscription: Subscription | null } };
  'POST /api/subscriptions/resume': { body: undefined; answer: { subscription: Subscription | null } };
  'POST /api/subscriptions/change/preview': { body: When; answer: Change };
  'POST /api/subscriptions/change': {
    body: When;
    answer: { change: Change } & (Record<keyof Sold, null> | Sold & Started & { prefill?: Prefill });
  };
  'POST /api/payments/orders': { body: Named & { start?: 'now' | 'after_current' }; answer: Ordered };
  'GET /api/payments/orders/{order_id}': {
    body: undefined;
    answer: {
      order_id: string;
      status: 'open' | 'paid' | 'failed';
      tier: string;
      amount: number;
      currency: string;
      valid_until: string | null;
      attempts: number;
      last_error: string | null;
    };
  };
  'GET /api/payments/{id}/receipt': { body: undefined; answer: Blob };
  'GET /api/receipts/{id}': { body: undefined; answer: Blob };
  'GET /api/billing-details': { body: undefined; answer: { billing_details: BillingDetails | null } };
  'PUT /api/billing-details': {
    body: Partial<BillingDetails>;
    answer: { billing_details: BillingDetails | null };
  };
  'POST /api/payments/verify': {
    body: Verification;
    answer: {
      success: true;
      message: string;
      subscription: { tier: string; validUntil: string | null; startsAt?: string | null };
    };
  };
};
export type Endpoint = keyof Endpoints;

/**
 * Why a request or a checkout failed.
 * - `code`: `http`: the answer was an error; `network`: there was no answer; `script`: the gateway's script is blocked;
 *   `declined`: the bank or the customer declined the payment; `busy`: the window of another checkout is open
 * - `status`: the HTTP status, 0 without an answer
 * - `retryAfter`: seconds until another request may succeed, or null
 * - `fields`: what is wrong with which field of the request
 */
export class SubscriptionsError extends Error {
  readonly code: 'http' | 'network' | 'script' | 'declined' | 'busy';
  readonly status: number;
  readonly retryAfter: number | null;
  readonly fields: Readonly<Record<string, string[]>> = {};

  constructor(message: string, code: SubscriptionsError['code'], status = 0, retryAfter: number | null = null) {
    super(message);
    this.name = 'SubscriptionsError';
    this.code = code;
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

/**
 * How a checkout ended. `id` is the gateway's id of the order or subscription.
 * - `paid`: the tier is granted, or begins at `startsAt`
 * - `pending`: money may have moved. Don't ask for another payment: `current()` shows the tier when it is granted.
 * - `failed`: nothing was paid, or it was refunded; `error` has the reason
 * - `dismissed`: the customer closed the window, and the order is not paid
 */
export type CheckoutResult =
  | { outcome: 'paid'; id: string; tier: string; validUntil: string | null; startsAt: string | null }
  | { outcome: 'pending'; id: string }
  | { outcome: 'failed'; id: string | null; error: SubscriptionsError }
  | { outcome: 'dismissed'; id: string };

export type CheckoutState = 'open' | 'attempt_failed' | 'verifying' | 'checking';
type Signal = AbortSignal | undefined;
type Abortable = { signal?: Signal };
/** An abort before the window opens rejects. Later it closes the window, and the outcome is `pending`. */
export type CheckoutOptions = Abortable & {
  /** More options of the gateway's window: `name`, `description`, `theme`, `prefill.contact`, `callback_url`. */
  window?: {
    prefill?: Record<string, string>;
    modal?: Record<string, unknown>;
    callback_url?: string;
    [option: string]: unknown;
  };
  /** Leaves the page for the payment. Default: in browsers inside of apps, where the window does not answer. */
  redirect?: boolean;
  /** How long a closed window may still be paid, for example by QR code, before it counts as dismissed. Default: 30. */
  checkSeconds?: number;
  /** What happens meanwhile. `attempt_failed` is one attempt: the window offers another. */
  onState?: (state: CheckoutState, reason?: string) => void;
  /**
   * Called before the sale where invoices need the state of the customer and it is not known: show a form, and save what
   * it has with `saveBillingDetails`. The sale goes on when it ends, also without a state.
   */
  onStateNeeded?: () => Promise<unknown>;
};

export type Subscriptions = {
  /**
   * The plans on offer, the lowest price first; with a session each has its `scenario`. @throws SubscriptionsError
   * @example
   * const plans = await subscriptions.plans();
   */
  plans(options?: Abortable): Promise<OfferedPlan[]>;
  /**
   * The subscription, the tier and the newest payments of the user. It first finishes, with one request each, the
   * checkouts that an earlier page began. @throws SubscriptionsError
   * @example
   * const { currentTier, billing } = await subscriptions.current();
   */
  current(options?: Abortable): Promise<CurrentSubscription>;
  /**
   * Whether the newest answer of `current()` has a feature: true, a number above 0, or unlimited. False before it.
   * @example
   * if (subscriptions.can('reports')) showReports();
   */
  can(feature: string): boolean;
  /** The number of a feature in that answer: 0 where there is none, null where it is unlimited. */
  limit(feature: string): number | null;
  /**
   * Sells a period of a plan: creates the order, opens the gateway's window, verifies the payment. It never rejects
   * after money may have moved. After a reload or a closed tab `current()` or `resumePending()` finishes it.
   * `start`: see "Start and credit" in the contract.
   * @example
   * const result = await subscriptions.checkout({ price: 'pro_monthly' }, { window: { name: 'Acme' } });
   * if (result.outcome === 'paid') location.assign('/welcome');
   * if (result.outcome === 'failed') show(result.error.message);
   */
  checkout(offer: Offer, options?: CheckoutOptions & { start?: 'now' | 'after_current' }): Promise<CheckoutResult>;
  /**
   * The same for a subscription that the gateway bills. With `redirect` the browser goes to the gateway's page.
   * @example
   * const { outcome } = await subscriptions.subscribe('pro');
   */
  subscribe(offer: Offer, options?: CheckoutOptions): Promise<CheckoutResult>;
  /**
   * What a change of plan or price would cost, and when it begins. @throws SubscriptionsError
   * @example
   * const { amount_due, credit, starts_at } = await subscriptions.previewChange('premium', 'now');
   */
  previewChange(offer: Offer, when: When['when'], options?: Abortable): Promise<Change>;
  /**
   * Changes plan or price. Opens the window for the order, for the subscription, or for one after the other; then
   * `renewal` says how the authorisation of the subscription ended. `undone`: a change that waited was withdrawn.
   * @example
   * const { outcome } = await subscriptions.change('premium', 'now');
   */
  change(
    offer: Offer,
    when: When['when'],
    options?: CheckoutOptions,
  ): Promise<(CheckoutResult & { renewal?: CheckoutResult }) | { outcome: 'undone' }>;
  /**
   * Finishes the checkouts of this user that local storage remembers: verifies with back-off what the gateway
   * answered, and reads the other orders once. Never rejects.
   * @example
   * const paid = (await subscriptions.resumePending()).filter(({ outcome }) => outcome === 'paid');
   */
  resumePending(options?: Pick<CheckoutOptions, 'signal' | 'onState'>): Promise<CheckoutResult[]>;
  /**
   * Ends all that is billed, with its period or now. Null: nothing gave access yet. @throws SubscriptionsError
   * @example
   * await subscriptions.cancel({ atPeriodEnd: true });
   */
  cancel(options?: Abortable & { atPeriodEnd?: boolean }): Promise<Subscription | null>;
  /**
   * Withdraws a cancellation at the end of the period. @throws SubscriptionsError
   * @example
   * const subscription = await subscriptions.resume();
   */
  resume(options?: Abortable): Promise<Subscription | null>;
  /**
   * The receipts and credit notes of the user, the newest first. @throws SubscriptionsError
   * @example
   * const [newest] = await subscriptions.receipts();
   */
  receipts(): Promise<Receipt[]>;
  /**
   * The PDF of one of them, or of the receipt of a payment by its `id`: 409 until it is issued, 404 where none will be.
   * @throws SubscriptionsError
   * @example
   * location.assign(URL.createObjectURL(await subscriptions.receipt({ payment: payments[0].id })));
   */
  receipt(which: { id: string } | { payment: string }, options?: Abortable): Promise<Blob>;
  /** What documents say about the user; null: nothing was saved. @throws SubscriptionsError */
  billingDetails(options?: Abortable): Promise<BillingDetails | null>;
  /**
   * Replaces them, for later documents; what is missing becomes null. @throws SubscriptionsError, `fields` says why
   * @example
   * await subscriptions.saveBillingDetails({ name: 'Konkan Traders', gstin: '27AAPFU0939F1ZV' });
   */
  saveBillingDetails(details: Partial<BillingDetails>, options?: Abortable): Promise<BillingDetails | null>;
};

/** The gateway's names of the fields that its window answers. The third one is the id of the order or subscription. */
const GATEWAY_FIELDS = { payment: 'razorpay_payment_id', signature: 'razorpay_signature' } as const;
type Answered = Partial<Record<string, string>>;
type Gateway = new (options: Record<string, unknown>) => {
  open(): void;
  close?(): void;
  on(event: string, callback: (failed: { error?: { description?: string } }) => void): void;
};

/** A checkout as local storage remembers it. `answer`: what the gateway answered, for verify. */
type Pending = { id: string; kind: Kind; tier: string; user: string; at: number; answer?: Verification };
type Kind = 'order' | 'subscription';

type Listener = (event: { type?: string; blockedURI?: string; persisted?: boolean }) => void;
type Target = {
  addEventListener(type: string, listener: Listener): void;
  removeEventListener(type: string, listener: Listener): void;
};
type Script = Target & { remove(): void };
/** What the client uses of a page. React Native and servers have less. */
type Page = Partial<Target> & {
  document?: Target & {
    createElement(tag: 'script'): Script;
    querySelector(selector: string): Script | null;
    head: { append(script: unknown): void };
  };
  localStorage?: {
    readonly length: number;
    key(index: number): string | null;
    getItem(key: string): string | null;
    setItem(key: string, value: string): void;
    removeItem(key: string): void;
  };
  location?: { assign(url: string): void };
  navigator?: { userAgent?: string };
};
const page: Page = globalThis;

const RECEIPT = 'id,kind,title,document_number,document_date,payment_id,currency,totals';
const BUSY = 'Another checkout is open';
const REQUEST_MS = 20_000;
const SCRIPT_MS = 20_000;
const VERIFY_SECONDS = 120;
/** The function reads an order from the gateway every five seconds at most. */
const READ_MS = 5_000;
/** An hour later reconciliation has read an order without an answer; after five days a payment is settled. */
const REMEMBERED_MS = { unanswered: 3_600_000, answered: 432_000_000 };
// Written by `npm run generate` from billing.minor_units.
const NO_DECIMALS = 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF';
const THREE_DECIMALS = 'BHD IQD JOD KWD LYD OMR TND';

/** What a window needs of the answer that created its order or subscription. */
type Made = Partial<Started<PlanPrice | null> & { prefill: Prefill; change: Change }>;
type Begun = { gateway: Gateway; user: User; made: Made };
type Asked = { result: CheckoutResult; isFinal: boolean };
type Store = ReturnType<typeof openStore>;
type Result<T> = { data: T; error?: undefined } | { data?: undefined; error: SubscriptionsError };

/**
 * Creates the client.
 * @param options
 * - `supabase`: the supabase-js client of the app, whose session and address it uses
 * - `functionName`: the name of the deployed function
 * - `checkout`: the address of the gateway's script and the global that it sets; on the local stack the script is
 *   `$GATEWAY_URL/v1/checkout.js`
 * @example
 * const subscriptions = createSubscriptions({ supabase: createClient(url, publishableKey) });
 */
export function createSubscriptions({ supabase, functionName = 'api', checkout = {} }: {
  supabase: SupabaseLike;
  functionName?: string;
  checkout?: { script?: string; global?: string };
}): Subscriptions {
  const { script = 'https://checkout.razorpay.com/v1/checkout.js', global = 'Razorpay' } = checkout;
  const call = connect(supabase, functionName);
  const store = openStore(`subscriptions:${functionName}:`);
  const readUser = () => supabase.auth.getSession().then(({ data }) => data.session?.user, () => undefined);

  let asking: Promise<unknown> | null = null;

  /** Lets the app ask for the state where it is needed, once for several clicks. A fault of that prevents no sale. */
  async function askState({ signal, onStateNeeded }: CheckoutOptions): Promise<void> {
    const { data } = onStateNeeded ? await call('GET /api/subscriptions/plans', { signal }) : {};
    if (data?.needs_state && onStateNeeded) {
      asking ??= Promise.resolve().then(onStateNeeded).catch(() => {}).finally(() => asking = null);
      await asking;
    }
    throwIfAborted(signal);
  }

  /** Loads the script, and creates meanwhile what the window sells. @throws the reason of an abort */
  async function begin<E extends Endpoint>(endpoint: E, body: Endpoints[E]['body'], options: CheckoutOptions) {
    const { signal } = options;
    const user = await readUser();
    if (!user) return { error: new SubscriptionsError('Unauthorized', 'http', 401) };
    await askState(options);
    const [gateway, made] = await Promise.all([
      loadGateway(script, global, signal),
      create(call, endpoint, body, signal),
    ]);
    throwIfAborted(signal);
    if (gateway.error) return { error: gateway.error };
    return made.error ? { error: made.error } : { gateway: gateway.data, user, made: made.data };
  }

  /** Of the newest answer of `current()`. */
  let entitlements: Entitlements = {};
  const limit = (feature: string) => {
    const value = entitlements[feature];
    return value === true || value === null ? null : Number(value) || 0;
  };

  /** The checkout whose window is open. The gateway opens one at a time and ignores others. */
  let open: { id: string; result: Promise<CheckoutResult> } | null = null;

  /** Opens the window, and finishes the checkout. A second click gets the result of the first. Never rejects. */
  function pay(begun: Begun, sold: Order | GatewaySubscription, options: CheckoutOptions): Promise<CheckoutResult> {
    if (open) return open.id === sold.id ? open.result : Promise.resolve(failed(new SubscriptionsError(BUSY, 'busy')));
    const result = sell(begun, sold, options);
    open = { id: sold.id, result };
    return result;
  }

  async function sell(
    { gateway, user, made }: Begun,
    sold: Order | GatewaySubscription,
    { signal, onState, checkSeconds = 30, ...options }: CheckoutOptions,
  ): Promise<CheckoutResult> {
    const { id } = sold;
    const kind = 'amount' in sold ? 'order' : 'subscription';
    const known = store.list(user.id).find((one) => one.id === id);
    const pending: Pending = { ...known, id, kind, tier: made.plan?.tier ?? '', user: user.id, at: Date.now() };
    const refusals: string[] = [];
    try {
      // It may be paid already, and verify had no answer yet.
      const before = pending.answer && await settle(call, store, pending, 0, signal);
      if (before?.outcome === 'paid') return before;
      store.save(pending);
      await openWindow({
        gateway,
        sold,
        made,
        email: made.prefill?.email ?? user.email ?? '',
        callbackUrl: `${Object(supabase.functions).url}/${functionName}/payments/return`,
        signal,
        ...options,
        onOpen: () => tell(onState, 'open'),
        onRefusal(reason) {
          refusals.unshift(reason);
          tell(onState, 'attempt_failed', reason);
        },
        // Also when it comes after the window was closed.
        onAnswer(answered) {
          pending.answer = toVerification(kind, id, answered);
          store.save(pending);
        },
      });
    } catch (error) {
      store.forget(id);
      return failed(new SubscriptionsError(String(error), 'script'), id);
    } finally {
      open = null;
    }
    tell(onState, pending.answer ? 'verifying' : 'checking');
    const result = await settle(call, store, pending, pending.answer ? VERIFY_SECONDS : checkSeconds, signal);
    const [refusal] = refusals;
    return result.outcome === 'dismissed' && refusal !== undefined ? declined(id, refusal) : result;
  }

  /** Asks about the remembered checkouts of this user, and about answered ones for so many seconds. */
  async function finish(seconds: number, { signal, onState }: Pick<CheckoutOptions, 'signal' | 'onState'>) {
    const user = await readUser();
    const remembered = user ? store.list(user.id) : [];
    if (remembered.length > 0) tell(onState, remembered.some(({ answer }) => answer) ? 'verifying' : 'checking');
    return await Promise.all(remembered.map((one) => settle(call, store, one, one.answer ? seconds : 0, signal)));
  }

  return {
    plans: async (options) => (await take(call('GET /api/subscriptions/plans', options))).plans,
    async current(options = {}) {
      await finish(0, options);
      const answer = await call('GET /api/subscriptions', options);
      // Without a user the answer is 401.
      if (answer.data || answer.error.status === 401) entitlements = answer.data?.entitlements ?? {};
      return await take(answer);
    },
    can: (feature) => limit(feature) !== 0,
    limit,
    async checkout(offer, { start, ...options } = {}) {
      const body = { ...nameOf(offer), ...start && { start } };
      const begun = await begin('POST /api/payments/orders', body, options);
      return begun.error ? failed(begun.error) : await pay(begun, begun.made.order, options);
    },
    async subscribe(offer, options = {}) {
      const begun = await begin('POST /api/subscriptions', nameOf(offer), options);
      return begun.error ? failed(begun.error) : await pay(begun, begun.made.subscription, options);
    },
    previewChange: (offer, when, options) =>
      take(call('POST /api/subscriptions/change/preview', { body: { ...nameOf(offer), when }, ...options })),
    async change(offer, when, options = {}) {
      const begun = await begin('POST /api/subscriptions/change', { ...nameOf(offer), when }, options);
      if (begun.error) return failed(begun.error);
      const { order, subscription } = begun.made;
      if (!order) return subscription ? await pay(begun, subscription, options) : { outcome: 'undone' };
      const result = await pay(begun, order, options);
      if (!subscription || result.outcome !== 'paid' || options.signal?.aborted) return result;
      return { ...result, renewal: await pay(begun, subscription, options) };
    },
    resumePending: (options = {}) => finish(VERIFY_SECONDS, options),
    async cancel({ atPeriodEnd = true, ...options } = {}) {
      const body = { at_period_end: atPeriodEnd };
      return (await take(call('POST /api/subscriptions/cancel', { body, ...options }))).subscription;
    },
    resume: async (options) => (await take(call('POST /api/subscriptions/resume', options))).subscription,
    async receipts() {
      const list = supabase.from('receipts').select(RECEIPT).order('issued_at', { ascending: false });
      const { data, error, status } = await list;
      if (error) throw new SubscriptionsError(Object(error).message, status ? 'http' : 'network', status);
      return data as Receipt[];
    },
    receipt: (which, options) =>
      'id' in which
        ? take(call('GET /api/receipts/{id}', { id: which.id, ...options }))
        : take(call('GET /api/payments/{id}/receipt', { id: which.payment, ...options })),
    billingDetails: async (options) => (await take(call('GET /api/billing-details', options))).billing_details,
    saveBillingDetails: async (body, options) =>
      (await take(call('PUT /api/billing-details', { body, ...options }))).billing_details,
  };
}

/** Sends a request through supabase-js. An error answer is a value. @throws the reason of an abort */
type Call = <E extends Endpoint>(
  endpoint: E,
  request?: { body?: Endpoints[E]['body']; id?: string } & Abortable,
) => Promise<Result<Endpoints[E]['answer']>>;

function connect(supabase: SupabaseLike, functionName: string): Call {
  return async <E extends Endpoint>(endpoint: E, { body, id = '', signal }: Parameters<Call>[1] = {}) => {
    const [method, path = ''] = endpoint.split(' ');
    const { data, error } = await supabase.functions.invoke<Endpoints[E]['answer']>(
      functionName + path.slice('/api'.length).replace(/\{\w+\}/, encodeURIComponent(id)),
      {
        method: method === 'GET' || method === 'PUT' ? method : 'POST',
        ...body && { body },
        ...signal && { signal },
        timeout: REQUEST_MS,
      },
    ).then((answer) => answer, (error: unknown) => ({ data: null, error }));
    throwIfAborted(signal);
    return data !== null && typeof data === 'object' ? { data } : { error: await readError(error) };
  };
}

async function take<T>(result: Result<T> | Promise<Result<T>>): Promise<T> {
  const { data, error } = await result;
  if (error) throw error;
  return data;
}

/** Creates an order or a subscription. A repetition gets the same one, so a lost answer is no harm. */
async function create<E extends Endpoint>(call: Call, endpoint: E, body: Endpoints[E]['body'], signal: Signal) {
  for (let tries = 1;; tries++) {
    const result = await call(endpoint, { body, signal });
    const { status = 0, retryAfter = null } = result.error ?? {};
    const seconds = retryAfter ?? (status === 0 || status >= 500 ? tries : Infinity);
    if (result.data || tries === 3 || seconds > 10) return result;
    await once(seconds * 1000, [page, 'online'], [signal, 'abort']);
  }
}

const nameOf = (offer: Offer): Named => typeof offer === 'string' ? { tier: offer } : { price: offer.price };

/** Asks once how a checkout ended. `isFinal`: asking again changes nothing. @throws the reason of an abort */
async function ask(call: Call, { id, kind, tier, answer }: Pending, signal: Signal): Promise<Asked> {
  const pending = (isFinal: boolean): Asked => ({ result: { outcome: 'pending', id }, isFinal });
  const paid = (tier: string, validUntil: string | null, startsAt: string | null = null): Asked => (
    { result: { outcome: 'paid', id, tier, validUntil, startsAt }, isFinal: true }
  );
  const unpaid = (): Asked => answer ? pending(true) : { result: { outcome: 'dismissed', id }, isFinal: false };
  if (answer) {
    const { data, error } = await call('POST /api/payments/verify', { body: answer, signal });
    if (data) return paid(data.subscription.tier, data.subscription.validUntil, data.subscription.startsAt);
    // 400 and 404 are refusals that stay. The order tells whether the payment was refunded.
    if (error.status !== 400 && error.status !== 404) return pending(error.status === 401);
  }
  if (kind === 'subscription') {
    const { data, error } = await call('GET /api/subscriptions', { signal });
    if (error) return pending(error.status === 401);
    if (data.billing?.gateway_subscription_id !== id) return unpaid();
    const { gateway_subscription_id: shown, current_period_end: end = null } = data.subscription ?? {};
    return paid(tier, shown === id ? end : null);
  }
  const { data, error } = await call('GET /api/payments/orders/{order_id}', { id, signal });
  if (error) return pending(error.status === 401);
  if (data.status === 'paid') return data.valid_until ? paid(data.tier, data.valid_until) : pending(false);
  if (data.status === 'failed') return { result: declined(id, data.last_error), isFinal: answer !== undefined };
  return unpaid();
}

/** Asks with back-off until the result is certain, or for so long. Never rejects. */
async function settle(call: Call, store: Store, pending: Pending, seconds: number, signal: Signal) {
  const end = Date.now() + seconds * 1000;
  for (let pause = 1000;; pause = Math.min(2 * pause, 16_000)) {
    const { result, isFinal } = await ask(call, pending, signal).catch(
      (): Asked => ({ result: { outcome: 'pending', id: pending.id }, isFinal: false }),
    );
    if (isFinal && result.outcome !== 'pending') store.forget(pending.id);
    const milliseconds = pending.answer ? pause : READ_MS;
    if (isFinal || signal?.aborted || Date.now() + milliseconds > end) return result;
    await once(milliseconds, [page, 'online'], [signal, 'abort']);
  }
}

type Opening = Pick<CheckoutOptions, 'window' | 'redirect' | 'signal'> & {
  gateway: Gateway;
  sold: Order | GatewaySubscription;
  made: Made;
  email: string;
  callbackUrl: string;
  onOpen(): void;
  onRefusal(reason: string): void;
  onAnswer(answered: Answered): void;
};

/** Opens the gateway's window, and waits until it answered or was closed. Rejects when it can't be opened. */
function openWindow({ gateway, sold, made, signal, redirect = isInsideApp(), ...opening }: Opening): Promise<void> {
  return new Promise((resolve) => {
    const { window: extra = {}, onAnswer, onRefusal } = opening;
    const end = () => {
      signal?.removeEventListener('abort', close);
      resolve();
    };
    const close = () => {
      window.close?.();
      end();
    };
    opening.onOpen();
    if (redirect) {
      // Back from the gateway's page, out of the browser's cache.
      page.addEventListener?.('pageshow', ({ persisted }) => persisted && end());
      // A subscription has a page of the gateway.
      if ('short_url' in sold) return page.location?.assign(sold.short_url);
    }
    const window = new gateway({
      name: made.plan?.name,
      ...extra,
      key: made.key_id,
      ...'amount' in sold
        ? { order_id: sold.id, amount: sold.amount, currency: sold.currency }
        : { subscription_id: sold.id },
      prefill: { email: opening.email, name: made.prefill?.name ?? '', ...extra.prefill },
      redirect,
      callback_url: redirect ? extra.callback_url ?? opening.callbackUrl : undefined,
      handler: redirect ? undefined : (answered: Answered) => {
        onAnswer(answered);
        end();
      },
      modal: { ...extra.modal, ondismiss: end },
    });
    // One attempt: the window offers another.
    window.on('payment.failed', ({ error }) => onRefusal(error?.description ?? ''));
    signal?.addEventListener('abort', close);
    window.open();
  });
}

/** Calls the app's callback later, so that its error does not end the checkout. */
function tell(onState: CheckoutOptions['onState'], state: CheckoutState, reason?: string): void {
  void Promise.resolve().then(() => onState?.(state, reason));
}

function throwIfAborted(signal: Signal): void {
  if (signal?.aborted) throw signal.reason ?? new Error('Aborted');
}

function failed(error: SubscriptionsError, id: string | null = null): CheckoutResult {
  return { outcome: 'failed', id, error };
}

function declined(id: string, reason: string | null): CheckoutResult {
  return failed(new SubscriptionsError(reason || 'The payment was declined', 'declined'), id);
}

/** The gateway's answer under neutral names. The id is that of our own record. */
function toVerification(kind: Kind, id: string, answered: Answered): Verification {
  const signed = {
    gateway_payment_id: answered[GATEWAY_FIELDS.payment] ?? '',
    gateway_signature: answered[GATEWAY_FIELDS.signature] ?? '',
  };
  return kind === 'order' ? { gateway_order_id: id, ...signed } : { gateway_subscription_id: id, ...signed };
}

/** Reads the error of supabase-js, whose `context` is the response where there is one. */
async function readError(error: unknown): Promise<SubscriptionsError> {
  const response = Object(Object(error).context);
  if (!response.status) return new SubscriptionsError('The service did not answer', 'network');
  const body = await response.json().catch(() => null);
  const seconds = response.headers.get('retry-after');
  const message = Object(body).error ?? `The service answered ${response.status}`;
  const failure = new SubscriptionsError(message, 'http', response.status, seconds && Number(seconds));
  return Object.assign(failure, { fields: Object(Object(body).details).fieldErrors ?? {} });
}

/** Waits for the first of the events, or for so long. @returns the event's type, or `timeout` */
function once(milliseconds: number, ...events: [Partial<Target> | undefined, string][]): Promise<string> {
  return new Promise((resolve) => {
    const end: Listener = ({ type = '' }) => {
      clearTimeout(timer);
      for (const [target, name] of events) target?.removeEventListener?.(name, end);
      resolve(type);
    };
    const timer = setTimeout(end, milliseconds, { type: 'timeout' });
    for (const [target, name] of events) target?.addEventListener?.(name, end);
  });
}

/** Loads the gateway's script, once for a page. A later call after a failure tries again. */
async function loadGateway(src: string, global: string, signal: Signal): Promise<Result<Gateway>> {
  const find = (): Gateway | undefined => Reflect.get(globalThis, global);
  const loaded = find();
  if (loaded) return { data: loaded };
  const { document } = page;
  const fail = (why: string) => ({ error: new SubscriptionsError(`The checkout ${src} ${why}`, 'script') });
  if (!document) return fail('needs a browser');
  let isForbidden = false;
  const watch: Listener = ({ blockedURI }) => {
    isForbidden = isForbidden || (blockedURI !== undefined && blockedURI !== '' && src.startsWith(blockedURI));
  };
  document.addEventListener('securitypolicyviolation', watch);
  let script = document.querySelector(`script[src="${src}"]`);
  if (!script) {
    script = Object.assign(document.createElement('script'), { src });
    document.head.append(script);
  }
  const ended = await once(SCRIPT_MS, [script, 'load'], [script, 'error'], [signal, 'abort']);
  // The violation may be reported after the error.
  if (ended === 'error') await once(50);
  document.removeEventListener('securitypolicyviolation', watch);
  const gateway = find();
  if (gateway) return { data: gateway };
  script.remove();
  if (ended === 'load') return fail(`does not set ${global}`);
  if (isForbidden) return fail("is blocked by the page's content security policy: add it to script-src");
  return fail('could not be loaded: an ad blocker or the network blocks it');
}

/** Whether the browser is part of an app, such as a web view of React Native: there the window may not answer. */
function isInsideApp(): boolean {
  const { userAgent = '' } = page.navigator ?? {};
  return 'ReactNativeWebView' in globalThis ||
    /; wv\)|FB(?:AN|AV)|Instagram|(?:iPhone|iPad|iPod)(?!.*Safari)/.test(userAgent);
}

/**
 * Formats an amount for people, for example `₹1,499.00` or `KWD 1.234`.
 * @param amount in minor units
 * @param locale by default that which is usual for the currency
 * @throws RangeError when the currency is not a code
 */
export function formatCurrency(amount: number, currency: string, locale = currency === 'INR' ? 'en-IN' : 'en'): string {
  const decimals = minorUnits(currency);
  const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  const format = new Intl.NumberFormat(locale, { style: 'currency', currency, ...digits });
  return format.format(amount / 10 ** decimals);
}

/**
 * Finds the charge that succeeded after a renewal had failed.
 * @param payments those of `current()`
 * @returns its time; null: none yet, or the payment is no failed renewal
 */
export function retriedAt(failed: Payment, payments: readonly Payment[]): string | null {
  if (failed.status !== 'failed' || failed.gateway_subscription_id === null) return null;
  const times = payments
    .filter((payment) => payment.gateway_subscription_id === failed.gateway_subscription_id)
    .flatMap(({ captured_at: at }) => at !== null && Date.parse(at) >= Date.parse(failed.created_at) ? [at] : []);
  return times.sort((one, other) => Date.parse(one) - Date.parse(other))[0] ?? null;
}

/** The decimals of a currency by ISO 4217. Those of Intl are a custom of display, which differs between engines. */
export function minorUnits(currency: string): number {
  return NO_DECIMALS.includes(currency) ? 0 : THREE_DECIMALS.includes(currency) ? 3 : 2;
}

/** Unfinished checkouts in local storage, each under its id. Without storage, webhooks finish what a reload forgets. */
function openStore(prefix: string) {
  const quietly = <T>(work: () => T): T | undefined => {
    try {
      return work();
    } catch {
      return undefined; // blocked or full storage, or damaged text
    }
  };
  const forget = (id: string) => quietly(() => page.localStorage?.removeItem(prefix + id));
  return {
    save: (pending: Pending) => quietly(() => page.localStorage?.setItem(prefix + pending.id, JSON.stringify(pending))),
    forget,
    list(user: string): Pending[] {
      const storage = quietly(() => page.localStorage);
      const keys = Array.from({ length: storage?.length ?? 0 }, (_, index) => storage?.key(index) ?? '');
      const all = keys.filter((key) => key.startsWith(prefix)).flatMap((key): Pending[] =>
        quietly(() => [JSON.parse(storage?.getItem(key) ?? '')]) ?? []
      );
      return all.filter(({ id, user: owner, at, answer }) => {
        const isOld = Date.now() - at > REMEMBERED_MS[answer ? 'answered' : 'unanswered'];
        if (isOld) forget(id);
        return owner === user && !isOld;
      });
    },
  };
}
