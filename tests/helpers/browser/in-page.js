// Functions for `evaluate`, which run in the page. They are JavaScript, since the tests are checked without types of the
// DOM. None may use another one, because each is sent to the page alone.

/** The text of an element; empty when there is none. */
export function textOf(selector) {
  return document.querySelector(selector)?.textContent ?? '';
}

/** Scrolls to an element, away from what stays at the top of the window. @returns its text */
export function scrollTo(one) {
  one.scrollIntoView({ block: 'center', behavior: 'instant' });
  return one.textContent ?? '';
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

/** The texts of boxes that cut off a part of what is in them. */
export function cutTexts() {
  const boxes = [...document.querySelectorAll('main *')].filter((one) => getComputedStyle(one).overflowX === 'hidden');
  // A text for screen readers alone has one pixel.
  return boxes.filter((one) => one.clientWidth > 1 && one.scrollWidth > one.clientWidth).map((one) => one.textContent);
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

/**
 * The visible controls that a person can't reach without a sideways scroll: cut off by a box around them, outside of the
 * window, or behind something else.
 */
export function unreachableControls() {
  const shownPart = document.querySelector('dialog[open]') ?? document;
  const controls = [...shownPart.querySelectorAll('a[href], button, input, select, textarea, summary')];
  const shown = controls.filter((one) => one.checkVisibility() && !one.closest('.skip, [inert]'));
  return shown.filter((one) => {
    one.scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' });
    const box = one.getBoundingClientRect();
    for (let around = one.parentElement; around; around = around.parentElement) {
      if (around.scrollLeft > 0 && getComputedStyle(around).overflowX === 'hidden') return true;
      const [outer, { overflowX }] = [around.getBoundingClientRect(), getComputedStyle(around)];
      if (overflowX !== 'visible' && (box.left < outer.left - 1 || box.right > outer.right + 1)) return true;
    }
    if (box.left < -1 || box.right > innerWidth + 1 || scrollX > 0) return true;
    const [line] = one.getClientRects(); // a link may have several
    const hit = document.elementFromPoint(line.left + line.width / 2, line.top + line.height / 2);
    return hit !== one && !one.contains(hit) && !hit?.closest('label')?.contains(one);
  }).map((one) => one.outerHTML.slice(0, 120));
}
