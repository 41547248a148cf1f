/**
 * One part of the local stack. `start` returns when the part has been set going, `ready` when it answers, and `stop`
 * when nothing of it is left. `stop` may be called at any time, more than once, and before `start`.
 */
export type Service = {
  readonly name: string;
  start(): Promise<void>;
  ready(): Promise<void>;
  stop(): Promise<void>;
};
