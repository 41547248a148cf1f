const longest = 200;

/**
 * The gateway refused what the service asked it to make: wrong settings or terms, not an outage. The message is for the
 * log: it names the call and the gateway's reason, without addresses, telephone numbers, ids and keys.
 */
export class GatewayRefusal extends Error {
  constructor(call: string, reason: string) {
    super(`the gateway refuses ${call}: ${reason}`);
    this.name = 'GatewayRefusal';
  }
}

/** The gateway's description without what a log must not have. @param secrets the key's id and secret */
export function withoutPersonalData(description: string, secrets: readonly string[]): string {
  return secrets.reduce((text, secret) => text.replaceAll(secret, '…'), description)
    .replace(/https?:\/\/\S+|\S+@\S+|\+?\d[\d -]{8,}\d|\b[a-z]+_\w{14}\b/gi, '…')
    .replace(/\p{Cc}+/gu, ' ')
    .slice(0, longest);
}
