import { useBillingProject } from '../helpers/faults/billing-project.ts';
import { proveFlows } from '../helpers/faults/prove-flows.ts';
import { useProject } from '../helpers/project/use-project.ts';

// One call of each flow, and one fault. The long suite has every call with every fault.
proveFlows(
  useBillingProject(useProject({ findings: 'compared elsewhere' })),
  ({ fault, isFirst }) => isFirst && fault === 'does it and closes the connection',
);
