/** Answers every user of this machine: to look up who connects costs more than most answers of the simulator. */
export const anyUser = () => Promise.resolve(true);
