import { useBillingProject } from '../helpers/faults/billing-project.ts';
import { proveFlows } from '../helpers/faults/prove-flows.ts';
import { useProject } from '../helpers/project/use-project.ts';

// A call that hangs ends as one whose connection closes: after the timeout, for one call of each flow.
proveFlows(
  useBillingProject(useProject({ findings: 'compared elsewhere' })),
  ({ fault, isFirst }) => !fault.endsWith('hangs') || isFirst && fault === 'does it and hangs',
);
