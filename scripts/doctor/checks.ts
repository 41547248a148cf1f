import type { Check } from './check.ts';
import { advisors } from './checks/advisors.ts';
import { appUrl } from './checks/app-url.ts';
import { authorisedPayments } from './checks/authorised-payments.ts';
import { compiledPlans } from './checks/compiled-plans.ts';
import { database } from './checks/database.ts';
import { events } from './checks/events.ts';
import { features } from './checks/features.ts';
import { findings } from './checks/findings.ts';
import { functionDeployed } from './checks/function-deployed.ts';
import { functionVersion } from './checks/function-version.ts';
import { gatewayHeaders } from './checks/gateway-headers.ts';
import { gatewayKey } from './checks/gateway-key.ts';
import { gatewayPlans } from './checks/gateway-plans.ts';
import { localStack } from './checks/local-stack.ts';
import { migrations } from './checks/migrations.ts';
import { openOrders } from './checks/open-orders.ts';
import { poolRole } from './checks/pool-role.ts';
import { prices } from './checks/prices.ts';
import { receipts } from './checks/receipts.ts';
import { revalidation } from './checks/revalidation.ts';
import { rowPolicies } from './checks/row-policies.ts';
import { schedule } from './checks/schedule.ts';
import { secrets } from './checks/secrets.ts';
import { senderDomain } from './checks/sender-domain.ts';
import { sessionKeys } from './checks/session-keys.ts';
import { credit, earlyRenewal } from './checks/settings.ts';
import { silence } from './checks/silence.ts';
import { sellerTimeZone, timeZone } from './checks/time-zone.ts';
import { webhookEndpoint } from './checks/webhook-endpoint.ts';
import { webhookPing } from './checks/webhook-ping.ts';
import type { Project } from './project.ts';

const everywhere: readonly Check[] = [
  database,
  migrations,
  functionDeployed,
  functionVersion,
  secrets,
  gatewayHeaders,
  timeZone,
  webhookPing,
  sessionKeys,
  gatewayKey,
  openOrders,
  webhookEndpoint,
  prices,
  gatewayPlans,
  authorisedPayments,
  silence,
  senderDomain,
  schedule,
  earlyRenewal,
  credit,
  sellerTimeZone,
  receipts,
  features,
  rowPolicies,
  compiledPlans,
  poolRole,
  advisors,
  findings,
  appUrl,
  revalidation,
  events,
];

/** The checks in their order. `localStack` comes first, so that a stack that does not run is reported once. */
export function checksFor({ mode }: Pick<Project, 'mode'>): readonly Check[] {
  return mode === 'local' ? [localStack, ...everywhere] : everywhere;
}
