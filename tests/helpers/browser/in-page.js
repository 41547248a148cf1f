// Functions for `evaluate`, which run in the page. They are JavaScript, since the tests are checked without types of the
// DOM. None may use another one, because each is sent to the page alone.

/** The text of an element; empty when there is none. */
export function textOf(selector) {
  return document.querySelector(selector)?.textContent ?? '';
}

/** The name of the element that has the focus: its label, or its text. */
export function focusedName() {
  return document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent;
}

/** A computed property of an element. */
export function styleOf(selector, property) {
  return getComputedStyle(document.querySelector(selector)).getPropertyValue(property);
}

/** Whether the page is wider than its window. */
export function scrollsSideways() {
  return document.documentElement.scrollWidth > innerWidth;
}

/** What axe, which was loaded before, finds in the document: the rule and the elements. */
export async function axeProblems() {
  const { violations } = await globalThis.axe.run();
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}

/** The heights of the visible buttons, in CSS pixels. */
export function buttonHeights() {
  return [...document.querySelectorAll('button')].filter((one) => one.checkVisibility()).map((one) => one.offsetHeight);
}

/** The texts of the buttons that can be pressed. */
export function enabledButtons() {
  const all = [...document.querySelectorAll('button:not([aria-disabled="true"], :disabled)')];
  return all.map(({ textContent }) => textContent);
}

/** Sends a request as the page does. @returns the status and the text, or the name of the error */
export async function send(url, init) {
  try {
    const answer = await fetch(url, init);
    return [answer.status, await answer.text()];
  } catch (error) {
    return [error.name];
  }
}
