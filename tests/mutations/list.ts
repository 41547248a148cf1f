import { accessRules } from './access-rules.ts';
import { eventRules } from './event-rules.ts';
import { functionRules } from './function-rules.ts';
import type { Mutation } from './mutation.ts';
import { upkeepRules } from './upkeep-rules.ts';

/** At least one wrong version of each rule of supabase/README.md and of each row of the contract. */
export const mutations: readonly Mutation[] = [...accessRules, ...eventRules, ...upkeepRules, ...functionRules];
