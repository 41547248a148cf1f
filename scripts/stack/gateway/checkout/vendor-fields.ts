/** What a checkout hands to the app's page after a payment. */
type Signed = { gateway_payment_id: string; gateway_signature: string | null };

/** The same under the vendor's names: `gateway_payment_id` is `razorpay_payment_id`. */
export function vendorFields(signed: Signed): Record<string, string | null> {
  return Object.fromEntries(
    Object.entries(signed).map(([name, value]) => [name.replace(/^gateway_/, 'razorpay_'), value]),
  );
}
