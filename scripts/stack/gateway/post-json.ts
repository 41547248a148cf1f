/**
 * Posts to a control of the gateway simulator. @returns the body of the answer
 * @throws Error when the simulator refuses
 */
export async function postJson(url: string, body: unknown) {
  const response = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`the gateway simulator answered ${response.status}: ${await response.text()}`);
  return await response.json();
}
