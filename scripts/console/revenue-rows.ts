// What the pages about revenue read. Amounts are minor units.

/** A row of `billing.revenue_monthly`. `month` is its first day. */
export type RevenueMonth = {
  month: string;
  currency: string;
  gross: number;
  refunded: number;
  net: number;
  new_customers: number;
  renewed_customers: number;
  lapsed_customers: number;
  active_customers: number;
  mrr: number;
  /** Null: no customer was active in the month before. */
  churn_percent: number | null;
};

/** A row of `billing.active_monthly`. */
export type ActiveMonth = { month: string; tier: string; active_customers: number };
