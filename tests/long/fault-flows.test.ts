import { useBillingProject } from '../helpers/faults/billing-project.ts';
import { proveFlows } from '../helpers/faults/prove-flows.ts';
import { useProject } from '../helpers/project/use-project.ts';

proveFlows(useBillingProject(useProject({ findings: 'compared elsewhere' })), () => true);
