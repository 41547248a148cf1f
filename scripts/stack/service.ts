/**
 * One service of the local stack. `start` resolves when the service is launched, `ready` when it answers, and `stop`
 * when all of it has ended. `stop` may be called at any time, repeatedly, and before `start`.
 */
export type Service = {
  readonly name: string;
  start(): Promise<void>;
  ready(): Promise<void>;
  stop(): Promise<void>;
};
