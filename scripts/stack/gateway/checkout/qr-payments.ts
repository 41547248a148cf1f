/** Payments whose QR code is shown, and which a phone has not paid yet. */
export type QrPayments = {
  /** Pays after some milliseconds, unless `payNow` comes first. */
  payLater(paymentId: string, ms: number): void;
  /** Pays now; does nothing for a payment that does not wait. */
  payNow(paymentId: string): void;
  isWaiting(paymentId: string): boolean;
  /** Forgets all that wait. */
  stop(): void;
};

/** @param capture pays one of them */
export function createQrPayments(capture: (paymentId: string) => void): QrPayments {
  const timers = new Map<string, ReturnType<typeof setTimeout>>();
  const payNow = (paymentId: string) => {
    const timer = timers.get(paymentId);
    if (timer === undefined) return;
    clearTimeout(timer);
    timers.delete(paymentId);
    capture(paymentId);
  };
  return {
    payLater: (paymentId, ms) => void timers.set(paymentId, setTimeout(() => payNow(paymentId), ms)),
    payNow,
    isWaiting: (paymentId) => timers.has(paymentId),
    stop() {
      timers.forEach((timer) => clearTimeout(timer));
      timers.clear();
    },
  };
}
